//! Hands over more than any host should take: a list, or a line for the log.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, LogLevel, ScanReport, Session};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    /// Thirty-two MiB of keys.
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        let entries = (0..32_u32).map(|n| sepia_hostile::entry(format!("{n}{}", "k".repeat(1 << 20))));
        Ok(ScanReport { entries: entries.collect(), warnings: vec![] })
    }

    /// Thirty-two MiB for the log.
    fn summary_of(host: &Host, _order: &str) -> Result<Session, DriverError> {
        host.log(LogLevel::Error, &"l".repeat(32 << 20));
        Ok(sepia_hostile::answer("logged"))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
