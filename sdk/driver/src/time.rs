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
    let milliseconds = match usual_milliseconds(text.as_bytes()) {
        Some(milliseconds) => milliseconds,
        None => text.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
    };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of any year jiff knows are far below 2^53")]
    let seconds = milliseconds as f64 / 1000.0;
    (seconds > 0.0).then_some(seconds)
}

/// `2026-01-31T23:59:59.999Z`, as nearly all records have it: each line of a session has a time,
/// and the general form takes long to read. None for anything else.
fn usual_milliseconds(text: &[u8]) -> Option<i64> {
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
    Some(seconds * 1000 + i64::from(milli))
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
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{not_after, of_json, of_number, of_rfc3339, usual_milliseconds};

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
    fn the_usual_form_is_read_as_the_general_one() {
        let start: jiff::civil::Date = "1969-12-25".parse().unwrap();
        let mut usual = 0;
        for day in 0..50_000 {
            let date = start.checked_add(jiff::Span::new().days(day)).unwrap();
            let text = format!("{date}T{:02}:{:02}:{:02}.{:03}Z", day % 24, day % 60, day % 59, day % 1000);
            let exact = text.parse::<jiff::Timestamp>().unwrap();
            let known = usual_milliseconds(text.as_bytes());
            usual += u32::from(known.is_some());
            assert!(known.is_none_or(|known| known == exact.as_millisecond()), "{text}");
        }
        assert!(usual > 40_000);
        for text in ["2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "2026-01-01t00:00:00.000Z"] {
            assert_eq!(usual_milliseconds(text.as_bytes()), None, "{text}");
        }
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
