//! List rows, from columns alone where those tell everything.

use crate::carry;
use crate::glance::Glance;
use crate::heads::{Head, Heads, child_id};
use crate::place::Opened;
use crate::time;
use crate::title;
use crate::value::{Columns, list};
use sepia_ir::{DriverError, Session, SqlValue, Warning};
use sepia_sdk::one_line;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// `backendType` of sessions whose own says nothing, and of the driver.
pub(crate) const BACKEND: &str = "windsurf";
/// Names that would make a session one of another agent.
const OTHERS: [&str; 3] = ["claude", "cline", "cursor"];

/// Columns of a list row. [`crate::scan`] counts on the times behind the id.
pub(crate) const LISTED: [&str; 12] = [
    "id",
    "created_at",
    "last_activity_at",
    "title",
    "main_chain_id",
    "working_directory",
    "backend_type",
    "model",
    "agent_mode",
    "permission_mode",
    "workspace_dirs",
    "hidden",
];

/// A row, and what it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) session: Session,
    /// `agent`, `first-prompt`, `handoff` or `id`.
    pub(crate) title_source: &'static str,
    /// `created` when the time of the last activity is none.
    pub(crate) time_source: Option<&'static str>,
    /// The tip that the session names.
    pub(crate) named_tip: Option<i64>,
    /// Sub-agents: the head, and the nodes in order.
    pub(crate) inside: Option<Inside>,
    /// Sessions that another one spawned: the node that did.
    pub(crate) spawned_at: Option<i64>,
    /// What rides along with the session, see [`carry`].
    pub(crate) carried: Option<String>,
    pub(crate) warnings: Vec<Warning>,
}

/// What a sub-agent's session consists of.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    /// The session whose rows it is among.
    pub(crate) session: String,
    pub(crate) head: Head,
    pub(crate) nodes: Vec<i64>,
}

/// The rows of these ids, each with its sub-agents behind it.
pub(crate) fn listed(
    opened: &Opened,
    ids: &[&str],
    heads: &Heads,
) -> Result<HashMap<String, Vec<Listed>>, DriverError> {
    let mut rows = HashMap::new();
    for row in opened.database.rows(&sql(opened), &[list(ids)])? {
        let mut row = row;
        let carried = row.pop().and_then(|carried| match carried {
            SqlValue::Text(metadata) => carry::of_session(Some(&metadata)),
            _ => None,
        });
        if let Some(mut listed) = listed_row(opened.source.file(), row, heads) {
            listed.carried = carried;
            rows.entry(listed.session.id.clone()).or_insert_with(|| vec![listed]);
        }
    }
    let untitled: Vec<&str> =
        rows.values().filter(|rows| rows[0].session.title.is_empty()).map(|rows| rows[0].session.id.as_str()).collect();
    let prompts = first_prompts(opened, &untitled)?;
    for rows in rows.values_mut() {
        complete(opened, &mut rows[0], &prompts)?;
        sub_agents(opened, rows, heads)?;
        rows[0].put_back();
    }
    Ok(rows)
}

/// The columns, the largest node id, and whether there is the node that is named as the tip;
/// all of them from indexes where there are some.
pub(crate) fn sql(opened: &Opened) -> String {
    let schema = &opened.schema;
    let columns = schema.select("sessions", "s", &LISTED);
    let carried = schema.carried("s");
    let which = "s.id IN (SELECT value FROM json_each(?))";
    let named = schema.select("sessions", "s", &["main_chain_id"]);
    match (schema.has_nodes(), schema.indexed) {
        (false, _) => format!("SELECT {columns}, NULL, 0, {carried} FROM sessions s WHERE {which}"),
        (true, true) => format!(
            "SELECT {columns}, (SELECT MAX(n.node_id) FROM message_nodes n WHERE n.session_id = s.id), \
             EXISTS(SELECT 1 FROM message_nodes n WHERE n.session_id = s.id AND n.node_id = {named}), \
             {carried} FROM sessions s WHERE {which}"
        ),
        (true, false) => format!(
            "SELECT {columns}, n.newest, t.node_id IS NOT NULL, {carried} FROM sessions s \
             LEFT JOIN (SELECT session_id, MAX(node_id) AS newest FROM message_nodes GROUP BY session_id) n \
             ON n.session_id = s.id \
             LEFT JOIN (SELECT DISTINCT session_id, node_id FROM message_nodes) t \
             ON t.session_id = s.id AND t.node_id = {named} WHERE {which}"
        ),
    }
}

