//! Times of records: RFC 3339 as the agent writes them, numbers as other writers do.

use jiff::fmt::temporal::DateTimePrinter;

pub(crate) use sepia_sdk::time::{milliseconds, of, of_file, of_json};

/// A record may be so much newer than its file before it counts as wrong, seconds: clocks and time
/// zones differ between machines that share a store.
const SLACK: f64 = 86_400.0;

/// Time as the agent writes it: `2026-01-31T23:59:59.999Z`. None of what it could not read again.
pub(crate) fn rfc3339(milliseconds: i64) -> Option<String> {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok().filter(|_| milliseconds > 0)?;
    Some(PRINTER.timestamp_to_string(&time))
}

/// As [`of_json`], of a member that is still bytes.
pub(crate) fn of_part(json: Option<&[u8]>) -> Option<f64> {
    of_json(std::str::from_utf8(json?).ok()?)
}

/// Brings a time that lies after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    sepia_sdk::time::not_after(time, file, SLACK)
}
