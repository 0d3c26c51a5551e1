//! The index of sessions, `db/sessions.db`. The agent may be writing to it.
//!
//! Only columns that are there are asked for. In a scan, only those that stand before the long
//! ones in a row: `status_lock` counts the changes of a row.

use crate::facts::{Facts, Meta};
use crate::place::STORE;
use crate::time;
use sepia_ir::{DriverError, ErrorCode, SqlValue, Warning};
use sepia_sdk::{Database, Host};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Path of the index.
pub(crate) const INDEX: &str = "db/sessions.db";
/// Ids bound at once.
const BOUND: usize = 200;

/// What a scan asks of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outline {
    pub(crate) id: String,
    /// Changes with the row.
    pub(crate) stamp: String,
}

/// The index, opened when it is first asked.
pub(crate) struct Index {
    host: Host,
    /// Ids that are asked for together, when the first one is.
    wanted: Vec<String>,
    state: RefCell<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Closed,
    Open(Rc<Table>),
    /// There is none, or none that can be read; why.
    Unusable(Option<DriverError>),
}

struct Table {
    database: Box<dyn Database>,
    columns: HashSet<String>,
    rows: RefCell<HashMap<String, Option<Rc<Facts>>>>,
}

impl Index {
    /// The index of a store; `wanted` are the ids that may be asked for.
    pub(crate) fn new(host: &Host, wanted: Vec<String>) -> Self {
        Self { host: host.clone(), wanted, state: RefCell::default() }
    }

    fn table(&self) -> Result<Option<Rc<Table>>, DriverError> {
        if let State::Closed = &*self.state.borrow() {
        } else {
            return match &*self.state.borrow() {
                State::Open(table) => Ok(Some(Rc::clone(table))),
                State::Unusable(None) | State::Closed => Ok(None),
                State::Unusable(Some(error)) => Err(error.clone()),
            };
        }
        let opened = Table::open(&self.host);
        let (state, answer) = match opened {
            Ok(Some(table)) => {
                let table = Rc::new(table);
                (State::Open(Rc::clone(&table)), Ok(Some(table)))
            }
            Ok(None) => (State::Unusable(None), Ok(None)),
            Err(error) => (State::Unusable(Some(error.clone())), Err(error)),
        };
        *self.state.borrow_mut() = state;
        answer
    }

    /// What all rows look like.
    pub(crate) fn outlines(&self) -> Result<Vec<Outline>, DriverError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let names = table.known(&["session_id", "status_lock", "status", "exit_code", "ended_at", "pid"]);
        let rows = table.database.rows(&format!("SELECT {} FROM sessions", names.join(", ")), &[])?;
        let outline = |row: Vec<SqlValue>| {
            let id = text(row.first()?)?;
            let stamp: Vec<String> = row.iter().skip(1).map(shown).collect();
            Some(Outline { id, stamp: stamp.join(":") })
        };
        Ok(rows.into_iter().filter_map(outline).collect())
    }

    /// The row of a session.
    pub(crate) fn row(&self, id: &str) -> Result<Option<Rc<Facts>>, DriverError> {
        let Some(table) = self.table()? else { return Ok(None) };
        if let Some(known) = table.rows.borrow().get(id) {
            return Ok(known.clone());
        }
        let together = self.wanted.iter().any(|wanted| wanted == id);
        let alone = [id.to_owned()];
        let ids: &[String] = if together { &self.wanted } else { &alone };
        for ids in ids.chunks(BOUND) {
            table.fetch(ids)?;
        }
        Ok(table.rows.borrow().get(id).cloned().flatten())
    }

    /// The sub-agent of a session, by its own id in there: the row's id, of several the newest.
    pub(crate) fn child(&self, parent: &str, agent: &str) -> Result<Option<String>, DriverError> {
        let Some(table) = self.table()? else { return Ok(None) };
        if !["parent_session_id", "agent_id"].iter().all(|name| table.columns.contains(*name)) {
            return Ok(None);
        }
        let sql = "SELECT session_id FROM sessions WHERE parent_session_id = ? AND agent_id = ? ORDER BY rowid DESC";
        let rows = table.database.rows(sql, &[SqlValue::Text(parent.to_owned()), SqlValue::Text(agent.to_owned())])?;
        Ok(rows.first().and_then(|row| text(row.first()?)))
    }

    /// Sessions that go on, as far as their rows say, with their ids.
    pub(crate) fn open_sessions(&self) -> Result<Vec<(String, Facts)>, DriverError> {
        let Some(table) = self.table()? else { return Ok(Vec::new()) };
        let names = table.known(&["session_id", "pid", "status", "ended_at"]);
        if names.len() < 4 {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {} FROM sessions WHERE ended_at IS NULL AND status IN ('idle', 'running', 'pending')",
            names.join(", ")
        );
        let rows = table.database.rows(&sql, &[])?;
        let open = |row: Vec<SqlValue>| {
            let id = text(row.first()?)?;
            Some((id, facts(names.iter().map(|name| (*name).to_owned()).zip(row).collect())))
        };
        Ok(rows.into_iter().filter_map(open).collect())
    }

    /// The warning of an index that can't be read.
    pub(crate) fn warning(error: &DriverError) -> Warning {
        let message = format!("the index of sessions can't be read, so what only it knows is missing: {error}");
        Warning::new("unreadable-index", message).in_file(INDEX)
    }
}

