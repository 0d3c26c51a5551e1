//! Times of the store: epoch seconds in most columns, milliseconds in some, RFC 3339 in
//! messages.

use std::time::SystemTime;

/// Numbers from here on are milliseconds: in seconds it would be the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;
/// How far ahead a time may lie before it counts as wrong: clocks and time zones differ
/// between machines that share a store.
const SLACK: f64 = 86_000.0;

/// Epoch seconds of a number of seconds or milliseconds; absent when it is no plausible time.
pub(crate) fn seconds(number: f64) -> Option<f64> {
    let time = if number >= FIRST_MILLISECONDS { number / 1000.0 } else { number };
    (time.is_finite() && time > 0.0 && time <= now() + SLACK).then_some(time)
}

/// Epoch milliseconds of a number of seconds or milliseconds; 0 when it is no time.
pub(crate) fn milliseconds(number: f64) -> f64 {
    match number {
        n if !n.is_finite() || n <= 0.0 => 0.0,
        n if n >= FIRST_MILLISECONDS => n,
        n => n * 1000.0,
    }
}

/// Epoch seconds of RFC 3339 text.
pub(crate) fn of_text(text: &str) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
    let parsed = text.parse::<jiff::Timestamp>().ok()?.as_millisecond() as f64 / 1000.0;
    seconds(parsed)
}

/// The time of a file in epoch seconds.
#[expect(clippy::cast_precision_loss, reason = "microseconds are enough")]
pub(crate) fn of_file(modified_ns: u64) -> f64 {
    (modified_ns / 1000) as f64 / 1e6
}

fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(f64::MAX, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{milliseconds, of_text, seconds};

    #[test]
    fn seconds_and_milliseconds_are_told_apart() {
        assert_eq!(seconds(1_767_225_600.0), Some(1_767_225_600.0));
        assert_eq!(seconds(1_767_225_600_250.0), Some(1_767_225_600.25));
        assert_eq!(
            (milliseconds(1_767_225_600.0), milliseconds(1_767_225_600_250.0)),
            (1_767_225_600_000.0, 1_767_225_600_250.0)
        );
        assert_eq!(of_text("2026-01-01T01:00:00.250+01:00"), Some(1_767_225_600.25));
    }

    #[test]
    fn what_is_no_time_is_absent() {
        for number in [0.0, -5.0, f64::NAN, f64::INFINITY, 4_070_908_800.0] {
            assert_eq!(seconds(number), None, "{number}");
        }
        assert_eq!((milliseconds(-1.0), milliseconds(f64::NAN)), (0.0, 0.0));
        for text in ["", "yesterday", "1767225600", "2099-01-01T00:00:00Z"] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
