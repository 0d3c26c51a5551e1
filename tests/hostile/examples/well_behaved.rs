//! Does everything right: what the others are compared with.

use sepia_hostile::{Guest, Misdeed};

struct Good;

impl Misdeed for Good {}

sepia_sdk::export_driver!(Guest<Good>);
