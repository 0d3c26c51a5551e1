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

/// As [`seconds`], of a member that is still bytes.
pub(crate) fn of_part(json: Option<&[u8]>) -> Option<f64> {
    let json = json?;
    let inner = json.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    inner.and_then(usual_seconds).or_else(|| seconds(std::str::from_utf8(json).ok()?))
}

fn text_seconds(text: &str) -> Option<f64> {
    if let Some(time) = usual_seconds(text.as_bytes()) {
        return Some(time);
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
        return Some(time.as_millisecond() as f64 / 1000.0);
    }
    text.parse().ok().map(number_seconds)
}

/// `2026-01-31T23:59:59.999Z`, as nearly all records have it, ten times as fast as the general
/// form; each line of a session has a time. None for anything else.
fn usual_seconds(text: &[u8]) -> Option<f64> {
    const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let text: &[u8; 24] = text.try_into().ok()?;
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if !text.iter().zip(FORM).all(fits) {
        return None;
    }
    let number =
        |from: usize, digits: usize| text[from..from + digits].iter().fold(0, |n, d| n * 10 + i32::from(d - b'0'));
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2));
    let (hour, minute, second, milli) = (number(11, 2), number(14, 2), number(17, 2), number(20, 3));
    // What is not in every month or minute is for those who know.
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=28).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970 of the Gregorian calendar, with years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = i64::from(days) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of these years are far below 2^53")]
    Some((seconds * 1000 + i64::from(milli)) as f64 / 1000.0)
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
    #![allow(clippy::float_cmp, clippy::unwrap_used, reason = "exact by construction; a test may panic")]
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
    fn the_usual_form_is_read_as_the_general_one() {
        let start: jiff::civil::Date = "1969-12-25".parse().unwrap();
        let mut usual = 0;
        for day in 0..50_000 {
            let date = start.checked_add(jiff::Span::new().days(day)).unwrap();
            let text = format!("{date}T{:02}:{:02}:{:02}.{:03}Z", day % 24, day % 60, day % 59, day % 1000);
            let exact = text.parse::<jiff::Timestamp>().unwrap();
            let known = super::usual_seconds(text.as_bytes());
            usual += u32::from(known.is_some());
            let milliseconds = known.map(|seconds| format!("{:.0}", seconds * 1000.0));
            assert!(milliseconds.is_none_or(|known| known == exact.as_millisecond().to_string()), "{text}");
        }
        assert!(usual > 40_000);
        for text in ["2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01t00:00:00.000Z"] {
            assert_eq!(super::usual_seconds(text.as_bytes()), None, "{text}");
        }
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
