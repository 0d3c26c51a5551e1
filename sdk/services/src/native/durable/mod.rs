//! Writing that is atomic and durable: what was there before, or all that was to be written,
//! whatever happens, and on disk when a call returns.
//!
//! ```text
//! place      where a file is to go, and the one beside it that gets there whole
//! append     bytes at the end of a file
//! trash      where what is taken away, or written over, can be brought back from
//! strays     what a process that died left beside
//! unfinished notes of what is being written, by which the same is found where nobody writes again
//! ```

mod append;
mod place;
mod strays;
mod trash;
mod unfinished;

pub use place::NewFile;
pub(super) use place::NewPlace;
pub use strays::{is_unseen, name as unseen_name, swept as unseen_swept};
pub use trash::{Item, TrashEntry};

use super::error::ServiceError;
use super::path::{checked, shown};
use super::sqlite::WriteConnection;
use super::store::Store;
use std::io;

/// Bytes of one piece of a file that is written at once, at most.
const MAX_PIECE: usize = 64 << 20;

impl Store {
    /// Writes a whole file: beside, then over what is there. Directories on the way are made.
    /// With `expect`, `Changed` unless the file is still so long; 0 says that there is none.
    pub fn replace(&self, path: &str, content: &[u8], mode: u32, expect: Option<u64>) -> Result<(), ServiceError> {
        let mut file = self.create(path, mode)?;
        file.write(content)?;
        file.commit(expect)
    }

    /// Appends to a file that is `expect` bytes long and, when not empty, ends in a line feed.
    pub fn append(&self, path: &str, content: &[u8], expect: u64) -> Result<(), ServiceError> {
        self.writable()?;
        self.forget_last();
        append::append(self, checked(path)?, content, expect)
    }

    /// A file to be written piece by piece, which is there when it is committed.
    pub fn create(&self, path: &str, mode: u32) -> Result<NewFile, ServiceError> {
        self.writable()?;
        NewFile::at(NewPlace::find(self, checked(path)?, mode)?)
    }

    /// Moves a file or folder into the trash of this call; its bytes.
    pub fn discard(&self, path: &str) -> Result<u64, ServiceError> {
        self.writable()?;
        self.forget_last();
        let place = self.place_of(checked(path)?)?;
        let Some(trash) = self.trash() else {
            return Err(ServiceError::Query("this call has no trash to move things into".into()));
        };
        trash.take(self.name(), path, &place)
    }

    /// Opens a database for writing; `path` is empty when the store itself is one. There has to
    /// be one.
    pub fn writable_database(&self, path: &str) -> Result<WriteConnection, ServiceError> {
        self.writable()?;
        let (file, name) = self.database_file(path)?;
        WriteConnection::open(&file, name, self.deadline())
    }

    /// A new database, which gets to its place when its transaction is committed; `Changed` then,
    /// when there is something already.
    pub fn new_database(&self, path: &str, mode: u32) -> Result<WriteConnection, ServiceError> {
        self.writable()?;
        WriteConnection::create(NewPlace::find(self, checked(path)?, mode)?, shown(path), self.deadline())
    }
}

/// The system's refusal to write.
fn refused(error: io::Error, path: &str) -> ServiceError {
    match error.kind() {
        // The directory's own refusal to be left carries no number of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => ServiceError::Outside(shown(path)),
        io::ErrorKind::NotFound => ServiceError::NotFound(shown(path)),
        _ => ServiceError::Write { path: shown(path), source: error },
    }
}

/// Something is not as the driver believes.
fn changed(path: &str, expect: u64, found: Option<u64>) -> ServiceError {
    let path = shown(path);
    ServiceError::Changed(match (expect, found) {
        (0, _) => format!("`{path}` is there already; it was to be made anew"),
        (_, None) => format!("`{path}` is gone; another program took it away meanwhile"),
        (_, Some(found)) => format!("`{path}` has {found} bytes where {expect} were read; another program changed it"),
    })
}
