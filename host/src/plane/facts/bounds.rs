//! How much the log keeps, and how long it waits.

use std::time::Duration;

/// How much the log keeps, and how long it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plane) struct Bounds {
    /// Older facts are pruned.
    pub age: Duration,
    /// What the log may take on disk, bytes. The oldest facts are pruned beyond it; it is
    /// passed for a short time between two prunings.
    pub bytes: u64,
    /// How long another process that writes is waited for.
    pub busy_wait: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { age: Duration::from_hours(30 * 24), bytes: 512 << 20, busy_wait: Duration::from_secs(5) }
    }
}
