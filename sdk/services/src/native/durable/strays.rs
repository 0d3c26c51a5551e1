//! What a process that died left beside the files that it was writing.
//!
//! The name of an unseen file says which process makes it, so that the next one to write there
//! can tell what is nobody's any more.

use super::super::process::start_ticks;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

const START: &str = ".sepia-";
const END: &str = ".tmp";

/// A name for an unseen file, not given twice by any process that runs.
pub fn name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = std::process::id();
    let ticks = start_ticks(pid).unwrap_or(0);
    format!("{START}{pid}-{ticks}-{}{END}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether a file of this name is one that is not finished, whoever makes it.
pub fn is_unseen(name: &str) -> bool {
    name.starts_with(START)
}

/// Takes away what dead processes left in this directory, once in the life of this process. For directories of our
/// own: one in a store is swept by its handle.
pub fn swept(place: &Path) {
    if let Ok(dir) = Dir::open_ambient_dir(place, ambient_authority()) {
        sweep(&dir, place);
    }
}

/// Takes away what dead processes left in a directory, once in the life of this process.
pub(super) fn sweep(dir: &Dir, real: &Path) {
    static SWEPT: OnceLock<Mutex<HashSet<PathBuf>>> = OnceLock::new();
    let swept = SWEPT.get_or_init(Mutex::default);
    if !swept.lock().unwrap_or_else(PoisonError::into_inner).insert(real.to_owned()) {
        return;
    }
    // Litter that can't be seen or taken away is in nobody's way.
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_stray) {
            let _ = dir.remove_file(&name);
        }
    }
}

/// Whether a name is that of an unseen file whose process is gone. The logs of a new database
/// have their suffix after it.
pub(super) fn is_stray(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(START) else { return false };
    let Some((maker, _)) = rest.split_once(END) else { return false };
    let mut parts = maker.split('-').map(str::parse::<u64>);
    let (Some(Ok(pid)), Some(Ok(ticks)), Some(Ok(_)), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    u32::try_from(pid).is_ok_and(|pid| start_ticks(pid) != Some(ticks))
}

#[cfg(test)]
mod tests {
    use super::{is_stray, name};

    #[test]
    fn a_file_of_a_process_that_runs_is_no_stray() {
        assert!(!is_stray(&name()));
        assert!(!is_stray(&(name() + "-wal")));
    }

    #[test]
    fn a_file_of_a_process_that_is_gone_is_one() {
        // No process starts with the machine and has the greatest number.
        assert!(is_stray(".sepia-4194303-1-0.tmp"));
        assert!(is_stray(".sepia-4194303-1-0.tmp-wal"));
        assert!(is_stray(&format!(".sepia-{}-1-0.tmp", std::process::id())), "the number was given again");
    }

    #[test]
    fn what_has_another_name_is_left_alone() {
        for name in [".sepia-", ".sepia-1-2.tmp", ".sepia-x-2-3.tmp", ".sepia-1-2-3", "a.sepia-4194303-1-0.tmp", ".tmp"]
        {
            assert!(!is_stray(name), "{name}");
        }
    }
}
