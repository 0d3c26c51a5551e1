//! A folder of entries that only this user can have written: derived, keyed, authenticated.
//!
//! An entry is used only when it carries a message authentication code made with a key that
//! nobody but this user can read, over its content and its name. Whatever raises a doubt is
//! made again. Who has the user's own identity is out of scope: he can replace this program
//! as well.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const MAGIC: &[u8; 8] = b"sepia\0c\x02";
const TAG: usize = 32;
/// Bytes of an entry that are read, looked at and written at once: they stay in the second-level cache.
const PIECE: usize = 128 << 10;
/// An entry is at most so large; ordinary ones have three or four MiB.
const MOST_BYTES: u64 = 512 << 20;
/// Entries of one kind that are kept; the ones that were written first go.
const MOST_ENTRIES: usize = 64;
const KEY_FILE: &str = "key";

/// The folder.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    place: PathBuf,
    warned: AtomicBool,
}

/// Why an entry, or the folder, isn't used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Doubt {
    #[error("there is no entry yet")]
    Absent,
    #[error("{0}")]
    Unsafe(&'static str),
    #[error("the system refused: {0}")]
    System(#[from] Errno),
    #[error("it can't be read or written: {0}")]
    Io(#[from] std::io::Error),
    #[error("it is of no use: {0}")]
    Useless(String),
}

impl PrivateFolder {
    /// The folder of this name, which is made when it is needed.
    pub(super) fn new(place: PathBuf) -> Self {
        Self { place, warned: AtomicBool::new(false) }
    }

    /// What `read` makes of the entry of this name, if there is one beyond doubt.
    pub(super) fn take<T>(&self, name: &str, read: impl FnOnce(&[u8]) -> Result<T, Doubt>) -> Option<T> {
        self.take_into(name, Vec::new(), |entry| read(&entry))
    }

    /// The same of the entry once it was written into `place`, which is dropped when there is a doubt.
    pub(super) fn take_into<P: Write, T>(
        &self,
        name: &str,
        place: P,
        read: impl FnOnce(P) -> Result<T, Doubt>,
    ) -> Option<T> {
        let folder = self.folder().ok()?;
        match self.read(&folder, name, place).and_then(read) {
            Ok(value) => Some(value),
            Err(Doubt::Absent) => None,
            Err(doubt) => {
                self.doubtful(name, &doubt);
                // A failure leaves the entry to be replaced by the rename that follows.
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
                None
            }
        }
    }

    /// Keeps an entry. A failure costs the next start some work, nothing else.
    pub(super) fn put(&self, name: &str, content: Result<Vec<u8>, Doubt>) {
        let kept = content.and_then(|content| {
            let folder = self.folder()?;
            let key = self.key(&folder)?;
            let tag = code_over(&key, name).update(&content).finalize();
            replace(&folder, name, &[MAGIC, tag.as_bytes(), &content])?;
            prune(&folder, name)
        });
        if let Err(doubt) = kept {
            self.doubtful(name, &doubt);
        }
    }

    fn doubtful(&self, name: &str, doubt: &Doubt) {
        let place = self.place.display();
        if matches!(doubt, Doubt::Unsafe(_)) && !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "compiled drivers in {place} are not used as they are ({doubt}); drivers are compiled again"
            );
        } else {
            tracing::debug!("compiled driver {name} in {place}: {doubt}; it is compiled again");
        }
    }

    /// The folder, opened, when nobody else can write to it.
    fn folder(&self) -> Result<OwnedFd, Doubt> {
        let opened = open_folder(&self.place);
        if let Err(doubt) = &opened {
            self.doubtful("(the folder)", doubt);
        }
        opened
    }

    /// Copies an entry into `place`. What came of it counts only when this succeeds.
    fn read<P: Write>(&self, folder: &OwnedFd, name: &str, mut place: P) -> Result<P, Doubt> {
        let mut file = open_private(folder, name, 0o022)?;
        let key = self.key(folder)?;
        let damaged = || Doubt::Unsafe("an entry was damaged or changed by somebody");
        let mut head = [0; MAGIC.len() + TAG];
        file.read_exact(&mut head).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => damaged(),
            _ => e.into(),
        })?;
        let tag = head.strip_prefix(MAGIC).and_then(|tag| <[u8; TAG]>::try_from(tag).ok()).ok_or_else(damaged)?;
        let mut code = code_over(&key, name);
        let mut piece = vec![0; PIECE];
        loop {
            let bytes = match file.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                count => &piece[..count?],
            };
            if bytes.is_empty() {
                break;
            }
            // The very bytes that are written are the ones that are looked at.
            code.update(bytes);
            place.write_all(bytes)?;
        }
        // Compares in constant time.
        if code.finalize() != blake3::Hash::from_bytes(tag) {
            return Err(damaged());
        }
        Ok(place)
    }

    /// The key, made at first use. One that is not private or not whole is replaced, which
    /// makes every entry doubtful.
    fn key(&self, folder: &OwnedFd) -> Result<[u8; 32], Doubt> {
        for _ in 0..3 {
            match read_key(folder) {
                Ok(key) => return Ok(key),
                Err(Doubt::Absent) => {}
                Err(doubt) => {
                    self.doubtful(KEY_FILE, &doubt);
                    rustix::fs::unlinkat(folder, KEY_FILE, AtFlags::empty())?;
                }
            }
            // Linked into place whole: of two processes that start at once, one wins and both
            // read its key.
            let temporary = write_temporary(folder, &[&random_key()])?;
            let linked = rustix::fs::linkat(folder, &temporary, folder, KEY_FILE, AtFlags::empty());
            rustix::fs::unlinkat(folder, &temporary, AtFlags::empty())?;
            match linked {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Doubt::Unsafe("its key changes all the time"))
    }
}

