//! Paths of the working directory of a session, and nothing outside of it.
//!
//! All that is done is done beneath a handle on the directory: a link that leads out of it, or that
//! somebody puts in its way meanwhile, is refused by the system.

use super::{FileAction, invalid};
use crate::plane::PlaneError;
use crate::text::clean_line;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

/// Largest file that is looked at, bytes.
const LARGEST: u64 = 256 << 20;

/// A working directory.
#[derive(Debug)]
pub(super) struct Inside {
    root: Dir,
    place: PathBuf,
}

/// What became of a file.
pub(super) struct Written {
    pub(super) place: String,
    pub(super) action: FileAction,
    pub(super) bytes: Option<u64>,
}

impl Inside {
    /// Opens a working directory.
    pub(super) fn open(cwd: &str) -> Result<Self, PlaneError> {
        if !cwd.starts_with('/') {
            return Err(invalid("the session does not say where it works, so its files can't be found"));
        }
        let root = Dir::open_ambient_dir(cwd, ambient_authority()).map_err(|e| {
            let message = format!("the working directory {} can't be opened", clean_line(cwd, 200));
            invalid(message).because(e.to_string())
        })?;
        Ok(Self { root, place: PathBuf::from(cwd) })
    }

    /// Its path.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// A path as it is below the directory. `..` is taken as it is written.
    pub(super) fn path_of(&self, path: &str) -> Result<String, PlaneError> {
        let outside = || {
            invalid(format!(
                "`{}` is no file inside of the working directory {}",
                clean_line(path, 200),
                clean_line(&self.place.to_string_lossy(), 200)
            ))
        };
        if path.trim().is_empty() || path.contains('\0') {
            return Err(outside());
        }
        let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
        let whole = self.place.join(path);
        for part in whole.components() {
            match part {
                Component::Normal(name) => parts.push(name),
                Component::ParentDir => drop(parts.pop()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        let whole: PathBuf = std::iter::once(std::ffi::OsStr::new("/")).chain(parts).collect();
        let rest = whole.strip_prefix(&self.place).ok().and_then(Path::to_str).filter(|rest| !rest.is_empty());
        rest.map(str::to_owned).ok_or_else(outside)
    }

    /// What a file is now; none: it does not exist.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.root.symlink_metadata(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e.to_string()),
            Ok(about) if about.is_symlink() => return Err("it is a link, and links are not followed".to_owned()),
            Ok(about) if !about.is_file() => return Err("it is no regular file".to_owned()),
            Ok(about) if about.len() > LARGEST => return Err("it is too large".to_owned()),
            Ok(_) => {}
        }
        self.root.read(path).map(Some).map_err(|e| e.to_string())
    }

    /// Makes a file what it shall be: written beside and renamed, or taken away.
    pub(super) fn write(&self, path: &str, content: Option<&[u8]>, dry_run: bool) -> Result<Written, String> {
        let now = self.read(path)?;
        let place = self.place.join(path).to_string_lossy().into_owned();
        let bytes = content.map(|content| content.len() as u64);
        if now.as_deref() == content {
            return Ok(Written { place, action: FileAction::Unchanged, bytes });
        }
        let action = if content.is_some() { FileAction::Written } else { FileAction::Deleted };
        if !dry_run {
            match content {
                Some(content) => self.put(path, content),
                None => self.root.remove_file(path),
            }
            .map_err(|e| format!("it could not be written: {e}"))?;
        }
        Ok(Written { place, action, bytes })
    }

    fn put(&self, path: &str, content: &[u8]) -> std::io::Result<()> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir = if parent.is_empty() {
            self.root.try_clone()?
        } else {
            self.root.create_dir_all(parent)?;
            self.root.open_dir(parent)?
        };
        let permissions = dir.metadata(name).map(|about| about.permissions()).ok();
        let beside = format!(".sepia-{}.tmp", uuid::Uuid::new_v4().simple());
        let written = || {
            let mut file = dir.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
            file.write_all(content)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.sync_all()?;
            dir.rename(&beside, &dir, name)
        };
        written().inspect_err(|_| {
            // Half a file is not left beside; where it can't be taken away, the failure is the one to tell.
            let _ = dir.remove_file(&beside);
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Inside;
    use std::os::unix::fs::symlink;

    #[test]
    fn paths_stay_inside() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().to_str().unwrap();
        let inside = Inside::open(cwd).unwrap();
        assert_eq!(inside.path_of("a/./b.txt").unwrap(), "a/b.txt");
        assert_eq!(inside.path_of("a/../b.txt").unwrap(), "b.txt");
        assert_eq!(inside.path_of(&format!("{cwd}/x")).unwrap(), "x");
        for path in ["", " ", "..", "../x", "a/../../x", "/etc/passwd", ".", "a\0b"] {
            assert!(inside.path_of(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("cwd");
        std::fs::create_dir(&cwd).unwrap();
        let outside = folder.path().join("outside");
        std::fs::write(&outside, "keep").unwrap();
        symlink(&outside, cwd.join("link")).unwrap();
        symlink(folder.path(), cwd.join("up")).unwrap();
        let inside = Inside::open(cwd.to_str().unwrap()).unwrap();
        assert!(inside.write("link", Some(b"gone"), false).is_err());
        assert!(inside.write("up/outside", Some(b"gone"), false).is_err());
        assert!(inside.write("up/outside", None, false).is_err());
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "keep");
    }
}
