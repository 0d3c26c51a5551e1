//! The time of day, as numbers and as the text that session lists have.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 (UTC).
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// RFC 3339 with milliseconds.
pub(crate) fn text(ms: u64) -> String {
    let (days, of_day) = (ms / 86_400_000, ms % 86_400_000);
    let (year, month, day) = date(days);
    let (seconds, ms) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day, so many days after 1970-01-01. The year of this count begins in March, so
/// that a leap day is its last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn days_of_leap_years_and_others() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(text(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }
}
