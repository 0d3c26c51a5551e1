//! Ends itself in the middle of a call.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        std::process::exit(1)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