/// BLAKE3 in its keyed mode, which is a message authentication code, of an entry of this name; its
/// content is to follow.
fn code_over(key: &[u8; 32], name: &str) -> blake3::Hasher {
    let mut code = blake3::Hasher::new_keyed(key);
    code.update(name.as_bytes());
    code.update(&[0]);
    code
}

fn open_folder(place: &Path) -> Result<OwnedFd, Doubt> {
    if let Err(error) =
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700).create(place)
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(error.into());
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match rustix::fs::open(place, flags, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(Doubt::Unsafe("the folder is a link or a file")),
        other => other?,
    };
    owned(&rustix::fs::fstat(&folder)?, 0o022)?;
    Ok(folder)
}

/// Whether this user owns it and nobody else has one of the rights in `forbidden`.
fn owned(stat: &Stat, forbidden: u32) -> Result<(), Doubt> {
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Doubt::Unsafe("somebody else owns it"));
    }
    if stat.st_mode & forbidden != 0 {
        return Err(Doubt::Unsafe("somebody else may change or read it"));
    }
    Ok(())
}

/// Opens a regular file of the folder, following no link and waiting for no pipe.
fn open_private(folder: &OwnedFd, name: &str, forbidden: u32) -> Result<File, Doubt> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Err(Doubt::Absent),
        Err(Errno::LOOP) => return Err(Doubt::Unsafe("an entry is a link")),
        other => other?,
    };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Doubt::Unsafe("an entry is no regular file"));
    }
    owned(&stat, forbidden)?;
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > MOST_BYTES {
        return Err(Doubt::Unsafe("an entry is larger than any can be"));
    }
    Ok(file.into())
}

fn read_key(folder: &OwnedFd) -> Result<[u8; 32], Doubt> {
    let mut bytes = Vec::with_capacity(33);
    open_private(folder, KEY_FILE, 0o077)?.take(33).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| Doubt::Unsafe("its key is not whole"))
}

/// 256 bits from the system's generator: a version 4 uuid has 122 random ones.
fn random_key() -> [u8; 32] {
    let mut hasher = Sha256::new();
    for _ in 0..4 {
        hasher.update(uuid::Uuid::new_v4().as_bytes());
    }
    hasher.finalize().into()
}

fn write_temporary(folder: &OwnedFd, parts: &[&[u8]]) -> Result<String, Doubt> {
    let name = format!(".{}.new", uuid::Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR)?);
    for part in parts {
        if let Err(error) = file.write_all(part) {
            let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
            return Err(error.into());
        }
    }
    Ok(name)
}

fn replace(folder: &OwnedFd, name: &str, parts: &[&[u8]]) -> Result<(), Doubt> {
    let temporary = write_temporary(folder, parts)?;
    rustix::fs::renameat(folder, &temporary, folder, name)?;
    Ok(())
}

/// Keeps the folder small: each build of each driver leaves an entry.
fn prune(folder: &OwnedFd, newest: &str) -> Result<(), Doubt> {
    let kind = newest.rsplit_once('.').map_or("", |(_, kind)| kind).as_bytes();
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes().ends_with(kind) || name.to_bytes().ends_with(b".new") {
            let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            entries.push((stat.st_mtime, name.to_owned()));
        }
    }
    entries.sort_unstable();
    for (_, name) in entries.iter().take(entries.len().saturating_sub(MOST_ENTRIES)) {
        rustix::fs::unlinkat(folder, name.as_c_str(), AtFlags::empty())?;
    }
    Ok(())
}
