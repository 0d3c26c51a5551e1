//! Times of the store: epoch seconds in most columns, milliseconds in some, RFC 3339 in
//! messages.

use sepia_sdk::time::{of_number, of_rfc3339};
use std::time::SystemTime;

pub(crate) use sepia_sdk::time::of_file;

/// How far ahead a time may lie before it counts as wrong: clocks and time zones differ
/// between machines that share a store.
const SLACK: f64 = 86_000.0;

/// Epoch seconds of a number of seconds or milliseconds; absent when it is no plausible time.
pub(crate) fn plausible(number: f64) -> Option<f64> {
    of_number(number).filter(|time| *time <= now() + SLACK)
}

/// Epoch milliseconds of a number of seconds or milliseconds; 0 when it is no time.
pub(crate) fn stored_milliseconds(number: f64) -> f64 {
    of_number(number).map_or(0.0, |seconds| if seconds < number { number } else { number * 1000.0 })
}

/// Epoch seconds of RFC 3339 text.
pub(crate) fn of_text(text: &str) -> Option<f64> {
    of_rfc3339(text).and_then(plausible)
}

/// RFC 3339 text of epoch seconds, to the millisecond, as the agent writes it.
pub(crate) fn text(seconds: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "checked by the range that a timestamp has")]
    let milliseconds = (seconds * 1000.0).round() as i64;
    jiff::Timestamp::from_millisecond(milliseconds).ok().map(|time| format!("{time:.3}"))
}

/// Epoch seconds.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(f64::MAX, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{of_text, plausible, stored_milliseconds, text};

    #[test]
    fn seconds_and_milliseconds_are_told_apart() {
        assert_eq!(plausible(1_767_225_600.0), Some(1_767_225_600.0));
        assert_eq!(plausible(1_767_225_600_250.0), Some(1_767_225_600.25));
        assert_eq!(
            (stored_milliseconds(1_767_225_600.0), stored_milliseconds(1_767_225_600_250.0)),
            (1_767_225_600_000.0, 1_767_225_600_250.0)
        );
        assert_eq!(of_text("2026-01-01T01:00:00.250+01:00"), Some(1_767_225_600.25));
    }

    #[test]
    fn a_written_time_reads_as_it_was() {
        assert_eq!(text(1_767_225_600.25).as_deref(), Some("2026-01-01T00:00:00.250Z"));
        assert_eq!(of_text(&text(1_767_225_600.007).unwrap_or_default()), Some(1_767_225_600.007));
        assert_eq!(text(1e300), None);
    }

    #[test]
    fn what_is_no_time_is_absent() {
        for number in [0.0, -5.0, f64::NAN, f64::INFINITY, 4_070_908_800.0] {
            assert_eq!(plausible(number), None, "{number}");
        }
        assert_eq!((stored_milliseconds(-1.0), stored_milliseconds(f64::NAN)), (0.0, 0.0));
        for text in ["", "yesterday", "1767225600", "2099-01-01T00:00:00Z"] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
