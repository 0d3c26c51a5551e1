//! Why a component could not be built.

use std::{fmt, io};

/// A build that failed.
#[derive(Debug)]
pub struct BuildError {
    /// What kind.
    pub kind: BuildErrorKind,
    /// One sentence: what is wrong, and what to do.
    pub message: String,
    /// What the failing program said, line by line; empty when there was none.
    pub details: String,
}

/// Kinds of [`BuildError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// The compilation target is not installed.
    TargetMissing,
    /// The compilation target could not be installed.
    TargetNotAdded,
    /// A program of the toolchain could not be run.
    Toolchain,
    /// The source does not compile.
    Compile,
    /// A crate gave no component, or more than one.
    Artifact,
    /// A file or folder of the workspace could not be read.
    Files,
}

impl BuildErrorKind {
    /// Stable name, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::TargetMissing => "target_missing",
            Self::TargetNotAdded => "target_not_added",
            Self::Toolchain => "toolchain",
            Self::Compile => "compile",
            Self::Artifact => "artifact",
            Self::Files => "files",
        }
    }
}

impl BuildError {
    pub(crate) fn new(kind: BuildErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: String::new() }
    }

    /// A file of the build that could not be written.
    pub fn files(name: &str, error: &io::Error) -> Self {
        let message = format!("{name} can't be written ({error}): make room on the disk, or check permissions");
        Self::new(BuildErrorKind::Files, message)
    }

    pub(crate) fn with_details(mut self, output: &[u8]) -> Self {
        String::from_utf8_lossy(output).trim_end().clone_into(&mut self.details);
        self
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BuildError {}
