//! Which agent's store a session was last seen in, so that reading it asks one driver and not
//! all before it. Lost without harm, and never believed against the driver.

use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Sessions that are remembered.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// Agents by session id.
pub(super) struct Whereabouts(Mutex<LruCache<String, String>>);

impl Default for Whereabouts {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl Whereabouts {
    /// The agent that had a session of this id.
    pub(super) fn of(&self, id: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// These sessions, each with its agent, were seen. Of two with one id the first counts.
    pub(super) fn seen<'a>(&self, sessions: impl DoubleEndedIterator<Item = (&'a str, &'a str)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, agent) in sessions.rev() {
            known.push(id.to_owned(), agent.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Whereabouts;

    #[test]
    fn of_two_with_one_id_the_first_counts() {
        let whereabouts = Whereabouts::default();
        whereabouts.seen([("s", "first"), ("s", "second"), ("t", "second")].into_iter());
        assert_eq!(whereabouts.of("s").as_deref(), Some("first"));
        assert_eq!(whereabouts.of("t").as_deref(), Some("second"));
        assert_eq!(whereabouts.of("u"), None);
    }
}
