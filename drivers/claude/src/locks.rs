//! Sessions that a running agent holds: the agent keeps a note for each of its processes.

use crate::json::{Number, Raw, Str, members, parse_file, text_of};
use crate::place::STORE;
use sepia_ir::{DriverError, LockState};
use sepia_sdk::Host;

/// Where the notes are.
const PLACE: &str = "sessions";
/// A longer note is none.
const LONGEST: u32 = 64 << 10;

members! {
    Note {
        pid: Number = "pid",
        session_id: Str<'a> = "sessionId",
        /// Start time of the process in clock ticks, as text or number.
        proc_start: Raw<'a> = "procStart",
    }
}

/// The sessions held now. A note of a process that is gone, or of another process that got
/// its number, counts for nothing.
pub(crate) fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
    let mut locks = Vec::new();
    for file in host.walk(STORE, PLACE, 0, &[".json".to_owned()])?.files {
        if file.bytes > u64::from(LONGEST) {
            continue;
        }
        // A note may vanish between the walk and the look.
        let Ok(bytes) = host.read(STORE, &file.path, 0, LONGEST) else { continue };
        let Some(note) = parse_file::<Note<'_>>(&bytes) else { continue };
        let Some(session) = note.session_id.filled() else { continue };
        let Some(pid) = note.pid.0.and_then(pid_of) else { continue };
        let Some(started) = host.start_ticks(pid) else { continue };
        let noted = note.proc_start.and_then(|raw| {
            let text = text_of(Some(raw)).unwrap_or(std::borrow::Cow::Borrowed(raw.get()));
            text.trim().parse::<u64>().ok()
        });
        if noted.is_none_or(|noted| noted == started) {
            locks.push(LockState { id: session.to_owned(), holder_pid: Some(pid) });
        }
    }
    Ok(locks)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn pid_of(number: f64) -> Option<u32> {
    (number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
}
