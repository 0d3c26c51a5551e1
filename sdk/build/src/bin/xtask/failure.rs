//! How a command ends when it did not do what it was asked to.

use crate::console::Console;
use sepia_build::BuildError;

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    details: String,
    exit_code: u8,
}

impl Failure {
    /// One sentence: what is wrong, and what to do.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: String::new(), exit_code: 1 }
    }

    /// All is said already; only the exit code is left.
    pub(crate) fn silent() -> Self {
        Self::new("")
    }

    /// The command line itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit_code: 2, ..Self::new(message) }
    }

    /// What a program said, shown before the sentence.
    pub(crate) fn with_details(self, details: impl Into<String>) -> Self {
        Self { details: details.into(), ..self }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    pub(crate) fn report(&self, console: &Console) {
        if !self.details.is_empty() {
            console.complain(self.details.trim_end());
        }
        if self.message.is_empty() {
            return;
        }
        console.complain(&format!("{} {}", console.red("error:"), self.message));
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::new(error.message).with_details(error.details)
    }
}
