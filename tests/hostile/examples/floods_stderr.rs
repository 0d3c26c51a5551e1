//! Writes a hundred MiB to stderr and goes on.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;
use std::io::Write;

struct Bad;

impl Misdeed for Bad {
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        let line = b"flood ".repeat(10_000);
        for _ in 0..1_700 {
            let _ = std::io::stderr().write_all(&line);
        }
        sepia_hostile::scan(host)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
