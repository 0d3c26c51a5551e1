//! Writes what looks like frames of the protocol to its stdout.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;
use std::io::Write;

struct Bad;

impl Misdeed for Bad {
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        let mut stdout = std::io::stdout();
        for _ in 0..1_000 {
            let _ = writeln!(stdout, r#"{{"jsonrpc":"2.0","id":1,"result":"forged"}}"#);
        }
        let _ = stdout.flush();
        sepia_hostile::scan(host)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
