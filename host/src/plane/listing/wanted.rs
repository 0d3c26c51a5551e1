//! Which rows a request takes.

use super::ListRequest;
use crate::plane::overlay::View;
use crate::plane::row::SessionFacts;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The request, made ready to be asked of many rows.
pub(in crate::plane) struct Wanted {
    pub(super) request: ListRequest,
    /// The directory, and what it really is.
    cwd: Option<(String, Option<PathBuf>)>,
}

impl Wanted {
    pub(in crate::plane) fn of(request: &ListRequest) -> Self {
        let cwd = request.cwd.as_deref().map(|cwd| {
            let literal = if cwd.len() > 1 { cwd.trim_end_matches('/') } else { cwd };
            (literal.to_owned(), Path::new(literal).canonicalize().ok())
        });
        Self { request: request.clone(), cwd }
    }

    /// Whether an entry may have a row that is wanted, as far as that is known without its rows.
    pub(in crate::plane) fn may_take(&self, sub_agent: bool) -> bool {
        !(self.request.top_level && sub_agent)
    }

    /// `real` remembers what directories really are.
    pub(in crate::plane) fn takes(&self, row: &SessionFacts, real: &mut HashMap<String, Option<PathBuf>>) -> bool {
        if row.hidden && !self.request.with_hidden {
            return false;
        }
        if self.request.top_level && row.parent_session_id.is_some() {
            return false;
        }
        if self.request.since.is_some_and(|since| row.activity < since) {
            return false;
        }
        let Some((literal, resolved)) = &self.cwd else { return true };
        if row.cwd == *literal {
            return true;
        }
        let Some(resolved) = resolved else { return false };
        let of_row = real.entry(row.cwd.clone()).or_insert_with(|| Path::new(&row.cwd).canonicalize().ok());
        of_row.as_ref() == Some(resolved)
    }

    /// Whether it is wanted by what the overlay says of it.
    pub(super) fn takes_marked(&self, overlay: &View, agent: &str, id: &str) -> bool {
        let ListRequest { project, without_archived, .. } = &self.request;
        !(*without_archived && overlay.is_archived(agent, id))
            && project.as_deref().is_none_or(|project| overlay.is_in(project, agent, id))
    }
}
