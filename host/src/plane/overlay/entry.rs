//! What the overlay says of one session.
//!
//! Reading takes what it understands and passes over the rest, field by field; changing leaves
//! alone what it does not change.

use super::document::Members;
use super::patch::{MetaPatch, TextChange};
use crate::plane::row::Span;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// Spans that are kept of a session; the oldest go.
const MOST_SPANS: usize = 1_000;

/// What the overlay says of one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::plane) struct SessionMeta {
    /// In place of the title in the store.
    pub(in crate::plane) title: Option<String>,
    pub(in crate::plane) pinned: bool,
    pub(in crate::plane) archived: bool,
    pub(in crate::plane) project_ids: Vec<String>,
    pub(in crate::plane) model: Option<String>,
    pub(in crate::plane) spans: Vec<Span>,
    /// With `agent` in its entry: the session was made here, and its store may not have it yet.
    pub(in crate::plane) cwd: Option<String>,
    /// When it was made, ISO 8601.
    pub(in crate::plane) created_at: Option<String>,
}

/// The fields as text, each read by itself.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Fields<'a> {
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    pinned: Option<&'a RawValue>,
    #[serde(borrow)]
    archived: Option<&'a RawValue>,
    #[serde(borrow)]
    project_ids: Option<&'a RawValue>,
    /// The older form: one project.
    #[serde(borrow)]
    project_id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    spans: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct SpanFields {
    at: f64,
    agent: String,
    node: String,
}

impl SessionMeta {
    /// Of an entry's text.
    pub(super) fn of(value: &RawValue) -> Self {
        let fields: Fields<'_> = serde_json::from_str(value.get()).unwrap_or_default();
        Self {
            title: text(fields.title),
            pinned: read(fields.pinned).unwrap_or_default(),
            archived: read(fields.archived).unwrap_or_default(),
            project_ids: project_ids(fields.project_ids, fields.project_id),
            model: text(fields.model),
            spans: spans(fields.spans),
            cwd: text(fields.cwd),
            created_at: text(fields.created_at),
        }
    }
}

/// Whose session an entry is about; `None` where it does not say, and for what can't be an agent.
pub(super) fn agent_of(value: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Agent<'a> {
        #[serde(borrow, default)]
        agent: Option<&'a RawValue>,
    }
    let fields: Agent<'_> = serde_json::from_str(value.get()).ok()?;
    text(fields.agent).filter(|agent| crate::loader::is_name(agent))
}

fn read<'a, T: Deserialize<'a>>(field: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

/// Text that is not empty.
fn text(field: Option<&RawValue>) -> Option<String> {
    read::<String>(field).filter(|text| !text.is_empty())
}

fn project_ids(several: Option<&RawValue>, one: Option<&RawValue>) -> Vec<String> {
    let each = |list: Vec<&RawValue>| list.into_iter().filter_map(|id| text(Some(id))).collect();
    match several {
        Some(_) => read(several).map(each).unwrap_or_default(),
        None => text(one).into_iter().collect(),
    }
}

fn spans(field: Option<&RawValue>) -> Vec<Span> {
    let each = |value: &RawValue| {
        let SpanFields { at, agent, node } = read(Some(value))?;
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and such a time means nothing anyway")]
        let at = at.round() as i64;
        Some(Span { at, agent, node })
    };
    read::<Vec<&RawValue>>(field).unwrap_or_default().into_iter().filter_map(each).collect()
}

/// An entry that is being changed.
#[derive(Debug, Default)]
pub(super) struct Entry(Members);

impl Entry {
    /// Of an entry's text. What is no object says nothing that could be kept.
    pub(super) fn parse(value: &RawValue) -> Self {
        let members = serde_json::from_str(value.get());
        Self(members.unwrap_or_else(|error| {
            tracing::warn!("an entry of a session in the overlay is no object ({error}); it is written anew");
            Members::new()
        }))
    }

    pub(super) fn to_value(&self) -> Result<Box<RawValue>, serde_json::Error> {
        to_raw_value(&self.0)
    }

    /// Whether nothing but its agent is in it.
    pub(super) fn says_nothing(&self) -> bool {
        self.0.keys().all(|name| name == "agent")
    }

    pub(super) fn set_agent(&mut self, agent: &str) -> Result<(), serde_json::Error> {
        self.set("agent", Some(agent))
    }

    /// Changes what the patch names. What is then as if nothing were said is taken out.
    pub(super) fn apply(&mut self, patch: &MetaPatch) -> Result<(), serde_json::Error> {
        self.change_text("title", &patch.title)?;
        for (name, value) in [("pinned", patch.pinned), ("archived", patch.archived)] {
            if let Some(value) = value {
                self.set(name, value.then_some(&true))?;
            }
        }
        if let Some(ids) = &patch.project_ids {
            self.set_projects(ids)?;
        }
        self.change_text("model", &patch.model)
    }

    /// Adds it to a project.
    pub(super) fn join_project(&mut self, project: &str) -> Result<(), serde_json::Error> {
        let mut ids = self.projects();
        if !ids.iter().any(|id| id == project) {
            ids.push(project.to_owned());
            self.set_projects(&ids)?;
        }
        Ok(())
    }

    /// Takes it out of a project; whether it was in it.
    pub(super) fn leave_project(&mut self, project: &str) -> Result<bool, serde_json::Error> {
        let mut ids = self.projects();
        let before = ids.len();
        ids.retain(|id| id != project);
        let was_in = ids.len() < before;
        if was_in {
            self.set_projects(&ids)?;
        }
        Ok(was_in)
    }

    /// Adds a span, unless it only goes on with the last one.
    pub(super) fn add_span(&mut self, span: Span) -> Result<(), serde_json::Error> {
        let mut spans = spans(self.0.get("spans").map(AsRef::as_ref));
        if spans.last().is_some_and(|last| last.agent == span.agent && last.node == span.node) {
            return Ok(());
        }
        spans.push(span);
        let newest = spans.len().saturating_sub(MOST_SPANS);
        self.set("spans", Some(&spans[newest..]))
    }

    /// Says of a session that was made here what a row needs until its store has it.
    pub(super) fn set_pending(&mut self, pending: &super::Pending) -> Result<(), serde_json::Error> {
        self.set("cwd", Some(&pending.cwd))?;
        self.set("createdAt", Some(&pending.created_at))?;
        if let Some(title) = &pending.title {
            self.set("title", Some(title))?;
        }
        if let Some(model) = &pending.model {
            self.set("model", Some(model))?;
        }
        Ok(())
    }

    fn projects(&self) -> Vec<String> {
        let field = |name: &str| self.0.get(name).map(AsRef::as_ref);
        project_ids(field("projectIds"), field("projectId"))
    }

    fn set_projects(&mut self, ids: &[String]) -> Result<(), serde_json::Error> {
        self.0.remove("projectId");
        self.set("projectIds", (!ids.is_empty()).then_some(ids))
    }

    fn change_text(&mut self, name: &str, change: &TextChange) -> Result<(), serde_json::Error> {
        match change {
            TextChange::Keep => Ok(()),
            TextChange::Clear => self.set::<str>(name, None),
            TextChange::Set(text) => self.set(name, Some(text)),
        }
    }

    fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: Option<&T>) -> Result<(), serde_json::Error> {
        match value {
            Some(value) => self.0.insert(name.to_owned(), to_raw_value(value)?),
            None => self.0.remove(name),
        };
        Ok(())
    }
}
