//! Times of records, as epoch seconds. Writers use RFC 3339, seconds, and milliseconds; which it
//! is shows in the value.

use crate::json::Raw;

/// Numbers from here on are milliseconds: in seconds it would be the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;

/// Epoch seconds of a number of seconds or milliseconds. Absent when it is no time, or none after
/// 1970 began.
pub fn of_number(number: f64) -> Option<f64> {
    let seconds = if number >= FIRST_MILLISECONDS { number / 1000.0 } else { number };
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

/// Epoch seconds of RFC 3339 text, exact to the millisecond.
pub fn of_rfc3339(text: &str) -> Option<f64> {
    let time = text.parse::<jiff::Timestamp>().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
    let seconds = time.as_millisecond() as f64 / 1000.0;
    (seconds > 0.0).then_some(seconds)
}

/// Epoch seconds of text: RFC 3339, or a number.
pub fn of_text(text: &str) -> Option<f64> {
    of_rfc3339(text).or_else(|| of_number(text.parse().ok()?))
}

/// Epoch seconds of a JSON text, a string or a number.
pub fn of_json(json: &str) -> Option<f64> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => of_text(text),
        None => of_number(json.parse().ok()?),
    }
}

/// As [`of_json`], of a member.
pub fn of(raw: Raw<'_>) -> Option<f64> {
    of_json(raw?.get())
}

/// Epoch seconds of the nanoseconds that a file is dated with.
#[expect(clippy::cast_precision_loss, reason = "microseconds are enough")]
pub fn of_file(modified_ns: u64) -> f64 {
    (modified_ns / 1000) as f64 / 1e6
}

/// Whole epoch milliseconds of epoch seconds.
pub fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round()
}

/// Brings a time that lies more than `slack` seconds after its file's own back to it; says whether it
/// had to.
pub fn not_after(time: f64, file: f64, slack: f64) -> (f64, bool) {
    if time > file + slack { (file, true) } else { (time, false) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{not_after, of_json, of_number, of_rfc3339};

    #[test]
    fn text_seconds_and_milliseconds_are_told_apart() {
        assert_eq!(of_json("\"2026-01-01T00:00:00.250Z\""), Some(1_767_225_600.25));
        assert_eq!(of_json("\"2026-01-01T01:00:00+01:00\""), Some(1_767_225_600.0));
        assert_eq!(of_json("\"1767225600250\""), Some(1_767_225_600.25));
        assert_eq!(of_json("1767225600"), Some(1_767_225_600.0));
        assert_eq!(of_number(1_767_225_600_250.0), Some(1_767_225_600.25));
        assert_eq!(of_rfc3339("1767225600"), None);
    }

    #[test]
    fn what_is_no_time_is_absent() {
        let none = ["null", "true", "\"\"", "\"yesterday\"", "-5", "1e999", "{}", "\"NaN\"", "0"];
        for json in none.into_iter().chain(["\"1969-12-31T23:59:59Z\""]) {
            assert_eq!(of_json(json), None, "{json}");
        }
    }

    #[test]
    fn a_time_far_after_its_file_is_brought_back() {
        assert_eq!(not_after(4_070_908_800.0, 1_767_225_600.0, 1.0), (1_767_225_600.0, true));
        assert_eq!(not_after(1_767_225_600.5, 1_767_225_600.0, 1.0), (1_767_225_600.5, false));
    }
}
