//! How many threads are of use.

use std::sync::OnceLock;

/// Processors that this process may use, at most `most`. Asked once: the answer takes the system
/// longer than reading a small folder.
pub(super) fn cores(most: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    (*CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))).min(most)
}
