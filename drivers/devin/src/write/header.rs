//! The row of a session, and the session as a reader will find it.

use super::shape::Shape;
use crate::carry::{AS_WRITTEN, said};
use crate::heads::Heads;
use crate::place::Source;
use crate::prompts::Prompts;
use crate::row::{BACKEND, LISTED, Listed, from_prompt, listed_row};
use crate::session::{CHECKPOINTS, OWN, STORED, Stored};
use crate::time;
use crate::title;
use crate::value::Columns;
use sepia_ir::{DriverError, ErrorCode, Loss, LossKind, Session, SqlValue};
use sepia_sdk::carried::KEY;
use sepia_sdk::json::{Object, parse};
use sepia_sdk::metadata::Members;

/// Columns of the row, in the order of [`Row::values`].
pub(crate) const COLUMNS: [&str; 15] = [
    "id",
    "working_directory",
    "backend_type",
    "model",
    "agent_mode",
    "permission_mode",
    "created_at",
    "last_activity_at",
    "title",
    "main_chain_id",
    "shell_last_seen_index",
    "cogs_json",
    "workspace_dirs",
    "hidden",
    "metadata",
];
/// Modes that the agent has.
const MODES: [&str; 7] = ["accept-edits", "bypass", "normal", "plan", "ask", "smart", "auto"];
/// The mode of a session whose own the agent does not have: the one that it gives those which say nothing.
const MODE: &str = "accept-edits";
/// Backends that the agent itself writes, in any case of letters.
const BACKENDS: [&str; 4] = [BACKEND, "local", "cli", "devin"];
/// Members that tell of metadata that the agent wrote it.
const NATIVE: [&str; 2] = ["response_dimensions", "total_acu_cost"];
/// Prompts from here on are told in milliseconds.
const MILLISECONDS: f64 = 1e11;

/// The row of a session.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    id: String,
    working_directory: String,
    backend: String,
    model: String,
    mode: String,
    created: i64,
    active: i64,
    title: Option<String>,
    pub(crate) tip: Option<i64>,
    shell_last_seen_index: i64,
    cogs: Option<String>,
    workspace_dirs: String,
    hidden: i64,
    /// Without what rides along.
    metadata: Option<String>,
}

