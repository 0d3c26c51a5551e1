//! A machine that is made for one proof: a home directory with the agents' stores, a working
//! directory, and an environment that holds nothing else.
//!
//! The sessions of the sample stores were held in a directory that exists on no machine. Since
//! an agent resumes a session only in the directory that it was held in, the copy of a sample
//! is moved to the machine's own, whose path has the same length: so it can be put in its place
//! inside databases, too.

use crate::Failed;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Where the samples' sessions were held.
const SAMPLE_CWD: &str = "/home/dev/shop";
/// Where the machine's directories are made; with the prefix and three more characters as long
/// as the samples' directory.
const UNDER: &str = "/tmp";
const PREFIX: &str = "sepia-";
const MORE: usize = SAMPLE_CWD.len() - UNDER.len() - 1 - PREFIX.len();

/// The machine; gone when it is dropped, unless it is kept.
pub(crate) struct Machine {
    folder: TempDir,
    cwd: TempDir,
}

impl Machine {
    /// One with an empty home.
    pub(crate) fn empty(folder: &Path) -> Result<Self, Failed> {
        fs::create_dir_all(folder).map_err(|e| format!("{} can't be made: {e}", folder.display()))?;
        let failed = |e| format!("{UNDER} holds no new directory: {e}");
        let cwd = tempfile::Builder::new().prefix(PREFIX).rand_bytes(MORE).tempdir_in(UNDER).map_err(failed)?;
        let machine = Self { folder: TempDir::new_in(folder.canonicalize()?)?, cwd };
        fs::create_dir(machine.home())?;
        fs::create_dir(machine.folder.path().join("tmp"))?;
        Ok(machine)
    }

    /// The home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The directory that sessions are held in.
    pub(crate) fn cwd(&self) -> &Path {
        self.cwd.path()
    }

    /// Sees to it that a command knows this machine and no other.
    pub(crate) fn confine<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
        command
            .env_clear()
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("HOME", self.home())
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("SEPIA_HOME", self.folder.path().join("sepia"))
            .current_dir(self.cwd())
    }

    /// Copies a sample store into the home directory, its sessions moved to this machine.
    pub(crate) fn take(&self, sample: &Path, place: &str) -> Result<(), Failed> {
        let to = self.home().join(place);
        copy(sample, &to, &Moved::to(self)).map_err(|e| format!("{} can't be copied: {e}", sample.display()).into())
    }

    /// Leaves the directories where they are, and says where.
    pub(crate) fn keep(self) -> String {
        let (folder, cwd) = (self.folder.keep(), self.cwd.keep());
        format!("{} and {}", folder.display(), cwd.display())
    }
}

/// Texts that change in a copy.
struct Moved {
    /// Of one length, in every file.
    cwd: (Vec<u8>, Vec<u8>),
    /// Of one length, in names of files and folders.
    folder: (String, String),
    /// In files of text alone.
    home: (Vec<u8>, Vec<u8>),
}

impl Moved {
    fn to(machine: &Machine) -> Self {
        let cwd = machine.cwd().to_string_lossy().into_owned();
        // Agents name a folder after a directory with dashes for what is no letter or digit.
        let dashed = |path: &str| path.trim_start_matches('/').replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        Self {
            folder: (dashed(SAMPLE_CWD), dashed(&cwd)),
            cwd: (SAMPLE_CWD.into(), cwd.into_bytes()),
            home: (b"/home/dev/.".to_vec(), format!("{}/.", machine.home().display()).into_bytes()),
        }
    }

    fn name(&self, name: &str) -> String {
        name.replace(&self.folder.0, &self.folder.1)
    }

    fn content(&self, name: &str, bytes: Vec<u8>) -> Vec<u8> {
        // The pages in a log are checked by sums, which would no longer be right.
        if name.ends_with("-wal") {
            return bytes;
        }
        let bytes = replaced(&bytes, &self.cwd);
        let is_text = Path::new(name).extension().is_some_and(|kind| kind == "json" || kind == "jsonl");
        if is_text { replaced(&bytes, &self.home) } else { bytes }
    }
}

fn replaced(bytes: &[u8], (from, to): &(Vec<u8>, Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from.as_slice()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn copy(from: &Path, to: &Path, moved: &Moved) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let target = to.join(moved.name(&name));
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, moved)?;
        } else {
            fs::write(target, moved.content(&name, fs::read(entry.path())?))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn a_copy_is_moved_to_the_machine_and_the_rest_stays_as_it_is() {
        let folder = TempDir::new().unwrap();
        let sample = folder.path().join("sample");
        fs::create_dir_all(sample.join("-home-dev-shop")).unwrap();
        fs::write(sample.join("-home-dev-shop/a.jsonl"), "at /home/dev/shop, in /home/dev/.x").unwrap();
        fs::write(sample.join("a.db"), b"\0/home/dev/shop\xff/home/dev/.x").unwrap();
        fs::write(sample.join("a.db-wal"), "/home/dev/shop").unwrap();
        let machine = Machine::empty(&folder.path().join("machines")).unwrap();
        machine.take(&sample, ".agent").unwrap();
        let cwd = machine.cwd().to_str().unwrap();
        assert_eq!(cwd.len(), SAMPLE_CWD.len());
        let home = machine.home();
        let read = |name: &str| fs::read(home.join(".agent").join(name)).unwrap();
        let moved = format!("at {cwd}, in {}/.x", home.display());
        assert_eq!(read(&format!("{}/a.jsonl", cwd.replace('/', "-"))), moved.as_bytes());
        assert_eq!(read("a.db"), [b"\0", cwd.as_bytes(), b"\xff/home/dev/.x"].concat());
        assert_eq!(read("a.db-wal"), b"/home/dev/shop");
    }
}
