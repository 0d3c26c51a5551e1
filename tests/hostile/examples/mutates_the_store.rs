//! Tries every way to change a store that it may only read.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, Session};
use sepia_sdk::Host;
use std::fs::{self, File, OpenOptions};
use std::io::Write;

struct Bad;

impl Misdeed for Bad {
    /// Answers with the names of the ways that were open.
    fn summary_of(_host: &Host, _order: &str) -> Result<Session, DriverError> {
        let append = || OpenOptions::new().append(true).open("/home/a.txt")?.write_all(b"x");
        let truncate = || OpenOptions::new().write(true).truncate(true).open("/home/a.txt").map(|_| ());
        let shorten = || OpenOptions::new().write(true).open("/home/a.txt")?.set_len(0);
        let read_then_shorten = || File::open("/home/a.txt")?.set_len(0);
        let read_then_write = || File::open("/home/a.txt")?.write_all(b"x");
        let times = || File::open("/home/a.txt")?.set_modified(std::time::SystemTime::UNIX_EPOCH);
        let ways: [(&str, &dyn Fn() -> std::io::Result<()>); 13] = [
            ("write", &|| fs::write("/home/a.txt", "x")),
            ("append", &append),
            ("truncate", &truncate),
            ("shorten", &shorten),
            ("shorten through a reader", &read_then_shorten),
            ("write through a reader", &read_then_write),
            ("set times", &times),
            ("create", &|| File::create("/home/new.txt").map(|_| ())),
            ("rename", &|| fs::rename("/home/a.txt", "/home/c.txt")),
            ("remove", &|| fs::remove_file("/home/a.txt")),
            ("make a folder", &|| fs::create_dir("/home/folder")),
            ("remove a folder", &|| fs::remove_dir("/home/sub")),
            ("hard link", &|| fs::hard_link("/home/a.txt", "/home/d.txt")),
        ];
        let open: Vec<&str> = ways.iter().filter(|(_, way)| way().is_ok()).map(|(name, _)| *name).collect();
        Ok(sepia_hostile::answer(open.join(", ")))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
