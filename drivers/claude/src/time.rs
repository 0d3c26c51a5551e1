//! Times of records: RFC 3339 as the agent writes them, numbers as other writers do.

pub(crate) use sepia_sdk::time::{milliseconds, of, of_file, of_json};

/// A record may be so much newer than its file before it counts as wrong, seconds: clocks and time
/// zones differ between machines that share a store.
const SLACK: f64 = 86_400.0;

/// As [`of_json`], of a member that is still bytes.
pub(crate) fn of_part(json: Option<&[u8]>) -> Option<f64> {
    of_json(std::str::from_utf8(json?).ok()?)
}

/// Brings a time that lies after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    sepia_sdk::time::not_after(time, file, SLACK)
}
