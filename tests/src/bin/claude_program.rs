//! The Claude driver as a program, for the tests of this crate, which are not told where that
//! of the driver's own crate is.

fn main() -> std::process::ExitCode {
    sepia_sdk::subprocess::serve::<sepia_driver_claude::Claude>()
}