/// A row of [`LISTED`] and, behind it, the largest node id and whether there is the node that
/// is named.
pub(crate) fn listed_row(file: &str, row: Vec<SqlValue>, heads: &Heads) -> Option<Listed> {
    let mut row = Columns::of(row);
    let mut session = Session::new(row.text()?, BACKEND);
    let mut warnings = Vec::new();
    let created = row.number().and_then(time::plausible);
    let active = row.number().and_then(time::plausible);
    session.last_activity_at = active.or(created).unwrap_or_default().max(created.unwrap_or_default());
    session.created_at = created.unwrap_or(session.last_activity_at);
    session.title = row.text().and_then(|stored| title::kept(&stored)).unwrap_or_default();
    let named_tip = row.whole();
    session.working_directory = row.text().unwrap_or_default();
    session.backend_type = backend(row.text());
    session.model = row.text().unwrap_or_default();
    let (mode, older) = (row.text(), row.text());
    if let Some(mode) = mode.or(older).filter(|mode| !mode.is_empty()) {
        session.agent_mode = mode;
    }
    let dirs = row.text();
    session.workspace_dirs = json_list("workspace_dirs", dirs, file, &mut warnings);
    session.hidden = i64::from(row.flag());
    let newest = row.whole().filter(|id| *id >= 0);
    let there = row.flag() && named_tip.is_some_and(|tip| tip >= 0);
    session.main_chain_id = named_tip.filter(|_| there).or(newest).unwrap_or_default();
    let parent = heads.parents.get(&session.id);
    session.parent_session_id = parent.map(|parent| parent.session.clone());
    session.agent_id = parent.map(|_| session.id.clone());
    Some(Listed {
        title_source: "agent",
        time_source: if active.is_none() { Some("created") } else { None },
        named_tip,
        inside: None,
        spawned_at: parent.and_then(|parent| parent.node),
        session,
        carried: None,
        warnings,
    })
}

impl Listed {
    /// Puts back what rides along with the session, once all that the store itself tells is told.
    pub(crate) fn put_back(&mut self) {
        carry::onto_session(&mut self.session, self.carried.as_deref(), &carry::OF_ROW);
    }
}

/// `backendType` as stored; what would name another agent is set right, for the store tells
/// whose session it is.
fn backend(stored: Option<String>) -> String {
    let fits = |name: &String| !name.is_empty() && !OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other));
    stored.filter(fits).unwrap_or_else(|| BACKEND.to_owned())
}

/// A column that holds the JSON text of a list; nothing reads as an empty one.
pub(crate) fn json_list(column: &str, stored: Option<String>, file: &str, warnings: &mut Vec<Warning>) -> String {
    let empty = || "[]".to_owned();
    let Some(stored) = stored.filter(|text| !matches!(text.trim(), "" | "null")) else { return empty() };
    let cleaned = sepia_sdk::metadata::clean(&stored).into_owned();
    if cleaned.trim_start().starts_with('[') && serde_json::from_str::<&RawValue>(&cleaned).is_ok() {
        return cleaned;
    }
    let message = format!("column {column} of the session holds no JSON list; it counts as an empty one");
    warnings.push(Warning::new("broken-column", message).in_file(file));
    empty()
}

/// Of each of these sessions the first prompt that was typed for the model.
fn first_prompts(opened: &Opened, ids: &[&str]) -> Result<HashMap<String, String>, DriverError> {
    if ids.is_empty() || !opened.schema.has("prompt_history", &["id", "session_id", "content"]) {
        return Ok(HashMap::new());
    }
    let typed = if opened.schema.has("prompt_history", &["is_shell"]) { "is_shell = 0" } else { "1" };
    // SQLite takes the other columns from the row of the minimum.
    let sql = format!(
        "SELECT session_id, content, MIN(id) FROM prompt_history \
         WHERE session_id IN (SELECT value FROM json_each(?)) AND {typed} GROUP BY session_id"
    );
    let mut prompts = HashMap::new();
    for row in opened.database.rows(&sql, &[list(ids)])? {
        let mut row = Columns::of(row);
        if let (Some(session), Some(content)) = (row.text(), row.text()) {
            prompts.insert(session, content);
        }
    }
    Ok(prompts)
}

