//! The agent's own bytes of a session.

use crate::key::Kind;
use crate::locate::locate;
use crate::places::CURSOR;
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::{Host, NativeCopy};

/// A transcript being copied.
struct Copy {
    host: Host,
    path: String,
    offset: u64,
}

/// Begins a copy. Only a session that is a transcript is a file that can be handed out: a
/// database may be unfinished without its log, and may hold the key that its agent encrypts with.
pub(crate) fn copy(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
    let record = locate(host, session)?;
    match &record.file {
        Some(source) if matches!(source.kind, Kind::Transcript | Kind::FlatLines | Kind::FlatJson | Kind::FlatText) => {
            Ok(Box::new(Copy { host: host.clone(), path: source.path.clone(), offset: 0 }))
        }
        _ => {
            let message = format!(
                "session `{}` is kept in a database, which is no file to hand out; export it as JSON instead",
                record.session.id
            );
            Err(DriverError::new(ErrorCode::Unsupported, message))
        }
    }
}

impl NativeCopy for Copy {
    fn name(&self) -> String {
        self.path.rsplit('/').next().unwrap_or(&self.path).to_owned()
    }

    fn next(&mut self, max: usize) -> Result<Vec<u8>, DriverError> {
        let bytes = u32::try_from(max.clamp(1, 4 << 20)).unwrap_or(1);
        let bytes = self.host.read(CURSOR, &self.path, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}
