//! Bytes at the end of a file.

use super::super::error::ServiceError;
use super::super::path::shown;
use super::super::store::Store;
use super::place::{directory, synced};
use super::{changed, refused};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;

/// Appends after checking that the file is so long and, when not empty, ends in a line feed: an
/// agent's own append would be glued to a line that is not ended, and so would this one.
pub(super) fn append(store: &Store, path: &str, content: &[u8], expect: u64) -> Result<(), ServiceError> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (dir, ..) = directory(store, parent, path)?;
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
    let mut written = 0;
    if let Err(e) = all(&mut file, content, &mut written).and_then(|()| file.sync_all()) {
        // Half a record would spoil the next one: the file gets its old end back, unless another program has
        // written behind it meanwhile, whose record is not ours to cut off. When that fails too, the first failure is
        // the one to tell.
        if file.metadata().is_ok_and(|about| about.len() == expect + written) {
            let _ = file.set_len(expect);
        }
        return Err(refused(e, path));
    }
    synced(&dir).map_err(|e| refused(e, path))
}

/// Writes all of it, and tells how much of it got there.
fn all(file: &mut File, content: &[u8], written: &mut u64) -> io::Result<()> {
    let mut left = content;
    while !left.is_empty() {
        match file.write(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => {
                *written += count as u64;
                left = left.get(count..).unwrap_or_default();
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
