//! Whole folders: a digest that proves that nothing changed, and copies to try things on.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// SHA-256 over all names, modes, modification times, link targets and contents below a
/// folder or of a file, hexadecimal. Links are not followed. A place that is not there has a
/// digest too.
pub fn tree_hash(place: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut waiting = vec![place.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            Err(e) if path == place && e.kind() == io::ErrorKind::NotFound => break,
            metadata => metadata?,
        };
        digest.update(path.strip_prefix(place).unwrap_or(&path).as_os_str().as_bytes());
        digest.update(format!("\0{:o} {}.{}\0", metadata.mode(), metadata.mtime(), metadata.mtime_nsec()));
        if metadata.is_dir() {
            let mut inside: Vec<PathBuf> =
                fs::read_dir(&path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
            inside.sort();
            waiting.extend(inside);
        } else if metadata.is_symlink() {
            digest.update(fs::read_link(&path)?.as_os_str().as_bytes());
        } else if metadata.is_file() {
            digest.update(metadata.len().to_le_bytes());
            content(&path, &mut digest)?;
        }
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Copies the files and folders below a folder into another, which is made if need be.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn content(path: &Path, digest: &mut Sha256) -> io::Result<()> {
    let mut file = fs::File::open(path)?;
    let mut part = vec![0; 256 << 10];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(()),
            bytes => digest.update(&part[..bytes]),
        }
    }
}
