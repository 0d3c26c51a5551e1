//! Where a file is to go, and the one beside it that gets there whole.

use super::super::error::ServiceError;
use super::super::path::{joined, shown};
use super::super::store::{LastFile, Store};
use super::trash::TrashEntry;
use super::unfinished::{self, Note};
use super::{MAX_PIECE, changed, refused, strays};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place for a file, and a file beside it that is not seen yet. Dropping it takes that away.
#[derive(Debug)]
pub(in crate::native) struct NewPlace {
    dir: Dir,
    /// The directory's own path, for messages and for programs that open by name.
    real: PathBuf,
    name: String,
    temporary: String,
    /// What the driver calls it: the store and the path.
    store: String,
    path: String,
    trash: Option<Arc<TrashEntry>>,
    /// What was read of the store last is another file once this is in its place.
    read_last: Option<LastFile>,
    note: Option<Note>,
    placed: bool,
}

impl NewPlace {
    /// Finds the place, makes the directories that lead to it, and an empty file beside.
    pub(super) fn find(store: &Store, path: &str, mode: u32) -> Result<Self, ServiceError> {
        let followed = followed(store, path)?;
        let at = followed.as_deref().unwrap_or(path);
        let (parent, name) = at.rsplit_once('/').unwrap_or(("", at));
        let (dir, real, made) = directory(store, parent, path)?;
        strays::sweep(&dir, &real);
        let temporary = strays::name();
        // Without a note, what is left of a process that dies is found when somebody writes into its folder.
        let note = store.trash().and_then(|trash| {
            unfinished::sweep(trash);
            let folders = real.ancestors().take(made).map(Path::to_owned).collect();
            Note::of(trash, real.join(&temporary), folders).ok()
        });
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode & 0o777);
        if let Err(e) = dir.open_with(&temporary, &options) {
            note.iter().for_each(Note::forget_folders);
            return Err(refused(e, path));
        }
        Ok(Self {
            dir,
            real,
            name: name.to_owned(),
            temporary,
            store: store.name().to_owned(),
            path: path.to_owned(),
            trash: store.trash().cloned(),
            read_last: store.last_file(),
            note,
            placed: false,
        })
    }

    /// Where the unseen file is.
    pub(in crate::native) fn beside(&self) -> PathBuf {
        self.real.join(&self.temporary)
    }

    fn open(&self) -> Result<File, ServiceError> {
        let mut options = OpenOptions::new();
        options.write(true);
        Ok(self.dir.open_with(&self.temporary, &options).map_err(|e| refused(e, &self.path))?.into_std())
    }

    /// Puts the file in its place, if that is as expected, and sees to it that it stays there.
    pub(in crate::native) fn put(mut self, expect: Option<u64>) -> Result<(), ServiceError> {
        self.open()?.sync_all().map_err(|e| refused(e, &self.path))?;
        let there = match self.dir.symlink_metadata(&self.name) {
            Ok(about) if about.is_file() => Some(about.len()),
            Ok(_) => return Err(ServiceError::NotRegular(shown(&self.path))),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(refused(e, &self.path)),
        };
        match (expect, there) {
            (None, _) | (Some(0), None) => {}
            (Some(expect), there) if expect != 0 && there == Some(expect) => {}
            (Some(expect), there) => return Err(changed(&self.path, expect, there)),
        }
        if there.is_some() {
            if let Some(trash) = &self.trash {
                trash.keep(&self.store, &self.path, &self.real.join(&self.name))?;
            }
            self.dir.rename(&self.temporary, &self.dir, &self.name).map_err(|e| refused(e, &self.path))?;
        } else {
            self.put_new(expect)?;
        }
        self.placed = true;
        if let Some(last) = &self.read_last {
            last.forget();
        }
        synced(&self.dir).map_err(|e| refused(e, &self.path))
    }

    /// Where there is nothing yet: another program that makes the same file meanwhile wins.
    fn put_new(&self, expect: Option<u64>) -> Result<(), ServiceError> {
        let (from, to) = (self.temporary.as_str(), self.name.as_str());
        let exists = || changed(&self.path, 0, None);
        match rustix::fs::renameat_with(&self.dir, from, &self.dir, to, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::EXIST) if expect.is_some() => Err(exists()),
            Err(rustix::io::Errno::EXIST) => self.dir.rename(from, &self.dir, to).map_err(|e| refused(e, &self.path)),
            // Not every file system knows that call; a second name does the same.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
                match rustix::fs::linkat(&self.dir, from, &self.dir, to, AtFlags::empty()) {
                    Ok(()) => self.dir.remove_file(from).map_err(|e| refused(e, &self.path)),
                    Err(rustix::io::Errno::EXIST) => Err(exists()),
                    Err(_) => self.dir.rename(from, &self.dir, to).map_err(|e| refused(e, &self.path)),
                }
            }
            Err(e) => Err(refused(e.into(), &self.path)),
        }
    }
}

