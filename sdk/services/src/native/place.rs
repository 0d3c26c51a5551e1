//! Where a declared store is on this machine.

use sepia_ir::{StoreKind, StoreRequest};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Where a store is, and why there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, as the person knows it: links are not resolved.
    pub path: PathBuf,
    /// The environment variable that moved it, if one did.
    pub moved_by: Option<String>,
}

/// Why a declared store has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The default is below the home directory and there is none.
    #[error("store `{0}` is below the home directory, and HOME is not set")]
    NoHome(String),
    /// A variable or a default that is not an absolute path.
    #[error("store `{store}` would be at `{place}`, which is no absolute path; set {hint} to one")]
    NotAbsolute {
        /// Name of the store.
        store: String,
        /// What was found.
        place: String,
        /// What to set.
        hint: String,
    },
}

/// Resolves a declared store: the first variable that is set and not empty, else the default
/// with `~/` and `$XDG_…/` replaced. `NAME/below` is a folder below what the variable names, and
/// `NAME/..` the directory that its place is in. A relative path in a variable counts from the
/// current directory. Nothing is opened.
pub fn place_of(request: &StoreRequest, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Place, PlaceError> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let moved = request.env.iter().find_map(|entry| {
        let place = |name: &str| Some(PathBuf::from(set(name)?));
        Some(match entry.split_once('/') {
            None => (entry.clone(), place(entry)?),
            Some((name, "..")) => {
                let beside = std::path::absolute(place(name)?).ok()?;
                // The root lies in no directory.
                (entry.clone(), tidy(&beside).parent().map_or(beside, Path::to_owned))
            }
            Some((name, below)) => (name.to_owned(), place(name)?.join(below)),
        })
    });
    let (path, moved_by) = match moved {
        Some((name, path)) => (std::path::absolute(&path).unwrap_or(path), Some(name)),
        None => (default_place(request, &set)?, None),
    };
    if !path.is_absolute() {
        return Err(PlaceError::NotAbsolute {
            store: request.name.clone(),
            place: path.display().to_string(),
            hint: request.env.first().cloned().unwrap_or_else(|| "its variable".into()),
        });
    }
    Ok(Place { path: tidy(&path), moved_by })
}

