//! Says of all its entries that sub-agents are in them, and gives rows without a parent.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        let mut report = sepia_hostile::scan(host)?;
        report.entries.iter_mut().for_each(|entry| entry.sub_agent = true);
        Ok(report)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
