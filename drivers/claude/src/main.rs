//! The driver as a program that speaks the driver protocol on its standard streams.

use sepia_driver_claude::Claude;

fn main() -> std::process::ExitCode {
    sepia_sdk::subprocess::serve_writing::<Claude>()
}
