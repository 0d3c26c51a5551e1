//! A granted store, opened: the only way to its files.

use super::durable::TrashEntry;
use super::error::ServiceError;
use super::file::{OpenFile, epoch_ns};
use super::links::{Link, SkippedLink, follow};
use super::path::{below, checked, joined, shown};
use super::place::is_directory;
use super::sqlite::{ReadConnection, beside};
use super::{project, survey, walk};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt};
use sepia_ir::{Projection, StoreRequest, SurveyQuery, SurveyReport, WalkReport};
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Bytes of one `read` at most.
const MAX_READ: u32 = 8 << 20;

/// The stores of one driver.
#[derive(Debug, Default)]
pub struct Stores(Vec<Store>);

impl Stores {
    /// These stores. Of two with one name the first counts.
    pub fn new(stores: Vec<Store>) -> Self {
        Self(stores)
    }

    /// The store of this name, if it was granted.
    pub fn get(&self, name: &str) -> Result<&Store, ServiceError> {
        self.iter().find(|store| store.name == name).ok_or_else(|| ServiceError::NotGranted(shown(name)))
    }

    /// All of them, to be had anew.
    pub fn into_stores(self) -> impl Iterator<Item = Store> {
        self.0.into_iter()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Store> {
        self.0.iter()
    }
}

/// A granted store. What does not exist opens as an empty one.
#[derive(Debug)]
pub struct Store {
    name: String,
    place: PathBuf,
    home: PathBuf,
    exists: bool,
    root: Option<Dir>,
    /// The directory of a store that was made after it was opened.
    made: OnceLock<Dir>,
    links: Vec<Link>,
    skipped: Vec<SkippedLink>,
    deadline: Deadline,
    /// The file that was read last, while one call goes on.
    last: Option<LastFile>,
    directory: bool,
    /// Whether this call may write.
    write: bool,
    /// Where what is taken away in this call goes.
    trash: Option<Arc<TrashEntry>>,
}

/// The file that was read last, kept open: it stays the same file while nothing is written.
#[derive(Debug, Clone, Default)]
pub(super) struct LastFile(Arc<Mutex<Option<Arc<OpenFile>>>>);

impl LastFile {
    /// What is read next is opened anew.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// When long work has to stop.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// Until then.
    pub(super) fn at(at: Instant) -> Self {
        Self(Some(at))
    }

    /// Whether the time is over.
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }

    /// Fails when the time is over. `path` is what is being read.
    pub(super) fn check(self, path: &str) -> Result<(), ServiceError> {
        if self.is_over() { Err(ServiceError::Time(shown(path))) } else { Ok(()) }
    }
}

impl Store {
    /// Opens what was granted. `refuse` says of a canonical directory that a link leads to
    /// whether it may never be shown.
    ///
    /// The root may itself be a link, or lie behind one. A store that does not exist opens as
    /// an empty one; one that can't be opened is an error. A database is not shown as files:
    /// it has no root.
    pub fn open(request: &StoreRequest, place: &Path, refuse: &dyn Fn(&Path) -> bool) -> Result<Self, ServiceError> {
        let mut store = Self {
            name: request.name.clone(),
            place: place.to_owned(),
            home: place.to_owned(),
            exists: false,
            root: None,
            made: OnceLock::new(),
            links: Vec::new(),
            skipped: Vec::new(),
            deadline: Deadline::default(),
            last: None,
            directory: is_directory(request.kind),
            write: false,
            trash: None,
        };
        let failed = |source| ServiceError::Io { path: place.display().to_string(), source };
        match place.canonicalize() {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(store),
            canonical => store.home = canonical.map_err(failed)?,
        }
        if store.home != place && refuse(&store.home) {
            return Err(ServiceError::Refused(store.name));
        }
        store.exists = true;
        if is_directory(request.kind) {
            let root = Dir::open_ambient_dir(&store.home, ambient_authority()).map_err(failed)?;
            let followed = follow(&root, &store.home, &request.follow_links_in, refuse)?;
            store.root = Some(root);
            store.links = followed.links;
            store.skipped = followed.skipped;
        }
        Ok(store)
    }

    /// The same store for one call: its long work stops at this time with
    /// [`ServiceError::Time`], and a file that is read several times in a row is opened once, so
    /// that it stays the same file.
    #[must_use]
    pub fn with_deadline(mut self, at: Instant) -> Self {
        self.deadline = Deadline::at(at);
        // Whoever writes over the file later holds on to this.
        self.last.get_or_insert_default().forget();
        self
    }

    /// The same store for a call that writes. What is taken away or written over in it goes into
    /// `trash`.
    #[must_use]
    pub fn for_writing(mut self, trash: Option<Arc<TrashEntry>>) -> Self {
        self.write = true;
        self.trash = trash;
        self
    }