/// Takes the first prompt for a title where there is none.
pub(crate) fn from_prompt(row: &mut Listed, prompt: Option<&str>) {
    if let Some(prompt) = prompt.filter(|_| row.session.title.is_empty()) {
        row.session.title = one_line(prompt);
        row.title_source = "first-prompt";
    }
}

/// Finds a title and a model for a row that has none.
fn complete(opened: &Opened, row: &mut Listed, prompts: &HashMap<String, String>) -> Result<(), DriverError> {
    from_prompt(row, prompts.get(&row.session.id).map(String::as_str));
    from_nodes(opened, row)
}

/// Looks into the messages for what a row lacks.
pub(crate) fn from_nodes(opened: &Opened, row: &mut Listed) -> Result<(), DriverError> {
    if row.session.title.is_empty() || row.session.model.is_empty() {
        let id = row.session.id.clone();
        let glance = Glance::at(opened, &id, row.named_tip)?;
        from_messages(row, &glance, "first-prompt")?;
    }
    Ok(())
}

/// Takes from the messages what a row lacks.
fn from_messages(row: &mut Listed, glance: &Glance<'_>, source: &'static str) -> Result<(), DriverError> {
    let session = &mut row.session;
    if session.title.is_empty() {
        session.title = one_line(&glance.first_prompt()?.unwrap_or_default());
        row.title_source = source;
    }
    if session.title.is_empty() {
        session.title = one_line(&session.id);
        row.title_source = "id";
    }
    if session.model.is_empty() {
        session.model = glance.last_model()?.unwrap_or_default();
    }
    Ok(())
}

/// Adds the sub-agents that are kept among the nodes of a session.
fn sub_agents(opened: &Opened, rows: &mut Vec<Listed>, heads: &Heads) -> Result<(), DriverError> {
    let (parent, named_tip) = (rows[0].session.clone(), rows[0].named_tip);
    let of_session = heads.of(&parent.id);
    if of_session.is_empty() {
        return Ok(());
    }
    let forest = crate::forest::Forest::read(opened, &parent.id)?;
    for head in of_session {
        let Some(places) = forest.of_sub_agent(named_tip, head.tip) else {
            rows[0].warnings.push(dangling(opened, head));
            continue;
        };
        let id = child_id(&parent.id, &head.agent);
        if !crate::place::is_id(&id) {
            continue;
        }
        let chain = forest.chain(forest.place(head.tip));
        let glance = Glance::of(opened, &parent.id, chain.iter().map(|at| forest.id(*at)).collect());
        let mut session = Session::new(id, parent.backend_type.clone());
        session.working_directory.clone_from(&parent.working_directory);
        session.workspace_dirs.clone_from(&parent.workspace_dirs);
        session.agent_mode.clone_from(&parent.agent_mode);
        session.hidden = parent.hidden;
        session.parent_session_id = Some(parent.id.clone());
        session.agent_id = Some(head.agent.clone());
        session.main_chain_id = head.tip;
        let updated = time::plausible(head.updated);
        session.last_activity_at = updated.unwrap_or(parent.last_activity_at);
        let begun = glance.first_time()?.unwrap_or(parent.created_at);
        session.created_at = begun.min(session.last_activity_at);
        let nodes = places.iter().map(|at| forest.id(*at)).collect();
        let mut row = Listed {
            session,
            title_source: "handoff",
            time_source: if updated.is_none() { Some("parent") } else { None },
            named_tip: Some(head.tip),
            inside: Some(Inside { session: parent.id.clone(), head: head.clone(), nodes }),
            spawned_at: None,
            carried: None,
            warnings: Vec::new(),
        };
        from_messages(&mut row, &glance, "handoff")?;
        rows.push(row);
    }
    Ok(())
}

/// A sub-agent that the store notes and has no messages of.
pub(crate) fn dangling(opened: &Opened, head: &Head) -> Warning {
    let message = format!("sub-agent `{}` has no messages of its own; it is not listed", head.agent);
    Warning::new("dangling-sub-agent", message).in_file(opened.source.file())
}
