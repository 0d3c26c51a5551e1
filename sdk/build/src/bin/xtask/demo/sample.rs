//! The sample stores of the repository, and a place apart to read them from.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// A folder that only this user can reach, gone at the end.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Result<Self, Failure> {
        let path = env::temp_dir().join(format!("sepia-demo-{}", process::id()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| Failure::new(format!("no temporary folder can be made ({error}): set TMPDIR to one")))?;
        Ok(Self(path))
    }

    /// A folder in it.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        let made = DirBuilder::new().mode(0o700).recursive(true).create(&path);
        made.map_err(|error| Failure::new(format!("the temporary folder can't be used ({error}): set TMPDIR")))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the system's temporary folder is the system's to clear.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The sample store of each driver that has one.
pub(super) struct Samples {
    root: PathBuf,
    /// Variable that points the driver there, and the store relative to the root.
    stores: Vec<(String, String)>,
}

impl Samples {
    /// Named by `tests/data/<driver>/demo.env`: lines of a variable, `=`, and a place in that
    /// folder.
    pub(super) fn find(root: &Path) -> Result<Self, Failure> {
        let mut stores = Vec::new();
        for driver in sepia_build::drivers(root)? {
            let folder = format!("tests/data/{driver}");
            let Ok(named) = fs::read_to_string(root.join(&folder).join("demo.env")) else { continue };
            for (name, place) in named.lines().filter_map(|line| line.split_once('=')) {
                stores.push((name.trim().to_owned(), format!("{folder}/{}", place.trim())));
            }
        }
        if stores.is_empty() {
            return Err(Failure::new(
                "there are no sample stores in tests/data: this checkout is not whole, clone again",
            ));
        }
        Ok(Self { root: root.to_owned(), stores })
    }

    /// What to type to get the same from a shell.
    pub(super) fn by_hand(&self) -> String {
        let settings: Vec<String> = self.stores.iter().map(|(name, place)| format!("{name}={place}")).collect();
        format!("{} sepia serve", settings.join(" "))
    }

    /// A command that sees these stores and nothing else of the person's.
    pub(super) fn command(&self, program: &Path, scratch: &Scratch) -> Result<Command, Failure> {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&self.root);
        for name in ["TMPDIR", "LANG", "RUST_BACKTRACE"] {
            if let Some(value) = env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("PATH", "/usr/bin:/bin").env("HOME", scratch.folder("home")?);
        command.env("SEPIA_HOME", scratch.folder("sepia")?);
        for (name, place) in &self.stores {
            command.env(name, self.root.join(place));
        }
        Ok(command)
    }

    /// A value that changes when any file of a store does, in name, content or length.
    pub(super) fn fingerprint(&self) -> Result<u64, Failure> {
        let mut files = BTreeMap::new();
        for (_, place) in &self.stores {
            let place_in_root = self.root.join(place);
            // Beside a database lies its log, and what a reader might leave.
            let folder = if place_in_root.is_file() { place_in_root.parent() } else { None };
            collect(folder.unwrap_or(&place_in_root), &mut files)
                .map_err(|error| Failure::new(format!("{place} can't be read ({error}): check its permissions")))?;
        }
        let mut hasher = DefaultHasher::new();
        for (path, content) in files {
            hasher.write(path.as_os_str().as_encoded_bytes());
            hasher.write_usize(content.len());
            hasher.write(&content);
        }
        Ok(hasher.finish())
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else {
            files.insert(entry.path(), fs::read(entry.path())?);
        }
    }
    Ok(())
}