impl Table {
    fn open(host: &Host) -> Result<Option<Self>, DriverError> {
        let database = match host.database(STORE, INDEX) {
            Ok(database) => database,
            Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let columns: HashSet<String> =
            database.rows("PRAGMA table_info(sessions)", &[])?.iter().filter_map(|row| text(row.get(1)?)).collect();
        if !columns.contains("session_id") {
            let message = format!("`{INDEX}` has no table `sessions` of a known layout");
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
        Ok(Some(Self { database, columns, rows: RefCell::default() }))
    }

    /// Those of the columns that there are.
    fn known<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        names.iter().copied().filter(|name| self.columns.contains(*name)).collect()
    }

    fn fetch(&self, ids: &[String]) -> Result<(), DriverError> {
        const COLUMNS: [&str; 21] = [
            "session_id",
            "source",
            "pid",
            "started_at",
            "ended_at",
            "exit_code",
            "status",
            "provider",
            "model",
            "cwd",
            "workspace_root",
            "team_name",
            "parent_session_id",
            "parent_agent_id",
            "agent_id",
            "conversation_id",
            "is_subagent",
            "prompt",
            "metadata_json",
            "messages_path",
            "updated_at",
        ];
        let names = self.known(&COLUMNS);
        let holes = vec!["?"; ids.len()].join(", ");
        let sql = format!("SELECT {} FROM sessions WHERE session_id IN ({holes})", names.join(", "));
        let parameters: Vec<SqlValue> = ids.iter().cloned().map(SqlValue::Text).collect();
        let found = self.database.rows(&sql, &parameters)?;
        let mut rows = self.rows.borrow_mut();
        rows.extend(ids.iter().map(|id| (id.clone(), None)));
        for row in found {
            let Some(id) = row.first().and_then(text) else { continue };
            let members = names.iter().map(|name| (*name).to_owned()).zip(row).collect();
            rows.insert(id, Some(Rc::new(facts(members))));
        }
        Ok(())
    }
}

fn facts(row: HashMap<String, SqlValue>) -> Facts {
    let told = |name: &str| row.get(name).and_then(text).filter(|text| !text.is_empty());
    let time = |name: &str| told(name).and_then(|text| time::of_text(&text));
    let whole = |name: &str| match row.get(name) {
        Some(SqlValue::Integer(number)) => Some(*number),
        _ => None,
    };
    Facts {
        status: told("status"),
        started: time("started_at"),
        ended: time("ended_at"),
        updated: time("updated_at"),
        exit_code: whole("exit_code"),
        pid: whole("pid").and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0),
        source: told("source"),
        provider: told("provider"),
        model: told("model"),
        cwd: told("cwd"),
        workspace_root: told("workspace_root"),
        team: told("team_name"),
        prompt: told("prompt"),
        messages_path: told("messages_path"),
        parent: told("parent_session_id"),
        agent: told("agent_id"),
        parent_agent: told("parent_agent_id"),
        conversation: told("conversation_id"),
        meta: told("metadata_json").map(|json| Meta::of(&json)).unwrap_or_default(),
    }
}

fn text(value: &SqlValue) -> Option<String> {
    match value {
        SqlValue::Text(text) => Some(text.clone()),
        SqlValue::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        SqlValue::Integer(number) => Some(number.to_string()),
        SqlValue::Real(_) | SqlValue::Null => None,
    }
}

fn shown(value: &SqlValue) -> String {
    match value {
        SqlValue::Real(number) => number.to_string(),
        other => text(other).unwrap_or_default(),
    }
}
