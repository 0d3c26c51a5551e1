//! Ids that sort by the time at which they were made.

use std::sync::{Mutex, PoisonError};
use uuid::{ContextV7, Timestamp, Uuid};

/// Ids that sort as they were made, also within a millisecond, and also when the clock is set
/// back.
#[derive(Default)]
pub(super) struct Ids(Mutex<Source>);

#[derive(Default)]
struct Source {
    last_ms: i64,
    context: Option<ContextV7>,
}

impl Ids {
    /// A prefix and 32 hexadecimal digits.
    pub(super) fn next(&self, prefix: &str, now_ms: i64) -> String {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now_ms.max(source.last_ms).max(0);
        source.last_ms = now;
        let context = source.context.get_or_insert_with(ContextV7::new);
        let seconds = u64::try_from(now / 1_000).unwrap_or_default();
        let nanos = u32::try_from(now % 1_000).unwrap_or_default() * 1_000_000;
        let id = Uuid::new_v7(Timestamp::from_unix(&*context, seconds, nanos));
        format!("{prefix}_{}", id.simple())
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn ids_sort_as_they_were_made() {
        let ids = Ids::default();
        let times = [5, 5, 5, 6, 4, 4, 7, 0, -3, 8];
        let made: Vec<String> = times.iter().cycle().take(10_000).map(|ms| ids.next("event", *ms)).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(made.iter().all(|id| id.len() == "event_".len() + 32));
    }
}
