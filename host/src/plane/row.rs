//! A row of the session list.

use super::AskedPermission;
use schemars::JsonSchema;
use sepia_ir::{Json, Session, Warning, json_text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A row of the session list, in the key order of the wire document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// The agent's own id; unique within the agent.
    pub id: String,
    /// One line.
    pub title: String,
    /// Working directory; empty when the store doesn't tell.
    pub cwd: String,
    /// Which agent's store it is in.
    pub agent: String,
    /// Newest conversational record, ISO 8601 in UTC with milliseconds.
    pub updated_at: String,
    /// Whether a running agent holds it; filled on request.
    pub locked: bool,
    /// The process that holds it, where the agent tells.
    pub lock_holder_pid: Option<u32>,
    /// Where the row comes from.
    pub source: Source,
    /// Whether a turn is running in this plane.
    pub busy: bool,
    /// Kept in sight by the person.
    pub pinned: bool,
    /// Put away by the person.
    pub archived: bool,
    /// Projects that it belongs to.
    pub project_ids: Vec<String>,
    /// Model that the person prefers for it.
    pub model: Option<String>,
    /// Where it was live, and when.
    pub spans: Vec<Span>,
    /// Session that spawned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// Identity of a sub-agent inside its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// First record, ISO 8601.
    pub created_at: String,
    /// Permissions that its agent waits for, while it is live here; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<AskedPermission>>")]
    pub permissions: Vec<AskedPermission>,
    /// Counts and tokens, on request.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_json")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub stats: Option<Json>,
    /// What was passed over in it; absent when nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    /// Epoch seconds of `updated_at`, for sorting.
    #[serde(skip)]
    pub activity: f64,
}

/// Where a row comes from.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum Source {
    /// The store of this agent.
    Agent(String),
    /// This plane: live and not in a store yet, or known from the overlay alone. `"sepia"`.
    Sepia,
    /// Not a session: a store, or a part of one, that could not be read; the title says why.
    /// `"warning"`.
    Warning,
}

impl Serialize for Source {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Agent(agent) => agent,
            Self::Sepia => "sepia",
            Self::Warning => "warning",
        })
    }
}

/// A time during which a session was live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Span {
    /// Epoch milliseconds.
    pub at: i64,
    /// Agent that ran it.
    pub agent: String,
    /// Machine that it ran on.
    pub node: String,
}

/// The parts of a session's metadata that a row shows.
#[derive(Default, Deserialize)]
struct Shown<'a> {
    #[serde(borrow, default)]
    stats: Option<&'a RawValue>,
    #[serde(borrow, default)]
    warnings: Option<&'a RawValue>,
}

/// What a row takes from a session: small, and kept between listings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SessionFacts {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) cwd: String,
    /// Epoch seconds.
    pub(super) created_at: f64,
    /// Epoch seconds.
    pub(super) activity: f64,
    pub(super) parent_session_id: Option<String>,
    pub(super) agent_id: Option<String>,
    /// The agent itself no longer lists it.
    pub(super) hidden: bool,
    /// JSON text, when it was asked for.
    pub(super) stats: Option<Json>,
    /// JSON text of a list; empty when nothing was passed over.
    pub(super) warnings: Json,
}

impl SessionFacts {
    /// Of a session without its nodes.
    pub(super) fn of(session: Session) -> Self {
        // Metadata of another shape has nothing to show.
        let shown: Shown<'_> = serde_json::from_str(&session.metadata).unwrap_or_default();
        Self {
            stats: shown.stats.map(|stats| stats.get().to_owned()),
            warnings: shown.warnings.map(|warnings| warnings.get().to_owned()).unwrap_or_default(),
            id: session.id,
            title: session.title,
            cwd: session.working_directory,
            created_at: session.created_at,
            activity: session.last_activity_at,
            parent_session_id: session.parent_session_id,
            agent_id: session.agent_id,
            hidden: session.hidden != 0,
        }
    }
}

impl SessionRow {
    /// The row of a session of an agent's store.
    pub(super) fn of_facts(facts: SessionFacts, agent: &str) -> Self {
        let SessionFacts { id, title, cwd, activity, .. } = facts;
        Self {
            parent_session_id: facts.parent_session_id,
            agent_id: facts.agent_id,
            created_at: iso(facts.created_at),
            stats: facts.stats,
            warnings: if facts.warnings.is_empty() {
                Vec::new()
            } else {
                serde_json::from_str(&facts.warnings).unwrap_or_default()
            },
            ..Self::plain(id, title, cwd, agent, activity)
        }
    }

    /// A row that stands for something that could not be read.
    pub fn of_warning(warning: Warning, agent: &str) -> Self {
        let id = format!("warning:{agent}:{}:{}", warning.code, warning.path.as_deref().unwrap_or_default());
        let title = crate::text::clean_line(&warning.message, 300);
        Self {
            source: Source::Warning,
            warnings: vec![warning],
            created_at: iso(0.0),
            ..Self::plain(id, title, String::new(), agent, 0.0)
        }
    }

    /// The row of a session that is live and in no store yet; `since` in epoch milliseconds.
    pub(super) fn of_live(id: String, title: String, cwd: String, agent: &str, since: i64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era are exact")]
        let seconds = since as f64 / 1_000.0;
        Self { source: Source::Sepia, created_at: iso(seconds), ..Self::plain(id, title, cwd, agent, seconds) }
    }

    /// A row of which only the id is known.
    #[cfg(test)]
    pub(crate) fn new(id: &str, agent: &str) -> Self {
        Self::plain(id.to_owned(), String::new(), String::new(), agent, 0.0)
    }

    fn plain(id: String, title: String, cwd: String, agent: &str, activity: f64) -> Self {
        Self {
            id,
            title,
            cwd,
            agent: agent.to_owned(),
            updated_at: iso(activity),
            locked: false,
            lock_holder_pid: None,
            source: Source::Agent(agent.to_owned()),
            busy: false,
            pinned: false,
            archived: false,
            project_ids: Vec::new(),
            model: None,
            spans: Vec::new(),
            parent_session_id: None,
            agent_id: None,
            created_at: String::new(),
            permissions: Vec::new(),
            stats: None,
            warnings: Vec::new(),
            activity,
        }
    }
}

#[expect(clippy::ref_option, reason = "the form that serde calls")]
fn as_json<S: serde::Serializer>(stats: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
    match stats {
        Some(text) => json_text::serialize(text, serializer),
        None => serializer.serialize_none(),
    }
}

/// Epoch seconds as ISO 8601 in UTC with milliseconds; a time that no calendar has is the
/// epoch.
pub(super) fn iso(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and what is out of range has no date")]
    let millis = (seconds * 1000.0).round() as i64;
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn times_have_milliseconds_and_a_z() {
        assert_eq!(iso(1_700_100_000.0), "2023-11-16T02:00:00.000Z");
        assert_eq!(iso(1_700_100_000.365_4), "2023-11-16T02:00:00.365Z");
        assert_eq!(iso(f64::NAN), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(f64::INFINITY), "1970-01-01T00:00:00.000Z");
    }
}
