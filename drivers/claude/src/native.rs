//! The agent's own bytes of a session.

use crate::place::{self, STORE};
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::{Host, NativeCopy};

/// A transcript being copied.
struct Copy {
    host: Host,
    path: String,
    offset: u64,
    /// Where it ended when the copy began: what the agent adds meanwhile is not part of it.
    end: u64,
}

/// Begins a copy.
pub(crate) fn copy(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
    let located = place::locate(host, session)?;
    if located.inside.is_some() {
        let message = format!(
            "session `{}` is kept inside the file of its parent and has none of its own; copy the parent instead",
            session.id
        );
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    Ok(Box::new(Copy { host: host.clone(), path: located.file.path, offset: 0, end: located.file.bytes }))
}

impl NativeCopy for Copy {
    fn name(&self) -> String {
        self.path.rsplit('/').next().unwrap_or(&self.path).to_owned()
    }

    fn next(&mut self, max: usize) -> Result<Vec<u8>, DriverError> {
        let left = usize::try_from(self.end - self.offset).unwrap_or(usize::MAX);
        let bytes = u32::try_from(left.min(max).min(4 << 20)).unwrap_or(u32::MAX);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let bytes = self.host.read(STORE, &self.path, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}
