//! Bytes at the end of a file.

use super::super::error::ServiceError;
use super::super::path::shown;
use super::super::store::Store;
use super::place::{directory, synced};
use super::{changed, refused};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;

/// Appends after checking that the file is so long and, when not empty, ends in a line feed: an
/// agent's own append would be glued to a line that is not ended, and so would this one.
pub(super) fn append(store: &Store, path: &str, content: &[u8], expect: u64) -> Result<(), ServiceError> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (dir, _) = directory(store, parent, path)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600);
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options.create_new(expect == 0);
    let opened = match dir.open_with(name, &options) {
        Err(e) if expect == 0 && e.kind() == ErrorKind::AlreadyExists => {
            options.create_new(false);
            dir.open_with(name, &options)
        }
        opened => opened,
    };
    let mut file = match opened {
        Ok(file) => file.into_std(),
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(changed(path, expect, None)),
        Err(e) => return Err(refused(e, path)),
    };
    let about = file.metadata().map_err(|e| refused(e, path))?;
    if !about.is_file() {
        return Err(ServiceError::NotRegular(shown(path)));
    }
    if about.len() != expect {
        let (expect, found) = (expect.max(1), Some(about.len()));
        return Err(changed(path, expect, found));
    }
    if expect > 0 {
        let mut last = [0];
        file.read_exact_at(&mut last, expect - 1).map_err(|e| refused(e, path))?;
        if last != *b"\n" {
            let path = shown(path);
            return Err(ServiceError::Changed(format!(
                "the last line of `{path}` is not ended: another program is writing it, or was killed at it"
            )));
        }
    }
    if let Err(e) = file.write_all(content).and_then(|()| file.sync_all()) {
        // Half a record would spoil the next one: the file gets its old end back. When that
        // fails too, the first failure is the one to tell.
        let _ = file.set_len(expect);
        return Err(refused(e, path));
    }
    synced(&dir).map_err(|e| refused(e, path))
}
