//! The driver as a program that speaks the driver protocol on its standard streams.

use sepia_driver_cursor::Cursor;

fn main() -> std::process::ExitCode {
    sepia_sdk::subprocess::serve_writing::<Cursor>()
}
