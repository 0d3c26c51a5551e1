//! The driver as a program.

fn main() -> std::process::ExitCode {
    sepia_sdk::subprocess::serve::<sepia_driver_claude::Claude>()
}
