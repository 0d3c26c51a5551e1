//! A lock that processes of ours respect, gone with the process that has it, however it ends.

use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// A lock that is held. Dropping it gives it back.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    file: File,
}

impl LockFile {
    /// Takes the lock; none when another process, or another part of this one, has it.
    pub(super) fn take(path: PathBuf) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        loop {
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(e) => return Err(e.into()),
            }
            // Whoever gave it back took the file away: a lock on a file without a name is none.
            let same = fs::metadata(&path).is_ok_and(|named| file.metadata().is_ok_and(|own| own.ino() == named.ino()));
            if same {
                return Ok(Some(Self { path, file }));
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // What stays is an empty file.
        let _ = fs::remove_file(&self.path);
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::LockFile;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locks/a");
        let held = LockFile::take(path.clone()).unwrap().unwrap();
        assert!(LockFile::take(path.clone()).unwrap().is_none());
        drop(held);
        assert!(!path.exists());
        assert!(LockFile::take(path).unwrap().is_some());
    }
}
