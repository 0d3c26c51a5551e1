//! Where a session is to go, and whether it can.

use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use sepia_ir::Session;
use std::path::Path;

/// Longest title, characters.
pub(super) const MOST_TITLE: usize = 200;

/// Where a session is to go.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// The agent.
    pub agent: String,
    /// The id that it shall have; absent: a fresh one of the agent's own form.
    pub id: Option<String>,
    /// Where it works; absent: where it did.
    pub cwd: Option<String>,
    /// Its title; absent: as it is.
    pub title: Option<String>,
    /// Its model; absent: as it is.
    pub model: Option<String>,
    /// Write over a session of that id.
    pub replace: bool,
    /// Tell what would happen and write nothing.
    pub dry_run: bool,
    /// Also write over a session that a running agent holds.
    pub force: bool,
}

impl Destination {
    /// The session as it is to be written, without its nodes, and what a person should know of it.
    pub(super) fn apply(&self, mut header: Session, backend: &str) -> Result<(Session, Vec<String>), PlaneError> {
        let mut warnings = Vec::new();
        if let Some(cwd) = &self.cwd {
            header.working_directory.clone_from(cwd);
        }
        let cwd = &header.working_directory;
        if cwd.is_empty() {
            let message = "the session does not say where it works, and its agent would not find it again; name its working directory (`cwd`)";
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        if !is_absolute(cwd) {
            let shown = clean_line(cwd, 200);
            let message = format!("the working directory `{shown}` is not absolute; name it from `/` on");
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        match Path::new(cwd).canonicalize() {
            // Agents look a session up by the real path of the directory that they are started in.
            Ok(real) if real.is_dir() => {
                if let Some(real) = real.to_str() {
                    real.clone_into(&mut header.working_directory);
                }
            }
            _ => {
                let shown = clean_line(cwd, 200);
                warnings.push(format!(
                    "the working directory {shown} does not exist; the agent resumes the session there only when it does"
                ));
            }
        }
        if let Some(title) = &self.title {
            header.title = checked_title(title)?;
        } else {
            header.title = clean_line(header.title.trim(), 4 * MOST_TITLE).chars().take(MOST_TITLE).collect();
        }
        if let Some(model) = &self.model {
            header.model.clone_from(model);
        }
        header.id = self.id.clone().unwrap_or_default();
        backend.clone_into(&mut header.backend_type);
        Ok((header, warnings))
    }
}

/// Also a path of a system that has drives: sessions come from other machines.
fn is_absolute(path: &str) -> bool {
    let drive = || {
        let mut chars = path.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && matches!(chars.next(), Some('\\' | '/'))
    };
    !path.contains('\0') && (path.starts_with('/') || drive())
}

/// A title that a person gave: 1 to 200 characters on one line.
pub(in crate::plane) fn checked_title(title: &str) -> Result<String, PlaneError> {
    let title = title.trim();
    let count = title.chars().count();
    if count == 0 || count > MOST_TITLE || title.chars().any(char::is_control) {
        let message = format!("a title has 1 to {MOST_TITLE} characters on one line, and this one has {count}");
        return Err(PlaneError::new(ErrorKind::Invalid, message));
    }
    Ok(title.to_owned())
}
