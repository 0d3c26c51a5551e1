//! Times as the stores keep them: epoch milliseconds, RFC 3339, and the dates that prompts are
//! stamped with.

use jiff::civil::Date;
use jiff::tz::Offset;

pub(crate) use sepia_sdk::time::{of_file, of_number};

/// A record may be this much newer than its file before it counts as wrong: clocks and time
/// zones differ between machines that share a store.
pub(crate) const SLACK: f64 = 86_400.0;

/// Epoch seconds of protobuf milliseconds, in which 0 is absent.
#[expect(clippy::cast_precision_loss, reason = "milliseconds are far below 2^53")]
pub(crate) fn of_ms(milliseconds: u64) -> Option<f64> {
    of_number(milliseconds as f64)
}

/// Brings a time that lies long after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    sepia_sdk::time::not_after(time, file, SLACK)
}

/// Epoch seconds of a written time: RFC 3339, a number, or as the agent stamps prompts,
/// `Monday, Oct 12, 2026, 9:00 AM (UTC+2)`. Without a zone it is taken as UTC.
pub(crate) fn of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(time) = sepia_sdk::time::of_text(text) {
        return Some(time);
    }
    if let Ok(civil) = text.parse::<jiff::civil::DateTime>() {
        return utc(civil, Offset::UTC);
    }
    stamped(text)
}

fn utc(civil: jiff::civil::DateTime, offset: Offset) -> Option<f64> {
    let time = offset.to_timestamp(civil).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    of_number(time.as_second() as f64)
}

fn stamped(text: &str) -> Option<f64> {
    let (date_time, offset) = match text.split_once('(') {
        Some((before, zone)) => (before, zone_offset(zone.trim_end_matches(')').trim())?),
        None => (text, Offset::UTC),
    };
    let words: Vec<&str> = date_time.split([',', ' ']).filter(|word| !word.is_empty() && *word != "at").collect();
    let month_at = words.iter().position(|word| month(word).is_some())?;
    let number = |at: usize| words.get(at)?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<i16>().ok();
    let day = i8::try_from(number(month_at + 1)?).ok()?;
    let date = Date::new(number(month_at + 2)?, month(words[month_at])?, day).ok()?;
    let mut parts = words.get(month_at + 3).copied().unwrap_or("0:00").split(':');
    let mut part = || parts.next().unwrap_or("0").parse::<i8>().ok();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let hour = match words.get(month_at + 4).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("pm") if hour < 12 => hour + 12,
        Some("am") if hour == 12 => 0,
        _ => hour,
    };
    utc(date.to_datetime(jiff::civil::Time::new(hour, minute, second, 0).ok()?), offset)
}

/// Number of a month by the first three letters of its name.
fn month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = word.get(..3)?.to_ascii_lowercase();
    let letters = word.chars().all(|c| c.is_ascii_alphabetic() || c == '.');
    let at = NAMES.iter().position(|name| letters && *name == start)?;
    i8::try_from(at + 1).ok()
}

/// `UTC+2`, `UTC-03:30`, `GMT`.
fn zone_offset(zone: &str) -> Option<Offset> {
    let rest = zone.strip_prefix("UTC").or_else(|| zone.strip_prefix("GMT"))?.trim();
    if rest.is_empty() {
        return Some(Offset::UTC);
    }
    let (sign, rest) = match rest.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, rest.strip_prefix(['-', '\u{2212}'])?),
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes) = (hours.parse::<u8>().ok()?, minutes.parse::<u8>().ok()?);
    Offset::from_seconds(sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::{of_number, of_text};

    #[test]
    fn times_are_read_in_all_their_forms() {
        // 2026-10-12T09:00:00Z is 1 791 795 600.
        for text in [
            "2026-10-12T09:00:00Z",
            "2026-10-12T11:00:00+02:00",
            "2026-10-12 09:00:00",
            "1791795600",
            "1791795600000",
            "Monday, Oct 12, 2026, 9:00 AM (UTC+0)",
            "Monday, Oct 12, 2026, 11:00 AM (UTC+2)",
            "Monday, October 12, 2026, 5:30 AM (UTC-03:30)",
            "Oct 12, 2026 9:00:00",
            " Monday, Oct 12, 2026, 9:00 PM (UTC+12:00) ",
        ] {
            assert_eq!(of_text(text), Some(1_791_795_600.0), "{text}");
        }
        assert_eq!(of_text("Oct 12, 2026, 12:00 AM"), Some(1_791_763_200.0));
    }

    #[test]
    fn what_is_no_time_is_absent() {
        for text in
            ["", "yesterday", "-5", "1e999", "NaN", "Oct", "Oct 99, 2026", "Oct 12, 2026, 9:00 (CEST)", "(", "é"]
        {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_number(0.0), None);
    }
}