impl Drop for NewPlace {
    fn drop(&mut self) {
        if !self.placed {
            // It may be gone with its directory; nobody sees it by its name.
            let _ = self.dir.remove_file(&self.temporary);
            if let Some(note) = &self.note {
                note.forget_folders();
            }
        }
    }
}

/// A file being written, which is not seen before it is committed. Dropped, it was never there.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    place: NewPlace,
}

impl NewFile {
    pub(super) fn at(place: NewPlace) -> Result<Self, ServiceError> {
        Ok(Self { file: place.open()?, place })
    }

    /// Writes the next bytes.
    pub fn write(&mut self, content: &[u8]) -> Result<(), ServiceError> {
        if content.len() > MAX_PIECE {
            return Err(ServiceError::Query(format!("a piece of a file has at most {MAX_PIECE} bytes")));
        }
        self.file.write_all(content).map_err(|e| refused(e, &self.place.path))
    }

    /// Puts it in its place; see [`Store::replace`] for `expect`.
    pub fn commit(self, expect: Option<u64>) -> Result<(), ServiceError> {
        self.place.put(expect)
    }
}

/// Where a path that is a link leads, as a path of the store; none when it is no link.
fn followed(store: &Store, path: &str) -> Result<Option<String>, ServiceError> {
    let Ok((dir, rest)) = store.resolve(path) else { return Ok(None) };
    if !dir.symlink_metadata(rest).is_ok_and(|about| about.is_symlink()) {
        return Ok(None);
    }
    let outside = || ServiceError::Outside(shown(path));
    let real = store.place_of(path)?.canonicalize().map_err(|_| outside())?;
    Ok(Some(store.path_of(&real).ok_or_else(outside)?))
}

/// The directory of a store at this path, made if it is not there, its own path, and how many of the last directories
/// of that were made.
pub(super) fn directory(store: &Store, parent: &str, path: &str) -> Result<(Dir, PathBuf, usize), ServiceError> {
    let made;
    let (mut dir, rest) = if store.exists() {
        let (dir, rest) = store.resolve(parent)?;
        (dir.try_clone().map_err(|e| refused(e, path))?, rest)
    } else {
        made = store.make()?;
        (made, parent)
    };
    let mut real = store.place_of_directory(parent);
    let mut walked = String::new();
    let mut new = 0;
    for name in rest.split('/').filter(|name| !name.is_empty()) {
        walked = joined(&walked, name);
        dir = match dir.open_dir(name) {
            Ok(next) => next,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let mut builder = DirBuilder::new();
                builder.mode(0o700);
                match dir.create_dir_with(name, &builder) {
                    Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(refused(e, path)),
                    outcome => {
                        new += usize::from(outcome.is_ok());
                        synced(&dir).map_err(|e| refused(e, path))?;
                    }
                }
                dir.open_dir(name).map_err(|e| refused(e, path))?
            }
            // An absolute link may lead to a place inside of the store.
            Err(e) if e.raw_os_error().is_none() && e.kind() == ErrorKind::PermissionDenied => {
                let (root, inside) = store.inside(parent).ok_or_else(|| ServiceError::Outside(shown(path)))?;
                let dir = root.open_dir(inside).map_err(|e| refused(e, path))?;
                real = real.canonicalize().map_err(|e| refused(e, path))?;
                return Ok((dir, real, 0));
            }
            Err(e) => return Err(refused(e, path)),
        };
    }
    Ok((dir, real, new))
}

/// Has the system write down what names a directory holds.
pub(super) fn synced(dir: &Dir) -> io::Result<()> {
    // The directory's own handle only leads to it, and nothing can be written down through such a one.
    let handle = rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let handle = match handle {
        // One that may be written and not read.
        Err(rustix::io::Errno::ACCESS) => return Ok(()),
        handle => handle?,
    };
    match rustix::fs::fsync(&handle) {
        // Some file systems have nothing to write down for a directory.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::ROFS) | Ok(()) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
