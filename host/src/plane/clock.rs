//! The time of what happens in live sessions, and of what is kept of it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// What tells the time; tests hold it.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Epoch milliseconds.
    fn now_ms(&self) -> i64;
}

/// The system's.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    }
}
