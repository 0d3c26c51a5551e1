//! Where the stores of a driver are on this machine, and which places are never granted.

use crate::home::Home;
use sepia_ir::{Manifest, StoreRequest};
use sepia_services::{PlaceError, place_of};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A declared store on this machine.
#[derive(Debug, Clone)]
pub struct StorePlace {
    /// What the driver asked for.
    pub request: StoreRequest,
    /// Where it is; the variable that moved it, if one did.
    pub place: Result<sepia_services::Place, PlaceError>,
    /// Whether anything is there.
    pub exists: bool,
}

/// Finds the places of all stores of a manifest.
pub(super) fn resolve(manifest: &Manifest, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<StorePlace> {
    let resolve_one = |request: &StoreRequest| {
        let place = place_of(request, env);
        let exists = place.as_ref().is_ok_and(|place| place.path.exists());
        StorePlace { request: request.clone(), place, exists }
    };
    manifest.stores.iter().map(resolve_one).collect()
}

/// Says of a directory that it may not be shown to a driver.
pub type Refusal = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// What no driver is ever shown: the root, the home directory and what holds it, keys, our
/// own files, and the stores of other drivers. All canonical, as far as they exist.
#[derive(Debug, Clone)]
pub(super) struct Forbidden {
    /// Neither itself nor anything that holds it.
    homes: Vec<PathBuf>,
    /// Neither itself, nor anything that holds it, nor anything in it.
    closed: Vec<PathBuf>,
}

impl Forbidden {
    /// For a driver; `others` are the places of the stores of all other drivers.
    pub(super) fn new(
        home: &Home,
        env: &dyn Fn(&str) -> Option<OsString>,
        others: impl Iterator<Item = PathBuf>,
    ) -> Self {
        let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let user_home = env("HOME").filter(|h| !h.is_empty()).map(PathBuf::from);
        let mut closed = vec![canonical(home.root().to_owned())];
        closed.extend(user_home.iter().flat_map(|h| [".ssh", ".gnupg"].map(|name| canonical(h.join(name)))));
        closed.extend(others.map(canonical));
        Self { homes: user_home.into_iter().map(canonical).collect(), closed }
    }

    /// Whether this place, canonical, is forbidden.
    pub(super) fn covers(&self, place: &Path) -> bool {
        place.parent().is_none()
            || self.homes.iter().any(|home| home.starts_with(place))
            || self.closed.iter().any(|closed| closed.starts_with(place) || place.starts_with(closed))
    }

    /// The same as a function, for those who open links.
    pub(super) fn into_refusal(self) -> Refusal {
        Arc::new(move |place| self.covers(place))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_never_granted() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().canonicalize().unwrap().join("user");
        for name in [".ssh", ".other/projects", ".mine"] {
            std::fs::create_dir_all(user.join(name)).unwrap();
        }
        let env = |name: &str| (name == "HOME").then(|| user.clone().into_os_string());
        let home =
            Home::from_env(&|name| (name == "SEPIA_HOME").then(|| user.join(".sepia").display().to_string())).unwrap();
        let forbidden = Forbidden::new(&home, &env, std::iter::once(user.join(".other")));
        for place in ["", ".ssh", ".ssh/keys", ".sepia/cache", ".other", ".other/projects"] {
            assert!(forbidden.covers(&user.join(place)), "{place:?}");
        }
        assert!(forbidden.covers(user.parent().unwrap()));
        assert!(forbidden.covers(Path::new("/")));
        assert!(!forbidden.covers(&user.join(".mine")));
        assert!(!forbidden.covers(&user.join(".otherwise")));
    }
}
