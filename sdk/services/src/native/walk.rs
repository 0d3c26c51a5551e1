//! The files of a store, with what their change can be told by.

use super::error::ServiceError;
use super::file::{epoch_ns, refusal};
use super::path::{checked, joined, shown};
use super::store::Store;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sepia_ir::{FileEntry, WalkReport};
use std::collections::HashSet;
use std::ffi::CString;
use std::rc::Rc;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const NO_UTF8: &str = "the name is not UTF-8";

struct Walk<'a> {
    store: &'a Store,
    suffixes: &'a [String],
    report: WalkReport,
    /// Device and inode of each directory entered.
    entered: HashSet<(u64, u64)>,
    todo: Vec<Todo>,
}

/// A directory still to be read. It is opened when its turn comes, from the handle of the
/// directory that holds it, so that a wide tree needs few handles.
struct Todo {
    from: Rc<OwnedFd>,
    name: CString,
    path: String,
    depth: u32,
}

impl Todo {
    /// A directory that is at hand already. The handle may be one that only opens, so it is
    /// opened again for reading.
    fn of(dir: OwnedFd, path: String, depth: u32) -> Self {
        Self { from: Rc::new(dir), name: c".".to_owned(), path, depth }
    }
}

/// See [`Store::walk`].
pub(super) fn walk(store: &Store, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, ServiceError> {
    let report = WalkReport { files: Vec::new(), failures: Vec::new() };
    let mut walk = Walk { store, suffixes, report, entered: HashSet::new(), todo: Vec::new() };
    if !under.is_empty() {
        checked(under)?;
    }
    if store.exists() {
        let (dir, rest) = store.resolve(under)?;
        let rest = if rest.is_empty() { "." } else { rest };
        match dir.open_dir(rest) {
            Ok(dir) => walk.todo.push(Todo::of(dir.into_std_file().into(), under.to_owned(), depth)),
            Err(e) => match refusal(e, under) {
                ServiceError::NotFound(_) => {}
                outside @ ServiceError::Outside(_) => return Err(outside),
                other => walk.report.failures.push((under.to_owned(), other.to_string())),
            },
        }
    }
    while let Some(Todo { from, name, path, depth }) = walk.todo.pop() {
        // One part of a path, and not through a link: this can't leave the store.
        match rustix::fs::openat(&*from, &name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(dir) => walk.directory(dir, &path, depth)?,
            Err(e) => walk.failed(&path, e),
        }
    }
    walk.report.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.report.failures.sort_unstable();
    Ok(walk.report)
}

impl Walk<'_> {
    fn failed(&mut self, path: &str, errno: Errno) {
        // What is gone by now is not a failure: it is simply not there.
        if errno != Errno::NOENT {
            self.report.failures.push((path.to_owned(), std::io::Error::from(errno).to_string()));
        }
    }

    fn directory(&mut self, dir: OwnedFd, path: &str, depth: u32) -> Result<(), ServiceError> {
        self.store.deadline().check(path)?;
        match rustix::fs::fstat(&dir) {
            Ok(about) if self.entered.insert((about.st_dev, about.st_ino)) => {}
            Ok(_) => return Ok(()),
            Err(e) => {
                self.failed(path, e);
                return Ok(());
            }
        }
        let mut entries = match Dir::read_from(&dir) {
            Ok(entries) => entries,
            Err(e) => {
                self.failed(path, e);
                return Ok(());
            }
        };
        let dir = Rc::new(dir);
        while let Some(entry) = entries.read() {
            match entry {
                Ok(entry) => self.entry(&dir, path, depth, &entry),
                Err(e) => {
                    self.failed(path, e);
                    break;
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, dir: &Rc<OwnedFd>, under: &str, depth: u32, entry: &DirEntry) {
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            return;
        }
        let wanted = self.suffixes.is_empty() || self.suffixes.iter().any(|s| bytes.ends_with(s.as_bytes()));
        let mut kind = entry.file_type();
        let mut about = None;
        if kind == FileType::Unknown || (wanted && kind == FileType::RegularFile) {
            match rustix::fs::statat(&**dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => {
                    kind = FileType::from_raw_mode(stat.st_mode);
                    about = Some(stat);
                }
                Err(e) => return self.failed(&joined(under, &String::from_utf8_lossy(bytes)), e),
            }
        }
        let relevant = match kind {
            FileType::Directory => depth > 0,
            FileType::Symlink => true,
            FileType::RegularFile => wanted,
            _ => false,
        };
        if !relevant {
            return;
        }
        let Ok(name) = std::str::from_utf8(bytes) else {
            if wanted || kind == FileType::Directory {
                let path = joined(under, &String::from_utf8_lossy(bytes));
                self.report.failures.push((path, NO_UTF8.to_owned()));
            }
            return;
        };
        let path = joined(under, name);
        match (kind, about) {
            (FileType::RegularFile, Some(about)) => self.report.files.push(file_entry(path, &about)),
            (FileType::Directory, _) => {
                let name = entry.file_name().to_owned();
                self.todo.push(Todo { from: Rc::clone(dir), name, path, depth: depth - 1 });
            }
            _ => self.link(path, depth, wanted),
        }
    }

    fn link(&mut self, path: String, depth: u32, wanted: bool) {
        if let Some(link) = self.store.links().iter().find(|link| link.path == path) {
            if depth == 0 {
                return;
            }
            match link.dir.try_clone() {
                Ok(dir) => self.todo.push(Todo::of(dir.into_std_file().into(), path, depth - 1)),
                Err(e) => self.report.failures.push((path, e.to_string())),
            }
        } else if let Some(skipped) = self.store.skipped_links().iter().find(|link| link.path == path) {
            if let Some(loss) = skipped.why.loss().filter(|_| depth > 0) {
                self.report.failures.push((path, loss.to_owned()));
            }
        } else if wanted {
            match self.store.file(&path) {
                Ok(file) => self.report.files.push(file.entry().clone()),
                Err(ServiceError::NotFound(_) | ServiceError::NotRegular(_)) => {}
                Err(e) => self.report.failures.push((shown(&path), e.to_string())),
            }
        }
    }
}

fn file_entry(path: String, about: &Stat) -> FileEntry {
    FileEntry {
        path,
        bytes: u64::try_from(about.st_size).unwrap_or(0),
        modified_ns: epoch_ns(about.st_mtime, about.st_mtime_nsec.cast_signed()),
        inode: about.st_ino,
    }
}
