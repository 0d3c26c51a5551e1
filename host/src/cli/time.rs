//! Times as people write and read them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ZonedDateTime};

/// A time as epoch seconds: `2d` or `3h` (ago), `2026-01-31` (its start here), or ISO 8601.
pub(super) fn since(text: &str) -> Result<f64, String> {
    let seconds = |time: Timestamp| time.as_duration().as_secs_f64();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(seconds(time));
    }
    if let Ok(date) = text.parse::<Date>() {
        return date
            .to_zoned_datetime(TimeZone::system())
            .map(|start| seconds(start.timestamp()))
            .map_err(|e| e.to_string());
    }
    if let Ok(span) = text.trim_end_matches("ago").trim().parse::<Span>() {
        let ago = if span.is_negative() { span.negate() } else { span };
        return ZonedDateTime::now().checked_sub(ago).map(|then| seconds(then.timestamp())).map_err(|e| e.to_string());
    }
    Err("write `2d`, `3h`, `2026-01-31`, or an ISO 8601 time".to_owned())
}

/// How long ago, in few characters; a date when it is long ago.
pub(super) fn ago(epoch_seconds: f64, now: Timestamp) -> String {
    let Some(then) = timestamp(epoch_seconds) else { return "-".to_owned() };
    let seconds = now.as_second() - then.as_second();
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => local(epoch_seconds, "%Y-%m-%d"),
    }
}

/// A time here, in a `strftime` form; `-` when there is none.
pub(super) fn local(epoch_seconds: f64, form: &str) -> String {
    let zoned = timestamp(epoch_seconds).map(|time| time.to_zoned_datetime(TimeZone::system()));
    zoned.map_or_else(|| "-".to_owned(), |time| time.strftime(form).to_string())
}

fn timestamp(epoch_seconds: f64) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and what is out of range has no date")]
    let millis = (epoch_seconds * 1000.0) as i64;
    if millis == 0 { None } else { Timestamp::from_millisecond(millis).ok() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{ago, since};
    use jiff::Timestamp;

    #[test]
    fn times_as_people_write_them() {
        assert!((since("2026-01-31T00:00:00Z").unwrap() - 1_769_817_600.0).abs() < 1e-6);
        let now = Timestamp::now().as_duration().as_secs_f64();
        for text in ["2d", "2d ago", "48h"] {
            assert!((now - since(text).unwrap() - 172_800.0).abs() < 3_700.0, "{text}");
        }
        assert!(since("2026-01-31").is_ok());
        for text in ["", "soon", "31.1.2026", "2026-13-01"] {
            assert!(since(text).is_err(), "{text}");
        }
    }

    #[test]
    fn how_long_ago() {
        let now = Timestamp::from_second(1_000_000_000).unwrap();
        let at = |seconds: i32| ago(1_000_000_000.0 - f64::from(seconds), now);
        assert_eq!([at(0), at(59), at(60), at(3_600), at(86_400 * 3)], ["now", "now", "1m ago", "1h ago", "3d ago"]);
        assert_eq!(ago(0.0, now), "-");
        assert_eq!(ago(f64::NAN, now), "-");
        assert_eq!(ago(f64::INFINITY, now), "-");
    }
}
