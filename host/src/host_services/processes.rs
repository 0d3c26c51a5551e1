//! `processes`: whether the process that a lock names still runs.

use super::{Reach, contract::processes::Host};
use cap_std::fs::{Metadata, MetadataExt};
use sepia_services::Store;
use wasmtime::Result;

impl Host for Reach {
    async fn start_ticks(&mut self, pid: u32) -> Result<Option<u64>> {
        Ok(sepia_services::start_ticks(pid))
    }

    async fn lock_holder(&mut self, store: String, path: String) -> Result<Option<u32>> {
        let file = self.store(&store).ok().and_then(|store| metadata(store, &path));
        Ok(file.and_then(|file| {
            let locks = std::fs::read_to_string("/proc/locks").ok()?;
            holder(&locks, file.dev(), file.ino())
        }))
    }
}

/// Of a file beneath the store, or beneath a link of it that was followed.
fn metadata(store: &Store, path: &str) -> Option<Metadata> {
    let linked = store.links().iter().find_map(|link| {
        let inside = path.strip_prefix(link.path.as_str())?.strip_prefix('/')?;
        Some((&link.dir, inside))
    });
    let (dir, path) = linked.or_else(|| Some((store.root()?, path)))?;
    dir.metadata(path).ok()
}

/// Who holds a lock, in the form of `/proc/locks`: `1: POSIX  ADVISORY  WRITE 77 08:01:5 0 EOF`,
/// with `->` before the kind for those who wait. Systems without it answer none.
fn holder(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    locks.lines().filter(|line| !line.contains("->")).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        let pid = fields.next()?.parse().ok()?;
        (fields.next()? == file).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::holder;

    #[test]
    fn the_holder_is_told_from_those_who_wait() {
        let locks = "1: FLOCK  ADVISORY  WRITE 11 08:01:50 0 EOF\n\
                     2: -> POSIX  ADVISORY  WRITE 12 08:01:51 0 EOF\n\
                     3: POSIX  ADVISORY  READ  13 08:01:51 0 EOF\n\
                     4: OFDLCK ADVISORY  READ -1 08:01:52 0 EOF\n";
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(holder(locks, device, 50), Some(11));
        assert_eq!(holder(locks, device, 51), Some(13));
        assert_eq!(holder(locks, device, 52), None);
        assert_eq!(holder(locks, device, 5), None);
        assert_eq!(holder(locks, rustix::fs::makedev(8, 2), 50), None);
    }
}
