//! Times of records: RFC 3339 as the agent writes them, numbers as other writers do.

use crate::json::Raw;

/// Numbers above this are milliseconds: in seconds it would be the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;

/// A record may be this much newer than its file before it counts as wrong: clocks and time
/// zones differ between machines that share a store.
const SLACK: f64 = 86_400.0;

/// Epoch seconds of a timestamp, given as the JSON text of a string or a number of seconds
/// or milliseconds. Absent when it is none or before 1970.
pub(crate) fn seconds(json: &str) -> Option<f64> {
    let time = match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => text_seconds(text)?,
        None => number_seconds(json.parse().ok()?),
    };
    (time.is_finite() && time > 0.0).then_some(time)
}

/// As [`seconds`], of a member.
pub(crate) fn of(raw: Raw<'_>) -> Option<f64> {
    seconds(raw?.get())
}

fn text_seconds(text: &str) -> Option<f64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
        return Some(time.as_millisecond() as f64 / 1000.0);
    }
    text.parse().ok().map(number_seconds)
}

fn number_seconds(number: f64) -> f64 {
    if number >= FIRST_MILLISECONDS { number / 1000.0 } else { number }
}

/// The time of a file in epoch seconds.
#[expect(clippy::cast_precision_loss, reason = "microseconds are enough")]
pub(crate) fn of_file(modified_ns: u64) -> f64 {
    (modified_ns / 1000) as f64 / 1e6
}

/// Brings a time that lies after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    if time > file + SLACK { (file, true) } else { (time, false) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{not_after, seconds};

    #[test]
    fn text_seconds_and_milliseconds_are_told_apart() {
        assert_eq!(seconds("\"2026-01-01T00:00:00.250Z\""), Some(1_767_225_600.25));
        assert_eq!(seconds("\"2026-01-01T01:00:00+01:00\""), Some(1_767_225_600.0));
        assert_eq!(seconds("1767225600"), Some(1_767_225_600.0));
        assert_eq!(seconds("1767225600250"), Some(1_767_225_600.25));
        assert_eq!(seconds("\"1767225600\""), Some(1_767_225_600.0));
    }

    #[test]
    fn what_is_no_time_is_absent() {
        for json in ["null", "true", "\"\"", "\"yesterday\"", "-5", "1e999", "{}", "\"NaN\""] {
            assert_eq!(seconds(json), None, "{json}");
        }
    }

    #[test]
    fn a_time_far_after_its_file_is_brought_back() {
        assert_eq!(not_after(4_070_908_800.0, 1_767_225_600.0), (1_767_225_600.0, true));
        assert_eq!(not_after(1_767_225_700.0, 1_767_225_600.0), (1_767_225_700.0, false));
    }
}
