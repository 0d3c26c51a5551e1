//! A regular file of a store, opened for reading.

use super::error::ServiceError;
use super::path::shown;
use super::sqlite::Opened;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{FileType, OFlags, Stat};
use sepia_ir::FileEntry;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A regular file, and what it was when it was opened.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// Drivers may read what is a database, also while another call writes it.
    file: Arc<Opened>,
    entry: FileEntry,
}

impl OpenFile {
    /// Opens `rest` beneath `dir`; never leaves it. `path` is what the driver calls the file.
    pub(super) fn open(dir: &Dir, rest: impl AsRef<Path>, path: &str) -> Result<Self, ServiceError> {
        let mut options = OpenOptions::new();
        // Without NONBLOCK, opening a pipe would wait for somebody to write into it.
        options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
        let file = dir.open_with(rest, &options).map_err(|e| refusal(e, path))?.into_std();
        let about = rustix::fs::fstat(&file).map_err(|e| refusal(e.into(), path))?;
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(ServiceError::NotRegular(shown(path)));
        }
        let entry = file_entry(path.to_owned(), &about);
        Ok(Self { file: Arc::new(Opened::new(file)), entry })
    }

    /// The same file as it is now, if it changed since it was opened.
    pub(super) fn changed(&self) -> Result<Option<Self>, ServiceError> {
        let about = rustix::fs::fstat(self.file()?).map_err(|e| refusal(e.into(), &self.entry.path))?;
        let entry = file_entry(String::new(), &about);
        let known = &self.entry;
        if (entry.bytes, entry.modified_ns, entry.inode) == (known.bytes, known.modified_ns, known.inode) {
            return Ok(None);
        }
        Ok(Some(Self { file: Arc::clone(&self.file), entry: FileEntry { path: known.path.clone(), ..entry } }))
    }

    /// A file of these bytes that has no name.
    #[cfg(test)]
    pub(super) fn holding(bytes: &[u8]) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::Write::write_all(&mut file, bytes)?;
        let entry = FileEntry { path: "test".into(), bytes: bytes.len() as u64, modified_ns: 0, inode: 0 };
        Ok(Self { file: Arc::new(Opened::new(file)), entry })
    }

    fn file(&self) -> Result<&File, ServiceError> {
        self.file.get().map_err(|e| refusal(e, &self.entry.path))
    }

    pub(super) fn entry(&self) -> &FileEntry {
        &self.entry
    }

    /// Its size when it was opened: what is appended meanwhile is not looked at.
    pub(super) fn size(&self) -> u64 {
        self.entry.bytes
    }

    /// Fills `buffer` from `offset`, as far as the file goes.
    pub(super) fn fill(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ServiceError> {
        let file = self.file()?;
        let mut done = 0;
        while done < buffer.len() {
            match file.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(refusal(e, &self.entry.path)),
            }
        }
        Ok(done)
    }

    /// At most `bytes` from `offset`, fewer at the end.
    pub(super) fn part(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, ServiceError> {
        let bytes = self.size().saturating_sub(offset).min(bytes);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let file = self.file()?;
        // Read into fresh memory as it is: clearing it first would cost as much as the copy.
        let mut part = Vec::with_capacity(bytes);
        while part.len() < bytes {
            let at = offset + part.len() as u64;
            match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut part), at) {
                Ok(0) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(refusal(e.into(), &self.entry.path)),
            }
        }
        part.truncate(bytes);
        Ok(part)
    }
}

/// What the system says of a file.
pub(super) fn file_entry(path: String, about: &Stat) -> FileEntry {
    FileEntry {
        path,
        bytes: u64::try_from(about.st_size).unwrap_or(0),
        modified_ns: epoch_ns(about.st_mtime, about.st_mtime_nsec.cast_signed()),
        inode: about.st_ino,
    }
}

/// Nanoseconds since the epoch; 0 for what is before it.
pub(super) fn epoch_ns(seconds: i64, nanoseconds: i64) -> u64 {
    let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u64::try_from(nanoseconds)) else { return 0 };
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// What the system's refusal to open or read a path means.
pub(super) fn refusal(error: io::Error, path: &str) -> ServiceError {
    let path = shown(path);
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ServiceError::NotFound(path),
        // cap-std's own refusal to leave the directory carries no number of the system.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => ServiceError::Outside(path),
        _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => ServiceError::NotRegular(path),
        _ => ServiceError::Io { path, source: error },
    }
}