fn default_place(request: &StoreRequest, set: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, PlaceError> {
    let home = || set("HOME").map(PathBuf::from).ok_or_else(|| PlaceError::NoHome(request.name.clone()));
    let text = request.default_path.as_str();
    if text == "~" {
        return home();
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return Ok(home()?.join(rest));
    }
    let Some((name, rest)) = text.strip_prefix('$').and_then(|t| t.split_once('/')) else {
        return Ok(PathBuf::from(text));
    };
    // A relative XDG variable is to be ignored, says the base directory specification.
    if let Some(base) = set(name).map(PathBuf::from).filter(|base| base.is_absolute()) {
        return Ok(base.join(rest));
    }
    let standard = match name {
        "XDG_DATA_HOME" => ".local/share",
        "XDG_CONFIG_HOME" => ".config",
        "XDG_STATE_HOME" => ".local/state",
        "XDG_CACHE_HOME" => ".cache",
        _ => return Ok(PathBuf::from(text)),
    };
    Ok(home()?.join(standard).join(rest))
}

/// Drops `.` and trailing slashes; `..` stays, for only the file system knows what it means.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// Whether a store of this kind can be shown as a directory.
pub(super) fn is_directory(kind: StoreKind) -> bool {
    matches!(kind, StoreKind::Directory)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]
    use super::{Place, PlaceError, place_of};
    use sepia_ir::{StoreAccess, StoreKind, StoreRequest};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    fn place(default_path: &str, environment: &[(&str, &str)]) -> Result<Place, PlaceError> {
        let request = StoreRequest {
            name: "sessions".into(),
            env: vec!["FIRST".into(), "SECOND".into()],
            default_path: default_path.into(),
            kind: StoreKind::Directory,
            access: StoreAccess::Read,
            follow_links_in: Vec::new(),
        };
        let get =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        place_of(&request, &get)
    }

    fn path(default_path: &str, environment: &[(&str, &str)]) -> PathBuf {
        place(default_path, environment).unwrap().path
    }

    #[test]
    fn the_first_variable_that_is_set_and_not_empty_wins() {
        let moved = |environment: &[(&str, &str)]| {
            let place = place("~/x", environment).unwrap();
            (place.path.display().to_string(), place.moved_by)
        };
        let home = ("HOME", "/home/me");
        assert_eq!(moved(&[home]), ("/home/me/x".into(), None));
        assert_eq!(moved(&[home, ("FIRST", "/a"), ("SECOND", "/b")]), ("/a".into(), Some("FIRST".into())));
        assert_eq!(moved(&[home, ("FIRST", ""), ("SECOND", "/b")]), ("/b".into(), Some("SECOND".into())));
        assert_eq!(moved(&[("FIRST", "/a/./b//c/")]), ("/a/b/c".into(), Some("FIRST".into())));
    }

    #[test]
    fn a_variable_can_stand_for_the_directory_that_its_place_is_in() {
        let beside = |value: &str| {
            let request = StoreRequest {
                name: "beside".into(),
                env: vec!["FILE/..".into()],
                default_path: "~/x".into(),
                kind: StoreKind::Directory,
                access: StoreAccess::Read,
                follow_links_in: Vec::new(),
            };
            let environment = [("FILE", value), ("HOME", "/home/me")];
            place_of(&request, &|name| environment.iter().find(|(known, _)| *known == name).map(|(_, v)| v.into()))
                .unwrap()
        };
        let moved = |path: &str| Place { path: path.into(), moved_by: Some("FILE/..".into()) };
        assert_eq!(beside("/a/b/file.db"), moved("/a/b"));
        assert_eq!(beside("/a/b/./file.db/"), moved("/a/b"));
        assert_eq!(beside("/file.db"), moved("/"));
        assert_eq!(beside("file.db").path, std::env::current_dir().unwrap());
        assert_eq!(beside(""), Place { path: "/home/me/x".into(), moved_by: None });
    }

    #[test]
    fn a_variable_may_name_a_folder_that_holds_the_store() {
        let request = StoreRequest {
            name: "sessions".into(),
            env: vec!["FIRST".into(), "HOLDER/data".into()],
            default_path: "/none".into(),
            kind: StoreKind::Directory,
            access: StoreAccess::Read,
            follow_links_in: Vec::new(),
        };
        let place = |set: &[&str]| {
            let get = |name: &str| set.contains(&name).then(|| OsString::from(format!("/{name}")));
            let place = place_of(&request, &get).unwrap();
            (place.path.display().to_string(), place.moved_by)
        };
        assert_eq!(place(&["HOLDER"]), ("/HOLDER/data".into(), Some("HOLDER".into())));
        assert_eq!(place(&["HOLDER", "FIRST"]), ("/FIRST".into(), Some("FIRST".into())));
        assert_eq!(place(&[]), ("/none".into(), None));
    }

    #[test]
    fn a_relative_variable_counts_from_the_current_directory() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(path("~/x", &[("FIRST", "sub/store")]), here.join("sub/store"));
    }

    #[test]
    fn defaults_are_below_home_or_the_base_directories() {
        let home = ("HOME", "/home/me");
        assert_eq!(path("~", &[home]), Path::new("/home/me"));
        assert_eq!(path("/opt/x", &[]), Path::new("/opt/x"));
        assert_eq!(path("$XDG_DATA_HOME/x", &[home]), Path::new("/home/me/.local/share/x"));
        assert_eq!(path("$XDG_CONFIG_HOME/x", &[home]), Path::new("/home/me/.config/x"));
        assert_eq!(path("$XDG_STATE_HOME/x", &[home]), Path::new("/home/me/.local/state/x"));
        assert_eq!(path("$XDG_CACHE_HOME/x", &[home]), Path::new("/home/me/.cache/x"));
        assert_eq!(path("$XDG_DATA_HOME/x", &[home, ("XDG_DATA_HOME", "/data")]), Path::new("/data/x"));
        assert_eq!(path("$XDG_DATA_HOME/x", &[home, ("XDG_DATA_HOME", "rel")]), Path::new("/home/me/.local/share/x"));
    }

    #[test]
    fn what_has_no_place_is_an_error_that_says_what_to_set() {
        assert_eq!(place("~/x", &[]), Err(PlaceError::NoHome("sessions".into())));
        assert_eq!(place("~/x", &[("HOME", "")]), Err(PlaceError::NoHome("sessions".into())));
        assert_eq!(place("$XDG_DATA_HOME/x", &[]), Err(PlaceError::NoHome("sessions".into())));
        for default in ["x/y", "$OTHER/x", "", "~other/x"] {
            let error = place(default, &[("HOME", "/home/me")]).unwrap_err();
            assert!(matches!(&error, PlaceError::NotAbsolute { hint, .. } if hint == "FIRST"), "{default}: {error}");
        }
    }
}
