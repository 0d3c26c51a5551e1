//! Waits on a clock that is centuries away.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;
use std::time::Duration;

struct Bad;

impl Misdeed for Bad {
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        std::thread::sleep(Duration::from_secs(1 << 32));
        Ok(ScanReport { entries: vec![], warnings: vec![] })
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
