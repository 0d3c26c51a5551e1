//! The driver as a program.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
