//! What a folder holds, as one value to compare: names, kinds, modes, times, contents.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// One line for each thing in the folder, the folder itself first, sorted: two equal texts
/// mean that not one byte, mode or modification time differs. Links are not followed.
pub fn fingerprint(folder: &Path) -> String {
    let mut lines = Vec::new();
    collect(folder, folder, &mut lines);
    lines.sort();
    lines.join("\n")
}

fn collect(root: &Path, path: &Path, lines: &mut Vec<String>) {
    let meta = fs::symlink_metadata(path).unwrap();
    let name = path.strip_prefix(root).unwrap().display();
    let mut line = format!("{name} {:o} {}.{:09} ", meta.mode(), meta.mtime(), meta.mtime_nsec());
    if meta.is_symlink() {
        write!(line, "-> {}", fs::read_link(path).unwrap().display()).unwrap();
    } else if meta.is_file() {
        let digest = Sha256::digest(fs::read(path).unwrap());
        digest.iter().for_each(|byte| write!(line, "{byte:02x}").unwrap());
    }
    lines.push(line);
    if meta.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(root, &entry.unwrap().path(), lines);
        }
    }
}
