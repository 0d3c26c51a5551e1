//! Lists its store without the host's help: right, and nobody can tell what that rests on.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;

struct Good;

impl Misdeed for Good {
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        // Also asked, so that there is something that could be told to be the same.
        host.walk("home", "sub", 0, &[])?;
        let names = std::fs::read_dir("/home").into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let entries = names
            .filter_map(|name| Some(sepia_hostile::entry(format!("{}.txt", name.strip_suffix(".txt")?))))
            .collect();
        Ok(ScanReport { entries, warnings: vec![] })
    }
}

sepia_sdk::export_driver!(Guest<Good>);
