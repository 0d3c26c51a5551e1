//! Takes all the memory that it gets.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ScanReport};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        let mut hoard = Vec::new();
        loop {
            hoard.push(vec![1_u8; 16 << 20]);
            std::hint::black_box(&hoard);
        }
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
