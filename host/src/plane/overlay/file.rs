//! The overlay's file: read without a lock, since it is only ever replaced whole; changed under
//! one, so that no process overwrites what another has just written.

use super::document::Document;
use crate::home;
use crate::plane::{ErrorKind, PlaneError};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A larger file is neither read nor written, bytes.
const MOST_BYTES: u64 = 64 << 20;
/// Time between two looks at a lock that somebody has.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A file that could not be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The system says why.
    Io(io::Error),
    /// It holds no document; the parser says why.
    Corrupt(serde_json::Error),
}

/// The document; none when there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Document>, Unreadable> {
    let file = match File::open(path) {
        // Where our folder is no folder there is no file in it either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        opened => opened.map_err(Unreadable::Io)?,
    };
    let mut text = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(Unreadable::Io)?;
    if text.len() as u64 > MOST_BYTES {
        let message = format!("it has more than {} MiB", MOST_BYTES >> 20);
        return Err(Unreadable::Io(io::Error::new(io::ErrorKind::FileTooLarge, message)));
    }
    Document::parse(&text).map(Some).map_err(Unreadable::Corrupt)
}

/// Changes the document and replaces the file, unless nothing changed. A file that holds none
/// is kept aside first, and the log says so.
pub(super) fn change<T>(
    path: &Path,
    wait: Duration,
    change: impl FnOnce(&mut Document) -> Result<T, PlaneError>,
) -> Result<T, PlaneError> {
    let path = real(path);
    let _lock = lock(&path, wait)?;
    let mut document = match read(&path) {
        Ok(read) => read.unwrap_or_default(),
        Err(Unreadable::Io(error)) => return Err(failed(&path, "could not be read", error)),
        Err(Unreadable::Corrupt(error)) => {
            let aside = keep_aside(&path)?;
            tracing::warn!("{}", kept_aside(&path, &aside, &error));
            Document::default()
        }
    };
    let as_text = |document: &Document| document.to_text().map_err(|e| failed(&path, "could not be written anew", e));
    let before = as_text(&document)?;
    let done = change(&mut document)?;
    let text = as_text(&document)?;
    if text.len() as u64 > MOST_BYTES {
        let message =
            format!("{} would have more than {} MiB; forget some of it first", path.display(), MOST_BYTES >> 20);
        return Err(PlaneError::new(ErrorKind::Invalid, message));
    }
    if text != before {
        home::replace_file(&path, &text).map_err(|e| failed(&path, "could not be written", e))?;
    }
    Ok(done)
}

/// Keeps a file aside that holds no document, and says so in a sentence. What another process
/// has set right in the meantime is handed back.
pub(super) fn set_right(path: &Path, wait: Duration) -> Result<(Document, Option<String>), PlaneError> {
    let path = real(path);
    let _lock = lock(&path, wait)?;
    match read(&path) {
        Ok(read) => Ok((read.unwrap_or_default(), None)),
        Err(Unreadable::Io(error)) => Err(failed(&path, "could not be read", error)),
        Err(Unreadable::Corrupt(error)) => {
            let aside = keep_aside(&path)?;
            Ok((Document::default(), Some(kept_aside(&path, &aside, &error))))
        }
    }
}

fn keep_aside(path: &Path) -> Result<PathBuf, PlaneError> {
    home::keep_aside_as(path, "corrupt").map_err(|e| failed(path, "is damaged and could not be kept aside", e))
}

fn kept_aside(path: &Path, aside: &Path, error: &serde_json::Error) -> String {
    format!(
        "{} (titles, pins, archive and projects of sessions) is damaged ({error}); it was kept as {}, and an empty one is used",
        path.display(),
        aside.display()
    )
}

/// Where the file really is: a person may have put a link in its place.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Waits for the lock of the file, as long as it may be waited. It is released when the handle
/// is closed, also by the end of the process.
fn lock(path: &Path, wait: Duration) -> Result<File, PlaneError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let place = path.with_file_name(name);
    let failed = |error: io::Error| failed(&place, "could not be locked", error);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&place)
        .map_err(failed)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if start.elapsed() < wait => std::thread::sleep(BETWEEN_LOOKS),
            Err(TryLockError::WouldBlock) => {
                let message = format!(
                    "another process has held {} for {} ms; try again, or give it more time by SEPIA_META_TIMEOUT_MS",
                    place.display(),
                    wait.as_millis()
                );
                return Err(PlaneError::new(ErrorKind::Busy, message));
            }
        }
    }
}

pub(super) fn failed(path: &Path, what: &str, error: impl std::fmt::Display) -> PlaneError {
    let message = format!("{} {what}; look at its permissions and at the disk it is on", path.display());
    PlaneError::new(ErrorKind::Internal, message).because(error.to_string())
}
