//! Opens and never closes.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, Session};
use sepia_sdk::Host;
use std::fs::File;

struct Bad;

impl Misdeed for Bad {
    /// The order is how often to open the file `a.txt` of the store.
    fn summary_of(_host: &Host, order: &str) -> Result<Session, DriverError> {
        let times: u32 = order.parse().unwrap_or(0);
        let mut opened = 0;
        for _ in 0..times {
            match File::open("/home/a.txt") {
                Ok(file) => std::mem::forget(file),
                Err(error) => return Ok(sepia_hostile::answer(format!("{opened} opened, then {error}"))),
            }
            opened += 1;
        }
        Ok(sepia_hostile::answer(format!("{opened} opened")))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
