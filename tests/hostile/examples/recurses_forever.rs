//! Calls itself until its stack is full.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        let depth = deeper(std::hint::black_box(0));
        Ok(ScanReport { entries: vec![sepia_hostile::entry(depth.to_string())], warnings: vec![] })
    }
}

sepia_sdk::export_driver!(Guest<Bad>);

#[expect(unconditional_recursion, reason = "the misdeed")]
fn deeper(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 4]);
    deeper(frame[0] + 1) + std::hint::black_box(frame)[1]
}
