//! Where the log lies: its file, what SQLite puts beside it, and the gate that its processes
//! pass.
//!
//! SQLite does not notice that a file it has open was moved away, and what it wrote would go
//! with the file. So whoever writes or opens the file holds the gate shared, and whoever makes
//! it or moves it aside holds it alone.

use super::error::LogError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two looks at what another process holds. Short, so that one which writes on and
/// on leaves gaps that are found.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_micros(500);

/// What SQLite puts beside a database, by the end of its name.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

/// Whether the gate is passed with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    Shared,
    Alone,
}

/// The gate, passed until this is dropped, or until the process ends.
#[derive(Debug)]
pub(super) struct Gate(#[expect(dead_code, reason = "the lock is on the open file")] File);

/// Where the log lies.
#[derive(Debug, Clone)]
pub(super) struct Place {
    path: PathBuf,
}

impl Place {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Which file is there now; none when there is none.
    pub(super) fn file(&self) -> Result<Option<FileId>, LogError> {
        match fs::metadata(&self.path) {
            Ok(found) => Ok(Some(FileId { device: found.dev(), inode: found.ino() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::of_system(&self.path, "could not be looked at", error)),
        }
    }

    /// Passes the gate, as long as it may be waited. Makes the folder when there is none.
    pub(super) fn pass(&self, passing: Passing, wait: Duration) -> Result<Gate, LogError> {
        let lock = self.beside(".lock");
        let failed = |error: io::Error| LogError::of_system(&lock, "could not be locked", error);
        let file = match open_lock(&lock) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_folder()?;
                open_lock(&lock).map_err(failed)?
            }
            opened => opened.map_err(failed)?,
        };
        let start = Instant::now();
        loop {
            let tried = match passing {
                Passing::Shared => file.try_lock_shared(),
                Passing::Alone => file.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(Gate(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => std::thread::sleep(BETWEEN_LOOKS),
                Err(TryLockError::WouldBlock) => return Err(LogError::busy(&lock, wait)),
            }
        }
    }

    /// Makes an empty file that only its owner may read, with its name on the disk. The gate has
    /// to be passed alone: closing a file takes away the locks that SQLite has on it in the same
    /// process.
    pub(super) fn make_file(&self) -> Result<(), LogError> {
        let failed = |error: io::Error| LogError::of_system(&self.path, "could not be made", error);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path).map_err(failed)?;
        if let Some(folder) = self.folder() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(())
    }

    /// Takes the file from the eyes of others, should it be open to them.
    pub(super) fn make_private(&self) -> Result<(), LogError> {
        let failed = |error: io::Error| LogError::of_system(&self.path, "could not be made private", error);
        let mode = fs::metadata(&self.path).map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&self.path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        }
        Ok(())
    }

    /// Moves the file aside, with what lies beside it. The file goes last: while it is there, no
    /// other is begun, which would throw away what lies beside.
    pub(super) fn move_aside(&self, now: i64) -> Result<PathBuf, LogError> {
        let mut stamp = now;
        while self.beside(&format!(".unreadable-{stamp}")).exists() {
            stamp = stamp.saturating_add(1);
        }
        let aside = self.beside(&format!(".unreadable-{stamp}"));
        for end in BESIDE.into_iter().chain([""]) {
            let from = self.beside(end);
            match fs::rename(&from, with_end(&aside, end)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound && !end.is_empty() => {}
                Err(error) => return Err(LogError::of_system(&from, "is damaged and could not be moved aside", error)),
            }
        }
        Ok(aside)
    }

    fn make_folder(&self) -> Result<(), LogError> {
        let Some(folder) = self.folder() else { return Ok(()) };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| LogError::of_system(folder, "could not be made", error))
    }

    fn folder(&self) -> Option<&Path> {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty())
    }

    fn beside(&self, end: &str) -> PathBuf {
        with_end(&self.path, end)
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut whole = path.as_os_str().to_owned();
    whole.push(end);
    whole.into()
}
