//! Times of records: ISO 8601 text in the manifest and the index, numbers of milliseconds in
//! transcripts. Other writers have been seen to use seconds, so both are told apart.

use sepia_sdk::json::Raw;

/// Numbers above this are milliseconds: in seconds it would be the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;

/// A record may be so much newer than its file before it counts as wrong, seconds: the clock of
/// the file system ticks more coarsely than the one that the agent reads.
const SLACK: f64 = 1.0;

/// Epoch seconds of a text. Absent when it is none or before 1970.
pub(crate) fn of_text(text: &str) -> Option<f64> {
    let time = match text.parse::<jiff::Timestamp>() {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
        Ok(time) => time.as_millisecond() as f64 / 1000.0,
        Err(_) => of_number(text.parse().ok()?)?,
    };
    plausible(time)
}

/// Epoch seconds of a number of seconds or milliseconds.
pub(crate) fn of_number(number: f64) -> Option<f64> {
    plausible(if number >= FIRST_MILLISECONDS { number / 1000.0 } else { number })
}

/// Epoch seconds of a member, text or number.
pub(crate) fn of(raw: Raw<'_>) -> Option<f64> {
    let json = raw?.get();
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => of_text(text),
        None => of_number(json.parse().ok()?),
    }
}

/// Epoch seconds that an id begins with, as those do that the agent makes: milliseconds, then
/// `_` or nothing.
pub(crate) fn of_id(id: &str) -> Option<f64> {
    let digits = id.split('_').find(|part| part.len() >= 12 && part.bytes().all(|b| b.is_ascii_digit()))?;
    of_number(digits.parse().ok()?)
}

fn plausible(time: f64) -> Option<f64> {
    (time.is_finite() && time > 0.0).then_some(time)
}

/// The time of a file in epoch seconds.
#[expect(clippy::cast_precision_loss, reason = "microseconds are enough")]
pub(crate) fn of_file(modified_ns: u64) -> f64 {
    (modified_ns / 1000) as f64 / 1e6
}

/// The newest time that a record of a file can have.
pub(crate) fn bound(file: f64) -> f64 {
    file + SLACK
}

/// Brings a time that lies after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    if time > bound(file) { (file, true) } else { (time, false) }
}

/// Epoch milliseconds of epoch seconds.
pub(crate) fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{not_after, of_id, of_number, of_text};

    #[test]
    fn text_seconds_and_milliseconds_are_told_apart() {
        assert_eq!(of_text("2026-01-01T00:00:00.250Z"), Some(1_767_225_600.25));
        assert_eq!(of_text("2026-01-01T01:00:00+01:00"), Some(1_767_225_600.0));
        assert_eq!(of_text("1767225600250"), Some(1_767_225_600.25));
        assert_eq!(of_number(1_767_225_600.0), Some(1_767_225_600.0));
        assert_eq!(of_number(1_767_225_600_250.0), Some(1_767_225_600.25));
        for none in ["", "yesterday", "-5", "1e999", "NaN"] {
            assert_eq!(of_text(none), None, "{none}");
        }
    }

    #[test]
    fn ids_tell_when_they_were_made() {
        assert_eq!(of_id("1796033865816_tttmi"), Some(1_796_033_865.816));
        assert_eq!(of_id("agent_1796033878295_t9nnmi"), Some(1_796_033_878.295));
        assert_eq!(of_id("1700000000001"), Some(1_700_000_000.001));
        assert_eq!(of_id("scout__aIFHpe"), None);
    }

    #[test]
    fn a_time_after_its_file_is_brought_back() {
        assert_eq!(not_after(4_070_908_800.0, 1_767_225_600.0), (1_767_225_600.0, true));
        assert_eq!(not_after(1_767_225_600.5, 1_767_225_600.0), (1_767_225_600.5, false));
    }
}
