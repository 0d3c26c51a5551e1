//! The agent's own bytes of a session.

use crate::database::Index as Database;
use crate::locate::locate;
use crate::pieces::Place;
use crate::session;
use crate::task;
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::{Host, NativeCopy};

/// A transcript being copied.
struct Copy {
    host: Host,
    place: Place,
    offset: u64,
}

/// Begins a copy.
pub(crate) fn copy(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
    let database = Database::new(host, Vec::new());
    let kept = locate(host, session, &database)?;
    let found = session::find(host, &kept, &database, &task::Lists::new(host))?;
    let found = found.ok_or_else(|| DriverError::unknown_session(&session.id))?;
    let source = found.source.ok_or_else(|| {
        let message = format!("session `{}` has no file of messages to copy", session.id);
        DriverError::new(ErrorCode::Unsupported, message)
    })?;
    Ok(Box::new(Copy { host: host.clone(), place: source.place, offset: 0 }))
}

impl NativeCopy for Copy {
    fn name(&self) -> String {
        self.place.path.rsplit('/').next().unwrap_or(&self.place.path).to_owned()
    }

    fn next(&mut self, max: usize) -> Result<Vec<u8>, DriverError> {
        let left = usize::try_from(self.place.bytes.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let bytes = u32::try_from(left.min(max).min(4 << 20)).unwrap_or(u32::MAX);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let bytes = self.host.read(self.place.store, &self.place.path, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}