impl Row {
    /// Of a session that gets this id. Its working directory has to be known.
    pub(crate) fn of(header: &Session, id: &str, cogs: Option<String>) -> Result<Self, DriverError> {
        if !header.working_directory.starts_with('/') {
            let message = "the session has no absolute working directory, without which the agent can't go on with it; \
                           name one";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let known = |time: f64| (time > 0.0 && time.is_finite()).then_some(time);
        let active = known(header.last_activity_at).or(known(header.created_at)).unwrap_or_else(time::now);
        let created = known(header.created_at).unwrap_or(active).min(active);
        let is_native = BACKENDS.iter().any(|name| name.eq_ignore_ascii_case(&header.backend_type));
        let dirs: Vec<&str> = vec![&header.working_directory];
        let is_list = matches!(parse::<Vec<String>>(&header.workspace_dirs), Ok(dirs) if !dirs.is_empty());
        #[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
        Ok(Self {
            id: id.to_owned(),
            working_directory: header.working_directory.clone(),
            backend: if is_native { header.backend_type.clone() } else { BACKEND.to_owned() },
            model: header.model.clone(),
            mode: if MODES.contains(&header.agent_mode.as_str()) { &header.agent_mode } else { MODE }.to_owned(),
            created: created.floor() as i64,
            // Up, for a listing goes by this column and no session is newer than it says.
            active: active.ceil() as i64,
            title: title::kept(&header.title),
            tip: None,
            shell_last_seen_index: header.shell_last_seen_index,
            cogs,
            workspace_dirs: if is_list {
                header.workspace_dirs.clone()
            } else {
                serde_json::to_string(&dirs).unwrap_or_else(|_| "[]".to_owned())
            },
            hidden: i64::from(header.hidden != 0),
            metadata: metadata(header),
        })
    }

    /// Whether the session has a title of its own.
    pub(crate) fn has_title(&self) -> bool {
        self.title.is_some()
    }

    /// Values of the columns.
    pub(crate) fn values(&self, carried: Option<&str>) -> Vec<SqlValue> {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let maybe = |text: Option<&str>| text.map_or(SqlValue::Null, |text| SqlValue::Text(text.to_owned()));
        vec![
            text(&self.id),
            text(&self.working_directory),
            text(&self.backend),
            text(&self.model),
            text(&self.mode),
            text(&self.mode),
            SqlValue::Integer(self.created),
            SqlValue::Integer(self.active),
            maybe(self.title.as_deref()),
            self.tip.map_or(SqlValue::Null, SqlValue::Integer),
            SqlValue::Integer(self.shell_last_seen_index),
            maybe(self.cogs.as_deref()),
            text(&self.workspace_dirs),
            SqlValue::Integer(self.hidden),
            maybe(self.with(carried).as_deref()),
        ]
    }

    /// `metadata` with what rides along.
    pub(crate) fn with(&self, carried: Option<&str>) -> Option<String> {
        let Some(carried) = carried else { return self.metadata.clone() };
        Some(extended(self.metadata.as_deref().unwrap_or(EMPTY), KEY, carried))
    }

    /// The row as a listing finds it, and what else the row tells. Columns that the database has not
    /// are nothing.
    pub(crate) fn read(&self, shape: &Shape, source: Source, newest: Option<i64>) -> Option<(Listed, Stored)> {
        let values = self.values(None);
        let column = |name: &&str| {
            let at = COLUMNS.iter().position(|column| column == name).filter(|_| shape.has("sessions", &[name]));
            at.map_or(SqlValue::Null, |at| values[at].clone())
        };
        let mut listed: Vec<SqlValue> = LISTED.iter().map(column).collect();
        listed.push(newest.map_or(SqlValue::Null, SqlValue::Integer));
        listed.push(SqlValue::Integer(i64::from(self.tip.is_some())));
        let stored = Stored::of(STORED.iter().map(column).collect());
        Some((listed_row(source.file(), listed, &Heads::default())?, stored))
    }
}

/// What the agent writes of a session that cost nothing yet.
const EMPTY: &str = r#"{"total_credit_cost":0,"total_acu_cost":0,"response_dimensions":[]}"#;

/// `metadata` of a session: what the agent wrote there, when it was one of this agent, and checkpoints.
fn metadata(header: &Session) -> Option<String> {
    let members: Object<'_> = parse(&header.metadata).unwrap_or_default();
    let is_own = NATIVE.iter().any(|name| members.get(name).is_some());
    if !is_own && header.checkpoints.is_empty() {
        return None;
    }
    let from: Object<'_> = if is_own { members } else { parse(EMPTY).unwrap_or_default() };
    let mut metadata = Members::default();
    for (at, (name, value)) in from.0.iter().enumerate() {
        let again = from.0[at + 1..].iter().any(|(later, _)| later == name);
        if !again && !OWN.contains(&name.as_ref()) {
            metadata.raw(name, value.get());
        }
    }
    if !header.checkpoints.is_empty() {
        metadata.value(CHECKPOINTS, &header.checkpoints);
    }
    Some(metadata.finish())
}

/// What rides along with a session, with what its columns say beside it.
pub(crate) fn with_columns(carried: &str, native: &Session) -> String {
    let members: Object<'_> = parse(carried).unwrap_or_default();
    let mut columns = Members::default();
    for (name, _) in &members.0 {
        if let Some(said) = said(native, name) {
            columns.raw(name, &said);
        }
    }
    let columns = columns.finish();
    if columns == "null" { carried.to_owned() } else { extended(carried, AS_WRITTEN, &columns) }
}

/// An object, JSON text with a member or more, with one more member.
fn extended(object: &str, name: &str, value: &str) -> String {
    match object.strip_suffix('}') {
        Some(members) => format!("{members},\"{name}\":{value}}}"),
        None => format!("{{\"{name}\":{value}}}"),
    }
}

/// Gives a session without title or model what its messages tell, as a reader does. `prompts` and
/// `models` are those of the live branch, in order.
pub(crate) fn complete(listed: &mut Listed, history: &Prompts, prompt: Option<&str>, model: Option<&str>) {
    from_prompt(listed, history.first());
    from_prompt(listed, prompt);
    if listed.session.title.is_empty() {
        listed.session.title = sepia_sdk::one_line(&listed.session.id);
        listed.title_source = "id";
    }
    if listed.session.model.is_empty() {
        model.unwrap_or_default().clone_into(&mut listed.session.model);
    }
}

/// The unit of the prompts that are there already: the agent recalls them by their times.
pub(crate) fn in_milliseconds(latest: Option<f64>) -> bool {
    latest.is_some_and(|latest| latest >= MILLISECONDS)
}

/// Rows of `prompt_history`: text, time, session, whether it went to a shell.
pub(crate) const PROMPT_COLUMNS: [&str; 4] = ["content", "timestamp", "session_id", "is_shell"];

/// The prompts of a session as rows.
#[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
pub(crate) fn prompt_rows(header: &Session, id: &str, milliseconds: bool) -> Vec<Vec<SqlValue>> {
    let row = |prompt: &sepia_ir::PromptHistoryEntry| {
        let time = if milliseconds { prompt.timestamp } else { prompt.timestamp / 1000.0 };
        vec![
            SqlValue::Text(prompt.content.clone()),
            SqlValue::Integer(time.floor() as i64),
            SqlValue::Text(id.to_owned()),
            SqlValue::Integer(i64::from(prompt.is_shell)),
        ]
    };
    header.prompt_history.iter().map(row).collect()
}

/// The prompts as a reader will find them.
pub(crate) fn prompts_read(rows: &[Vec<SqlValue>], shape: &Shape) -> Prompts {
    let mut prompts = Prompts::default();
    if shape.has("prompt_history", &["session_id", "content"]) {
        let has = |name: &str, value: &SqlValue| {
            if shape.has("prompt_history", &[name]) { value.clone() } else { SqlValue::Null }
        };
        for (at, row) in rows.iter().enumerate() {
            let id = SqlValue::Integer(i64::try_from(at).unwrap_or(i64::MAX));
            let row = vec![row[0].clone(), has("timestamp", &row[1]), has("is_shell", &row[3]), has("id", &id)];
            prompts.take(&mut Columns::of(row));
        }
    }
    prompts
}

/// What of a session this database has no column for, and what no session here can say.
pub(crate) fn losses(header: &Session, shape: &Shape, carries: bool) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut lose = |kind: LossKind, message: String| losses.push(Loss { kind, node_id: None, message });
    if let Some(parent) = &header.parent_session_id {
        lose(
            LossKind::Dropped,
            format!(
                "that the session is a sub-agent's of session `{parent}` is not kept: such sessions can't be resumed"
            ),
        );
    }
    let can_carry = shape.has("sessions", &["metadata"]);
    if carries && can_carry {
        lose(
            LossKind::MetadataOnly,
            "members of the session that this agent has no column for are kept beside it".to_owned(),
        );
    }
    if carries && !can_carry {
        lose(
            LossKind::Dropped,
            "members of the session that this version of the agent has no column for are gone".to_owned(),
        );
    }
    losses
}
