//! Never comes back from a call.

use sepia_hostile::{Guest, Lines, Misdeed};
use sepia_ir::{DriverError, MessageNode, ScanReport};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        loop {
            std::hint::spin_loop();
        }
    }

    /// The first pull answers, the second never does.
    fn next(lines: &mut Lines, _max: usize) -> Result<Vec<MessageNode>, DriverError> {
        if lines.at > 0 {
            loop {
                std::hint::spin_loop();
            }
        }
        lines.at = 1;
        Ok(vec![sepia_hostile::node(1, "the only one")])
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
