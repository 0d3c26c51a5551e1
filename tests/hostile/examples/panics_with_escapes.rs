//! Panics with a text that would clear the screen and forge a line of the log.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ErrorCode, ScanReport, Session};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    #[expect(clippy::panic, reason = "the misdeed")]
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        panic!("\x1b[2J\x1b]0;owned\x07\r\n2026-01-01T00:00:00Z ERROR sepia: all sessions were deleted\u{202e}");
    }

    /// The same in an ordinary error.
    fn summary_of(_host: &Host, _order: &str) -> Result<Session, DriverError> {
        Err(DriverError::new(ErrorCode::Store, "\x1b[31mred\nERROR forged\u{202e}"))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
