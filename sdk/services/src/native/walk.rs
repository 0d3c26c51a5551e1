//! The files of a store, with what their change can be told by.

use super::cores::cores;
use super::error::ServiceError;
use super::file::{file_entry, refusal};
use super::path::{checked, joined, shown};
use super::store::Store;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, RawDirEntry};
use rustix::io::Errno;
use sepia_ir::WalkReport;
use std::collections::HashSet;
use std::ffi::CString;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const NO_UTF8: &str = "the name is not UTF-8";

/// Bytes of entries read at once.
const ENTRIES: usize = 32 << 10;
/// Directories that wait before another thread is worth starting.
const CROWD: usize = 48;
/// Threads of one walk at most: beyond that they wait for one another in the kernel.
const THREADS: usize = 4;

/// What one thread finds.
struct Walk<'a> {
    store: &'a Store,
    suffixes: &'a [String],
    shared: &'a Shared,
    report: WalkReport,
    /// Where entries are read to.
    buffer: Vec<u8>,
}

/// What the threads of a walk share.
#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    todo: Vec<Todo>,
    /// Threads that are reading a directory, and may find more.
    busy: usize,
    /// Device and inode of each directory entered.
    entered: HashSet<(u64, u64)>,
    /// Why the walk has to end early.
    failed: Option<ServiceError>,
}

/// A directory still to be read. It is opened when its turn comes, from the handle of the
/// directory that holds it, so that a wide tree needs few handles.
struct Todo {
    from: Arc<OwnedFd>,
    name: CString,
    path: String,
    depth: u32,
}

impl Todo {
    /// A directory that is at hand already. The handle may be one that only opens, so it is
    /// opened again for reading.
    fn of(dir: OwnedFd, path: String, depth: u32) -> Self {
        Self { from: Arc::new(dir), name: c".".to_owned(), path, depth }
    }
}

/// See [`Store::walk`].
pub(super) fn walk(store: &Store, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, ServiceError> {
    let mut report = WalkReport { files: Vec::new(), failures: Vec::new() };
    let shared = Shared::default();
    if !under.is_empty() {
        checked(under)?;
    }
    if store.exists() {
        let (dir, rest) = store.resolve(under)?;
        let rest = if rest.is_empty() { "." } else { rest };
        match dir.open_dir(rest) {
            Ok(dir) => shared.lock().todo.push(Todo::of(dir.into_std_file().into(), under.to_owned(), depth)),
            Err(e) => match refusal(e, under) {
                ServiceError::NotFound(_) => {}
                outside @ ServiceError::Outside(_) => return Err(outside),
                other => report.failures.push((under.to_owned(), other.to_string())),
            },
        }
    }
    let worker = || {
        let nothing = WalkReport { files: Vec::new(), failures: Vec::new() };
        let mut walk = Walk::new(store, suffixes, &shared, nothing);
        walk.work();
        walk.report
    };
    let cores = cores(THREADS);
    let mut report = std::thread::scope(|scope| {
        let mut walk = Walk::new(store, suffixes, &shared, report);
        // Most trees are read by the time that a thread has started.
        while shared.lock().todo.len() < CROWD && walk.step() {}
        let others: Vec<_> = if shared.lock().todo.len() < CROWD {
            Vec::new()
        } else {
            (1..cores).map(|_| scope.spawn(worker)).collect()
        };
        walk.work();
        let mut report = walk.report;
        for other in others {
            // A thread of a walk has nothing in it that panics; without its part the report
            // would be wrong.
            let Ok(found) = other.join() else { return Err(ServiceError::Query("a walk broke off".to_owned())) };
            report.files.extend(found.files);
            report.failures.extend(found.failures);
        }
        Ok(report)
    })?;
    if let Some(error) = shared.lock().failed.take() {
        return Err(error);
    }
    report.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    report.failures.sort_unstable();
    Ok(report)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn begin(&self) -> Option<Todo> {
        let mut queue = self.lock();
        let next = queue.todo.pop()?;
        queue.busy += 1;
        Some(next)
    }

    /// A directory was read; those below it are next.
    fn end(&self, below: Result<Vec<Todo>, ServiceError>) {
        let mut queue = self.lock();
        queue.busy -= 1;
        match below {
            Ok(below) => queue.todo.extend(below),
            Err(error) => {
                queue.todo.clear();
                queue.failed.get_or_insert(error);
            }
        }
        drop(queue);
        self.changed.notify_all();
    }
}

impl<'a> Walk<'a> {
    fn new(store: &'a Store, suffixes: &'a [String], shared: &'a Shared, report: WalkReport) -> Self {
        Self { store, suffixes, shared, report, buffer: Vec::with_capacity(ENTRIES) }
    }

    /// Reads directories until there is none left, for any thread.
    fn work(&mut self) {
        loop {
            if self.step() {
                continue;
            }
            let queue = self.shared.lock();
            if queue.todo.is_empty() {
                if queue.busy == 0 {
                    return;
                }
                drop(self.shared.changed.wait(queue));
            }
        }
    }

    /// Reads the next directory; false when none waits.
    fn step(&mut self) -> bool {
        let Some(Todo { from, name, path, depth }) = self.shared.begin() else { return false };
        // One part of a path, and not through a link: this can't leave the store.
        let below = match rustix::fs::openat(&*from, &name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(dir) => self.directory(dir, &path, depth),
            Err(e) => {
                self.failed(&path, e);
                Ok(Vec::new())
            }
        };
        self.shared.end(below);
        true
    }

    fn failed(&mut self, path: &str, errno: Errno) {
        // What is gone by now is not a failure: it is simply not there.
        if errno != Errno::NOENT {
            self.report.failures.push((path.to_owned(), std::io::Error::from(errno).to_string()));
        }
    }

    /// Reads a directory, and says which are below it.
    fn directory(&mut self, dir: OwnedFd, path: &str, depth: u32) -> Result<Vec<Todo>, ServiceError> {
        self.store.deadline().check(path)?;
        match rustix::fs::fstat(&dir) {
            Ok(about) if self.shared.lock().entered.insert((about.st_dev, about.st_ino)) => {}
            Ok(_) => return Ok(Vec::new()),
            Err(e) => {
                self.failed(path, e);
                return Ok(Vec::new());
            }
        }
        let dir = Arc::new(dir);
        let mut below = Vec::new();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = RawDir::new(&*dir, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => self.entry(&dir, path, depth, &entry, &mut below),
                Err(e) => {
                    self.failed(path, e);
                    break;
                }
            }
        }
        self.buffer = buffer;
        Ok(below)
    }

    fn entry(&mut self, dir: &Arc<OwnedFd>, under: &str, depth: u32, entry: &RawDirEntry<'_>, below: &mut Vec<Todo>) {
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
                below.push(Todo { from: Arc::clone(dir), name, path, depth: depth - 1 });
            }
            _ => self.link(path, depth, wanted, below),
        }
    }

    fn link(&mut self, path: String, depth: u32, wanted: bool, below: &mut Vec<Todo>) {
        if let Some(link) = self.store.links().iter().find(|link| link.path == path) {
            if depth == 0 {
                return;
            }
            match link.dir.try_clone() {
                Ok(dir) => below.push(Todo::of(dir.into_std_file().into(), path, depth - 1)),
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
