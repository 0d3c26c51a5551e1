//! Times of records: ISO 8601 text in the manifest and the index, numbers of milliseconds in
//! transcripts. Other writers have been seen to use seconds, so both are told apart.

pub(crate) use sepia_sdk::time::{milliseconds, of, of_file, of_number, of_text};

/// A record may be so much newer than its file before it counts as wrong, seconds: the clock of
/// the file system ticks more coarsely than the one that the agent reads.
const SLACK: f64 = 1.0;

/// Epoch seconds that an id begins with, as those do that the agent makes: milliseconds, then
/// `_` or nothing.
pub(crate) fn of_id(id: &str) -> Option<f64> {
    let digits = id.split('_').find(|part| part.len() >= 12 && part.bytes().all(|b| b.is_ascii_digit()))?;
    of_number(digits.parse().ok()?)
}

/// The newest time that a record of a file can have.
pub(crate) fn bound(file: f64) -> f64 {
    file + SLACK
}

/// Brings a time that lies after its file's own back to it; says whether it had to.
pub(crate) fn not_after(time: f64, file: f64) -> (f64, bool) {
    sepia_sdk::time::not_after(time, file, SLACK)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact by construction")]
    use super::of_id;

    #[test]
    fn ids_tell_when_they_were_made() {
        assert_eq!(of_id("1796033865816_tttmi"), Some(1_796_033_865.816));
        assert_eq!(of_id("agent_1796033878295_t9nnmi"), Some(1_796_033_878.295));
        assert_eq!(of_id("1700000000001"), Some(1_700_000_000.001));
        assert_eq!(of_id("scout__aIFHpe"), None);
    }
}
