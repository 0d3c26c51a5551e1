//! Which program this is, for the keys of what is cached.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Changes whenever the program is replaced or moved: a digest of its path, size,
/// modification and change time, and inode. The content is not read: a program may be large,
/// and is often a script whose code is elsewhere anyway.
pub(super) fn build_of(program: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(program)?;
    let mut digest = Sha256::new();
    digest.update(program.as_os_str().as_bytes());
    let (size, inode, device) = (metadata.len(), metadata.ino(), metadata.dev());
    let (modified, modified_ns) = (metadata.mtime(), metadata.mtime_nsec());
    let (changed, changed_ns) = (metadata.ctime(), metadata.ctime_nsec());
    digest.update(format!("\0{size} {inode} {device} {modified}.{modified_ns} {changed}.{changed_ns}"));
    let mut build = "process-".to_owned();
    for byte in digest.finalize() {
        // Writing to a string does not fail.
        let _ = write!(build, "{byte:02x}");
    }
    Ok(build)
}
