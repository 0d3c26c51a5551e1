//! The program `sepia`: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    sepia::cli::main()
}
