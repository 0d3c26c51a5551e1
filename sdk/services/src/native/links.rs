//! Links of a store that the host follows by itself: at the places that the driver named, to
//! directories, each directory once.

use super::error::ServiceError;
use super::path::{checked, joined};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Links followed of one store at most: each holds a file descriptor.
const MAX_LINKS: usize = 256;

/// A link at a place where the store allows links, followed once by the host.
#[derive(Debug)]
pub struct Link {
    /// Relative to the store.
    pub path: String,
    /// Where it leads, canonical.
    pub target: PathBuf,
    /// Its target, opened.
    pub dir: Dir,
}

/// A link at a place where the store allows links that is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLink {
    /// Relative to the store; bytes that are no UTF-8 are replaced.
    pub path: String,
    /// Why it is not followed.
    pub why: SkipReason,
}

/// Why a link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its target does not exist, or it leads to itself.
    Dangling,
    /// Its target is the store, or inside it: it is seen there.
    Inside,
    /// Its target holds the store.
    Around,
    /// An earlier link leads to the same directory.
    Duplicate,
    /// Its target is a place that is never shown.
    Refused,
    /// Its target, or its name, can't be read.
    Unreadable,
    /// The store has more links than are followed.
    TooMany,
}

impl SkipReason {
    /// For people: why something is missing. `None` when nothing is, or when there is nothing
    /// to miss.
    pub(super) fn loss(self) -> Option<&'static str> {
        match self {
            Self::Dangling | Self::Inside | Self::Duplicate => None,
            Self::Around => Some("the link leads to a directory that holds the store itself and is not followed"),
            Self::Refused => Some("the link leads to a place that is never granted and is not followed"),
            Self::Unreadable => Some("the target of the link can't be read"),
            Self::TooMany => Some("the store has more linked directories than are followed (256)"),
        }
    }
}

/// Links to follow, and those not to.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub(super) links: Vec<Link>,
    pub(super) skipped: Vec<SkippedLink>,
}

/// Looks for links in the directories `places` of a store whose canonical path is `home`.
pub(super) fn follow(
    root: &Dir,
    home: &Path,
    places: &[String],
    refuse: &dyn Fn(&Path) -> bool,
) -> Result<Followed, ServiceError> {
    let mut names = Vec::new();
    let mut followed = Followed::default();
    for place in places {
        if !place.is_empty() {
            checked(place)?;
        }
        collect(root, place, &mut names, &mut followed.skipped)?;
    }
    names.sort_unstable();
    names.dedup();
    for path in names {
        match target(home, &path, &followed.links, refuse) {
            Ok((target, dir)) => followed.links.push(Link { path, target, dir }),
            Err(Some(why)) => followed.skipped.push(SkippedLink { path, why }),
            Err(None) => {}
        }
    }
    Ok(followed)
}

/// Names of all links of a directory. A directory that is not there has none.
fn collect(
    root: &Dir,
    place: &str,
    names: &mut Vec<String>,
    skipped: &mut Vec<SkippedLink>,
) -> Result<(), ServiceError> {
    let failed = |source| ServiceError::Io { path: place.to_owned(), source };
    let entries = match if place.is_empty() { root.entries() } else { root.read_dir(place) } {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        // What can't be listed is reported by the walk that wants to list it.
        Err(e) if e.kind() == ErrorKind::PermissionDenied => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        let name = entry.file_name();
        let path = joined(place, &name.to_string_lossy());
        if name.to_str().is_some() {
            names.push(path);
        } else {
            skipped.push(SkippedLink { path, why: SkipReason::Unreadable });
        }
    }
    Ok(())
}

/// Opens the directory that a link leads to; `Err(None)`: it leads to something else.
fn target(
    home: &Path,
    path: &str,
    earlier: &[Link],
    refuse: &dyn Fn(&Path) -> bool,
) -> Result<(PathBuf, Dir), Option<SkipReason>> {
    let target = match home.join(path).canonicalize() {
        Ok(target) => target,
        Err(e) if e.kind() == ErrorKind::PermissionDenied => return Err(Some(SkipReason::Unreadable)),
        Err(_) => return Err(Some(SkipReason::Dangling)),
    };
    match target.metadata() {
        Ok(about) if !about.is_dir() => return Err(None),
        Ok(_) => {}
        Err(_) => return Err(Some(SkipReason::Unreadable)),
    }
    let why = if target.starts_with(home) {
        SkipReason::Inside
    } else if home.starts_with(&target) {
        SkipReason::Around
    } else if earlier.iter().any(|link| target.starts_with(&link.target)) {
        SkipReason::Duplicate
    } else if refuse(&target) {
        SkipReason::Refused
    } else if earlier.len() >= MAX_LINKS {
        SkipReason::TooMany
    } else {
        let dir = Dir::open_ambient_dir(&target, ambient_authority()).map_err(|_| Some(SkipReason::Unreadable))?;
        return Ok((target, dir));
    };
    Err(Some(why))
}
