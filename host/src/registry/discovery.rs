//! Where drivers are looked for, in which order.
//!
//! `$SEPIA_DRIVER_DIR`, `~/.local/share/sepia/drivers`, `/usr/local/lib/sepia/drivers`, the
//! ones built in, then `sepia-driver-*` programs on `PATH`. Of one folder, components come
//! before libraries and those before programs, each sorted by name; libraries are looked for
//! only with `SEPIA_ALLOW_NATIVE=1`. A program name that was found on `PATH` before is found
//! once.

use crate::home::Home;
use crate::loader::{Form, Origin};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const PROGRAM_PREFIX: &str = "sepia-driver-";
const LIBRARY_PREFIX: &str = "libsepia_driver_";
const SYSTEM_FOLDER: &str = "/usr/local/lib/sepia/drivers";

/// The places to look in.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Folders that hold components and programs, before the ones built in.
    pub folders: Vec<PathBuf>,
    /// Folders that hold programs among others, after them.
    pub path: Vec<PathBuf>,
    /// Whether native libraries are looked for.
    pub libraries: bool,
}

/// Something that looks like a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Where.
    pub origin: Origin,
    /// As what it would be brought in.
    pub form: Form,
    /// Name of the component, for those built in.
    pub embedded: Option<&'static str>,
}

impl Sources {
    /// The places that the environment names.
    pub fn from_env(home: &Home, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let mut folders: Vec<PathBuf> = set("SEPIA_DRIVER_DIR").map(PathBuf::from).into_iter().collect();
        folders.extend(set("HOME").map(|h| PathBuf::from(h).join(".local/share/sepia/drivers")));
        folders.push(home.drivers());
        folders.push(PathBuf::from(SYSTEM_FOLDER));
        let mut met = HashSet::new();
        folders.retain(|folder| met.insert(folder.clone()));
        let path = set("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        Self { folders, path, libraries: set("SEPIA_ALLOW_NATIVE").is_some_and(|value| value == "1") }
    }

    /// All candidates, in order of precedence. A folder that can't be read holds none; one
    /// that exists and can't be read is told in the log.
    pub fn candidates(&self, embedded: &[&'static str]) -> Vec<Candidate> {
        let mut found = Vec::new();
        for folder in &self.folders {
            let names = names_in(folder, |_| true);
            let of = |form, take: &dyn Fn(&OsStr) -> bool| {
                let mut paths: Vec<_> = names.iter().filter(|n| take(n)).map(|n| folder.join(n)).collect();
                paths.sort();
                paths.into_iter().map(move |path| Candidate { origin: Origin::File(path), form, embedded: None })
            };
            found.extend(of(Form::Component, &|name| Path::new(name).extension() == Some(OsStr::new("wasm"))));
            if self.libraries {
                found.extend(of(Form::Library, &is_library));
            }
            found.extend(of(Form::Process, &|name| is_program(folder, name)));
        }
        found.extend(embedded.iter().map(|name| Candidate {
            origin: Origin::Embedded,
            form: Form::Component,
            embedded: Some(name),
        }));
        let (mut seen, mut met) = (HashSet::new(), HashSet::new());
        for folder in &self.path {
            // `PATH` names many a folder twice, `/bin` and `/usr/bin` mostly, and they have thousands of names.
            if fs::metadata(folder).is_ok_and(|meta| !seen.insert((meta.dev(), meta.ino()))) {
                continue;
            }
            let mut names = names_in(folder, has_name_of_program);
            names.sort();
            names.retain(|name| is_program(folder, name) && met.insert(name.clone()));
            found.extend(names.into_iter().map(|name| Candidate {
                origin: Origin::File(folder.join(name)),
                form: Form::Process,
                embedded: None,
            }));
        }
        found
    }
}

fn names_in(folder: &Path, take: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
            names.filter(|name| take(name)).collect()
        }
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                tracing::debug!("{} can't be looked into for drivers: {error}", folder.display());
            }
            Vec::new()
        }
    }
}

/// Whether it has the name of a driver library.
fn is_library(name: &OsStr) -> bool {
    let ending = Path::new(name).extension();
    name.as_encoded_bytes().starts_with(LIBRARY_PREFIX.as_bytes())
        && ["so", "dylib"].iter().any(|known| ending == Some(OsStr::new(known)))
}

fn has_name_of_program(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PROGRAM_PREFIX.as_bytes())
}

/// Whether it is an executable regular file with the name of a driver program.
fn is_program(folder: &Path, name: &OsStr) -> bool {
    has_name_of_program(name)
        && fs::metadata(folder.join(name)).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn touch(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn components_come_before_programs_and_folders_before_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (own, path_a, path_b) = (folder.path().join("own"), folder.path().join("a"), folder.path().join("b"));
        touch(&own.join("sepia-driver-x"), 0o755);
        touch(&own.join("z.wasm"), 0o644);
        touch(&own.join("a.wasm"), 0o644);
        touch(&own.join("notes.txt"), 0o755);
        touch(&own.join("libsepia_driver_x.so"), 0o644);
        touch(&own.join("sepia-driver-plain"), 0o644);
        touch(&path_a.join("sepia-driver-y"), 0o755);
        touch(&path_b.join("sepia-driver-y"), 0o755);
        let folders = vec![own.clone(), folder.path().join("absent")];
        let mut sources = Sources { folders, path: vec![path_a.clone(), path_b], libraries: false };
        let found = |sources: &Sources| -> Vec<_> {
            sources.candidates(&["built-in"]).into_iter().map(|c| (c.origin, c.form)).collect()
        };
        let file = |path: PathBuf, form| (Origin::File(path), form);
        assert_eq!(
            found(&sources),
            [
                file(own.join("a.wasm"), Form::Component),
                file(own.join("z.wasm"), Form::Component),
                file(own.join("sepia-driver-x"), Form::Process),
                (Origin::Embedded, Form::Component),
                file(path_a.join("sepia-driver-y"), Form::Process),
            ]
        );
        sources.libraries = true;
        assert_eq!(found(&sources)[2], file(own.join("libsepia_driver_x.so"), Form::Library));
    }

    #[test]
    fn a_folder_that_the_path_names_twice_is_looked_into_by_its_first_name() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("usr-bin"), folder.path().join("bin"));
        touch(&real.join("sepia-driver-y"), 0o755);
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let sources = Sources { folders: Vec::new(), path: vec![link.clone(), real, link.clone()], libraries: false };
        let found: Vec<_> = sources.candidates(&[]).into_iter().map(|candidate| candidate.origin).collect();
        assert_eq!(found, [Origin::File(link.join("sepia-driver-y"))]);
    }
}
