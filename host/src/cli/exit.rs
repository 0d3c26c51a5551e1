//! Exit codes, and the last words to people.
//!
//! 0 done; 1 it failed; 2 wrong use; 3 there is no such session; 128 and the number of the
//! signal that ended it.

use crate::plane::{ErrorKind, PlaneError};
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Bytes of a message or of what lies underneath.
const LONGEST: usize = 8 << 10;

/// Why a command ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The plane's answer.
    Plane(PlaneError),
    /// Anything else, as one sentence.
    Said(String),
    /// What reads our output is gone; nothing to say and nobody to say it to.
    OutputClosed,
    /// A signal asked us to end.
    Signal(i32),
}

impl From<PlaneError> for Failure {
    fn from(error: PlaneError) -> Self {
        Self::Plane(error)
    }
}

impl Failure {
    /// A failure as one sentence.
    pub(super) fn said(message: impl Display) -> Self {
        Self::Said(message.to_string())
    }

    /// Writing to stdout failed.
    pub(super) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Said(format!("the output could not be written: {error}")),
        }
    }
}

/// The exit code of a command; tells people why when it failed.
pub(super) fn of(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Signal(number)) => ExitCode::from(code_of_signal(number)),
        Err(Failure::Said(message)) => {
            tell(&message, None);
            ExitCode::from(1)
        }
        Err(Failure::Plane(error)) => {
            tell(&error.message, error.cause.as_deref());
            ExitCode::from(match error.kind {
                ErrorKind::NotFound => 3,
                ErrorKind::Invalid | ErrorKind::UnknownAgent => 2,
                _ => 1,
            })
        }
    }
}

/// The exit code of a process that a signal ended.
pub(super) fn code_of_signal(number: i32) -> u8 {
    128_u8.saturating_add(u8::try_from(number).unwrap_or(0))
}

/// Help and version are answers; anything else is wrong use.
pub(super) fn of_usage(error: &clap::Error) -> ExitCode {
    // Where the terminal is gone there is nobody to tell.
    let _gone = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn tell(message: &str, cause: Option<&str>) {
    let mut stderr = io::stderr().lock();
    let message = crate::text::clean_text(message, LONGEST);
    let _gone = writeln!(stderr, "sepia: {message}");
    if let Some(cause) = cause {
        let _gone = writeln!(stderr, "  cause: {}", crate::text::clean_text(cause, LONGEST));
    }
}
