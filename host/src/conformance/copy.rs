//! A store copied, so that a driver that nobody trusts yet never comes near the real one.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Copies what is in a directory into another one that exists: directories, regular files with
/// their times and rights, and links that stay within the store, which lead to the same thing
/// in the copy. A store that is one file (a database) is copied as one, with what SQLite keeps
/// beside it. Gives the places that have no copy: links that lead out or nowhere, pipes, sockets,
/// devices.
pub fn copy_store(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    let from = from.canonicalize()?;
    let mut left_out = Vec::new();
    if from.is_file() {
        copy_database(&from, to)?;
        return Ok(left_out);
    }
    let mut waiting = vec![PathBuf::new()];
    let mut directories = Vec::new();
    while let Some(within) = waiting.pop() {
        fs::create_dir_all(to.join(&within))?;
        for entry in fs::read_dir(from.join(&within))? {
            let entry = entry?;
            let path = within.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                copy_file(&from.join(&path), &to.join(&path))?;
            } else if !(kind.is_symlink() && copy_link(&from, to, &path)?) {
                left_out.push(path);
            }
        }
        directories.push(within);
    }
    // The deepest last: writing into a directory changes its time.
    for within in directories.iter().rev() {
        let told = fs::metadata(from.join(within))?;
        fs::File::open(to.join(within))?.set_modified(told.modified()?)?;
    }
    left_out.sort();
    Ok(left_out)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let told = fs::metadata(from)?;
    fs::copy(from, to)?;
    let rights = told.permissions();
    let mut writable = rights.clone();
    std::os::unix::fs::PermissionsExt::set_mode(&mut writable, 0o600);
    fs::set_permissions(to, writable)?;
    fs::File::options().write(true).open(to)?.set_modified(told.modified()?)?;
    fs::set_permissions(to, rights)
}

/// Whether the link leads to something in the store, so that the copy has one too.
fn copy_link(from: &Path, to: &Path, path: &Path) -> io::Result<bool> {
    let Ok(target) = from.join(path).canonicalize() else { return Ok(false) };
    let Ok(within) = target.strip_prefix(from) else { return Ok(false) };
    let says = fs::read_link(from.join(path))?;
    // One that is relative leads to the same thing by itself, and a sandbox takes no other.
    let says = if says.is_absolute() { to.join(within) } else { says };
    symlink(says, to.join(path))?;
    Ok(true)
}

/// `to` is the place of the copy itself.
fn copy_database(from: &Path, to: &Path) -> io::Result<()> {
    copy_file(from, to)?;
    for ending in ["-wal", "-shm", "-journal"] {
        let beside = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        if beside(from).is_file() {
            copy_file(&beside(from), &beside(to))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_copy_has_what_is_in_the_store_and_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let (store, copy) = (folder.path().join("store"), folder.path().join("copy"));
        for place in ["store/a/b", "copy", "outside"] {
            fs::create_dir_all(folder.path().join(place)).unwrap();
        }
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        fs::write(store.join("a/b/file"), "text").unwrap();
        fs::File::options().write(true).open(store.join("a/b/file")).unwrap().set_modified(then).unwrap();
        symlink(store.join("a"), store.join("inside")).unwrap();
        symlink(folder.path().join("outside"), store.join("out")).unwrap();
        symlink("nothing", store.join("dangling")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, store.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        let left_out = copy_store(&store, &copy).unwrap();
        assert_eq!(left_out, ["dangling", "out", "pipe"].map(PathBuf::from));
        assert_eq!(fs::read(copy.join("inside/b/file")).unwrap(), b"text");
        assert!(copy.join("inside").canonicalize().unwrap().starts_with(copy.canonicalize().unwrap()));
        assert_eq!(fs::metadata(copy.join("a/b/file")).unwrap().modified().unwrap(), then);
    }

    #[test]
    fn a_database_comes_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("x.db"), "pages").unwrap();
        fs::write(at("x.db-wal"), "log").unwrap();
        assert_eq!(copy_store(&at("x.db"), &at("y.db")).unwrap(), [""; 0].map(PathBuf::from));
        assert_eq!(
            (fs::read(at("y.db")).unwrap(), fs::read(at("y.db-wal")).unwrap()),
            (b"pages".to_vec(), b"log".to_vec())
        );
    }
}
