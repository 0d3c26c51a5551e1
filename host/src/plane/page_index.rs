//! What drivers returned to make the next page of a session cheap. Lost without harm.

use lru::LruCache;
use std::sync::{Mutex, PoisonError};

/// Bytes kept in all.
const CAPACITY: usize = 64 << 20;

/// Indexes by driver build and session, the least recently used dropped first.
pub(super) struct PageIndexes(Mutex<Kept>);

struct Kept {
    by_session: LruCache<(String, String), Vec<u8>>,
    bytes: usize,
}

impl Default for PageIndexes {
    fn default() -> Self {
        Self(Mutex::new(Kept { by_session: LruCache::unbounded(), bytes: 0 }))
    }
}

impl PageIndexes {
    pub(super) fn get(&self, build: &str, session: &str) -> Option<Vec<u8>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_session.get(&(build.to_owned(), session.to_owned())).cloned()
    }

    pub(super) fn put(&self, build: &str, session: &str, index: Vec<u8>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if index.len() > CAPACITY {
            return;
        }
        kept.bytes += index.len();
        if let Some((_, old)) = kept.by_session.push((build.to_owned(), session.to_owned()), index) {
            kept.bytes -= old.len();
        }
        while kept.bytes > CAPACITY {
            let Some((_, oldest)) = kept.by_session.pop_lru() else { break };
            kept.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, PageIndexes};

    #[test]
    fn the_least_recently_used_goes_first() {
        let indexes = PageIndexes::default();
        for session in ["a", "b"] {
            indexes.put("d", session, vec![0; CAPACITY / 2]);
        }
        assert!(indexes.get("d", "a").is_some());
        indexes.put("d", "c", vec![0; CAPACITY / 2]);
        assert!(indexes.get("d", "b").is_none());
        assert!(indexes.get("d", "a").is_some());
        indexes.put("d", "a", vec![1]);
        indexes.put("d", "b", vec![2]);
        assert_eq!(indexes.get("d", "a"), Some(vec![1]));
        assert!(indexes.get("other build", "a").is_none());
    }
}
