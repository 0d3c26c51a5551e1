//! Changes of what the overlay says, and the bounds of what it takes.

use crate::plane::{ErrorKind, PlaneError};

/// Longest title, characters.
const MOST_TITLE: usize = 200;
/// Longest name of a model, of a project, and longest id of a project, characters.
const MOST_NAME: usize = 100;
/// Projects of one session.
const MOST_PROJECTS: usize = 1_000;

/// A change of what the overlay says of a session. What is `None`, or kept, stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetaPatch {
    /// A title in place of the store's; without one the store's is shown.
    pub title: TextChange,
    /// Kept in sight.
    pub pinned: Option<bool>,
    /// Put away.
    pub archived: Option<bool>,
    /// The projects that it belongs to, all of them.
    pub project_ids: Option<Vec<String>>,
    /// Model that is preferred for it.
    pub model: TextChange,
}

/// What becomes of a text that may be there or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TextChange {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is taken away.
    Clear,
    /// It becomes this.
    Set(String),
}

impl MetaPatch {
    /// The patch as it is kept: texts trimmed, each project once. `invalid` when it changes
    /// nothing, or something in it can't be kept.
    pub fn checked(mut self) -> Result<Self, PlaneError> {
        if self == Self::default() {
            let message = "the patch changes nothing; name one of title, pinned, archived, projectIds, model in it";
            return Err(invalid(message));
        }
        if let TextChange::Set(title) = &mut self.title {
            *title = short_line("a title", title, MOST_TITLE)?;
        }
        if let TextChange::Set(model) = &mut self.model {
            *model = short_line("the name of a model", model, MOST_NAME)?;
        }
        if let Some(ids) = self.project_ids.take() {
            if ids.len() > MOST_PROJECTS {
                let many = ids.len();
                return Err(invalid(format!("a session belongs to {MOST_PROJECTS} projects at most, not to {many}")));
            }
            let mut kept: Vec<String> = Vec::with_capacity(ids.len());
            for id in ids {
                let id = short_line("the id of a project", &id, MOST_NAME)?;
                if !kept.contains(&id) {
                    kept.push(id);
                }
            }
            self.project_ids = Some(kept);
        }
        Ok(self)
    }
}

/// The name of a project as it is kept.
pub(super) fn project_name(name: &str) -> Result<String, PlaneError> {
    short_line("the name of a project", name, MOST_NAME)
}

fn short_line(what: &str, text: &str, most: usize) -> Result<String, PlaneError> {
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 || length > most {
        return Err(invalid(format!("{what} has 1 to {most} characters, spaces around it aside, not {length}")));
    }
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(invalid(format!("{what} is one line without control characters; leave them out")));
    }
    Ok(text.to_owned())
}

fn invalid(message: impl Into<String>) -> PlaneError {
    PlaneError::new(ErrorKind::Invalid, message)
}