    /// Name within the driver.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is, as the person knows it: links are not resolved.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Whether there is anything at its place.
    pub fn exists(&self) -> bool {
        self.exists || self.made().is_some()
    }

    /// Its directory; none for a database and for what does not exist.
    pub fn root(&self) -> Option<&Dir> {
        self.root.as_ref().or_else(|| self.made())
    }

    /// The directory of a store that was not there when it was opened, and is now: the first write of a
    /// call makes it, and what reads in that call has to see what was written. A link is not taken for it.
    fn made(&self) -> Option<&Dir> {
        if self.exists || !self.directory {
            return None;
        }
        if self.made.get().is_none() && std::fs::symlink_metadata(&self.place).is_ok_and(|about| about.is_dir()) {
            let dir = Dir::open_ambient_dir(&self.place, ambient_authority()).ok()?;
            // Another thread may have been first, with the same directory.
            let _ = self.made.set(dir);
        }
        self.made.get()
    }

    /// The links that are followed, sorted by path.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links at places where links are allowed that are not followed, and why.
    pub fn skipped_links(&self) -> &[SkippedLink] {
        &self.skipped
    }

    /// All regular files whose name ends in one of `suffixes` (none given: all files), at most
    /// `depth` directories below `under`; `""` is the root.
    pub fn walk(&self, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, ServiceError> {
        walk::walk(self, under, depth, suffixes)
    }

    /// `bytes` from `offset`, fewer at the end of the file. At most 8 MiB a call.
    pub fn read(&self, path: &str, offset: u64, bytes: u32) -> Result<Vec<u8>, ServiceError> {
        if bytes > MAX_READ {
            return Err(ServiceError::Query(format!(
                "a read of {bytes} bytes is more than the {MAX_READ} of one call"
            )));
        }
        self.file(path)?.part(offset, u64::from(bytes))
    }

    /// Bytes of a file: how long a look through it takes.
    pub fn size(&self, path: &str) -> Result<u64, ServiceError> {
        Ok(self.file(path)?.size())
    }

    /// The start and the end of a file, and the lines that hold a needle.
    pub fn survey(&self, path: &str, query: &SurveyQuery) -> Result<SurveyReport, ServiceError> {
        survey::survey(&*self.file(path)?, query, self.deadline)
    }

    /// Members of all lines of a file of JSON lines, in the form of [`crate::packed`].
    pub fn project(&self, path: &str, query: &Projection) -> Result<Vec<u8>, ServiceError> {
        project::project(&*self.file(path)?, query, self.deadline)
    }

    /// Opens a database for reading; `path` is empty when the store itself is one.
    pub fn database(&self, path: &str) -> Result<ReadConnection, ServiceError> {
        let (file, name) = self.database_file(path)?;
        ReadConnection::open(file, name, self.write, self.deadline)
    }

    /// The file of a database, and how messages name it.
    pub(super) fn database_file(&self, path: &str) -> Result<(PathBuf, String), ServiceError> {
        let (file, name) = match (self.root(), path) {
            (None, "") if self.exists => (self.home.clone(), self.name.as_str()),
            (None, "") => return Err(ServiceError::NotFound(shown(&self.name))),
            (None, _) if !self.exists() => return Err(ServiceError::NotFound(shown(path))),
            _ => (self.real(path)?, path),
        };
        Ok((file, shown(name)))
    }

    /// Fails unless this call may write.
    pub(super) fn writable(&self) -> Result<(), ServiceError> {
        if self.write { Ok(()) } else { Err(ServiceError::ReadOnly(shown(&self.name))) }
    }

    pub(super) fn trash(&self) -> Option<&Arc<TrashEntry>> {
        self.trash.as_ref()
    }

    /// What was read before is not what will be read next.
    pub(super) fn forget_last(&self) {
        if let Some(last) = &self.last {
            last.forget();
        }
    }

    /// The file that was read last, for what will write over it later.
    pub(super) fn last_file(&self) -> Option<LastFile> {
        self.last.clone()
    }

    /// Makes the directory of a store that does not exist yet.
    pub(super) fn make(&self) -> Result<Dir, ServiceError> {
        if !self.directory {
            return Err(ServiceError::NotFound(shown(&self.name)));
        }
        let failed = |source| ServiceError::Write { path: self.place.display().to_string(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.place).map_err(failed)?;
        Dir::open_ambient_dir(&self.place, ambient_authority()).map_err(failed)
    }

    /// Where a path of the store is, its links to directories elsewhere followed. What is checked
    /// is the directory that holds it.
    pub(super) fn place_of(&self, path: &str) -> Result<PathBuf, ServiceError> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let real = match self.place_of_directory(parent).canonicalize() {
            Ok(real) => real,
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(ServiceError::NotFound(shown(path))),
            Err(source) => return Err(ServiceError::Io { path: shown(path), source }),
        };
        if self.path_of(&real).is_none() {
            return Err(ServiceError::Outside(shown(path)));
        }
        Ok(real.join(name))
    }

    /// The same of a directory, which need not be there; `""` is the root.
    pub(super) fn place_of_directory(&self, path: &str) -> PathBuf {
        let (start, rest) = match self.links.iter().find_map(|link| Some((link, below(path, &link.path)?))) {
            Some((link, rest)) => (link.target.as_path(), rest),
            None => (self.home.as_path(), path),
        };
        if rest.is_empty() { start.to_owned() } else { start.join(rest) }
    }

    /// The path in the store of a canonical place; none when it lies outside.
    pub(super) fn path_of(&self, real: &Path) -> Option<String> {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let in_link = self.links.iter().find_map(|link| {
            let rest = text(real.strip_prefix(&link.target).ok()?)?;
            Some(if rest.is_empty() { link.path.clone() } else { joined(&link.path, &rest) })
        });
        in_link.or_else(|| text(real.strip_prefix(&self.home).ok()?))
    }

    /// How files look now, without reading them: each its size, time of change (epoch
    /// nanoseconds) and inode; none for one that is not there or lies outside. For a store that
    /// is a database the path is what comes after its name: `""`, `"-wal"`.
    pub fn look(&self, path: &str) -> Option<(u64, u64, u64)> {
        if self.root().is_some() {
            let about = self.metadata(path)?;
            return Some((about.size(), epoch_ns(about.mtime(), about.mtime_nsec()), about.ino()));
        }
        let about = Metadata::from_just_metadata(beside(&self.home, path).metadata().ok()?);
        Some((about.size(), epoch_ns(about.mtime(), about.mtime_nsec()), about.ino()))
    }

    /// Where a regular file of the store really is. What is checked is the path: a name that is
    /// replaced between this and its use is opened as the person could open it themselves.
    fn real(&self, path: &str) -> Result<PathBuf, ServiceError> {
        drop(self.file(path)?);
        let failed = |source| ServiceError::Io { path: shown(path), source };
        let real = self.place_of_directory(path).canonicalize().map_err(failed)?;
        let allowed = real.starts_with(&self.home) || self.links.iter().any(|link| real.starts_with(&link.target));
        if allowed { Ok(real) } else { Err(ServiceError::Outside(shown(path))) }
    }

    /// Metadata of a file of the store; none when there is none, or when it lies outside.
    pub(super) fn metadata(&self, path: &str) -> Option<Metadata> {
        let (dir, rest) = self.resolve(checked(path).ok()?).ok()?;
        dir.metadata(rest).ok()
    }

    pub(super) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Opens a regular file.
    pub(super) fn file(&self, path: &str) -> Result<Arc<OpenFile>, ServiceError> {
        let Some(last) = &self.last else { return Ok(Arc::new(self.open_file(path)?)) };
        let mut last = last.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match last.as_ref().filter(|known| known.entry().path == path) {
            Some(known) => match known.changed()? {
                None => return Ok(Arc::clone(known)),
                Some(changed) => Arc::new(changed),
            },
            None => Arc::new(self.open_file(path)?),
        };
        *last = Some(Arc::clone(&file));
        Ok(file)
    }

    fn open_file(&self, path: &str) -> Result<OpenFile, ServiceError> {
        let (dir, rest) = self.resolve(checked(path)?)?;
        match OpenFile::open(dir, rest, path) {
            Err(ServiceError::Outside(_)) => {}
            result => return result,
        }
        // An absolute link may still lead to a place inside; where it leads is opened by
        // handle again, so a link that changes meanwhile gains nothing.
        let (dir, inside) = self.inside(path).ok_or_else(|| ServiceError::Outside(shown(path)))?;
        OpenFile::open(dir, &inside, path)
    }

    /// The directory handle that a path starts from, and the rest of the path.
    pub(super) fn resolve<'a>(&self, path: &'a str) -> Result<(&Dir, &'a str), ServiceError> {
        let root = self.root().ok_or_else(|| {
            if self.exists {
                ServiceError::Query(format!("store `{}` is a database and has no files", self.name))
            } else {
                ServiceError::NotFound(shown(path))
            }
        })?;
        let link = self.links.iter().find_map(|link| Some((&link.dir, below(path, &link.path)?)));
        Ok(link.unwrap_or((root, path)))
    }

    /// Where a path leads when all its links are followed, if that is in the store.
    pub(super) fn inside(&self, path: &str) -> Option<(&Dir, PathBuf)> {
        let real = self.place_of_directory(path).canonicalize().ok()?;
        let in_link = self.links.iter().find_map(|link| Some((&link.dir, real.strip_prefix(&link.target).ok()?)));
        let in_root = || Some((self.root()?, real.strip_prefix(&self.home).ok()?));
        let (dir, rest) = in_link.or_else(in_root)?;
        Some((dir, rest.to_owned()))
    }
}
