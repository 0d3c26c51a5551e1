//! Rows of the index that are changed, taken out and put back. The agent may be writing to it.

use crate::database::INDEX;
use crate::place::STORE;
use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_sdk::{Database, Host, WritableDatabase};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Most sub-agents of one session, all levels together.
const MOST: usize = 10_000;

/// A row, as it is kept to be put back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) table: String,
    /// Names and values of its columns.
    pub(super) columns: Vec<(String, Value)>,
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Value {
    Null,
    Integer(i64),
    /// The bits of the number, so that it comes back as it was.
    Real(u64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<SqlValue> for Value {
    fn from(value: SqlValue) -> Self {
        match value {
            SqlValue::Null => Self::Null,
            SqlValue::Integer(number) => Self::Integer(number),
            SqlValue::Real(number) => Self::Real(number.to_bits()),
            SqlValue::Text(text) => Self::Text(text),
            SqlValue::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl From<&Value> for SqlValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Integer(*number),
            Value::Real(bits) => Self::Real(f64::from_bits(*bits)),
            Value::Text(text) => Self::Text(text.clone()),
            Value::Blob(bytes) => Self::Blob(bytes.clone()),
        }
    }
}

impl Row {
    /// The value of a column that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|(column, _)| column == name).and_then(|(_, value)| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.columns.iter().find(|(column, _)| column == name).and_then(|(_, value)| match value {
            Value::Integer(number) => Some(*number),
            _ => None,
        })
    }

    /// What stands for the row in a list of what belongs to a session.
    pub(super) fn place(&self) -> String {
        let key = self.text("session_id").map(str::to_owned);
        let key = key.or_else(|| self.number("id").map(|id| id.to_string()));
        format!("{}:{}", self.table, key.unwrap_or_default())
    }

    /// Bytes of its texts.
    pub(super) fn bytes(&self) -> u64 {
        let size = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            Value::Null => 0,
            Value::Integer(_) | Value::Real(_) => 8,
        };
        self.columns.iter().map(|(_, value)| size(value) as u64).sum()
    }
}

/// All that the index has of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// Its rows, its sub-agents', and what waits to become one.
    pub(super) rows: Vec<Row>,
    /// Runs of schedules that name one of the sessions: run and session.
    pub(super) runs: Vec<(String, String)>,
}

/// What is asked of a database, whether it is open for reading or for writing.
struct Tables<'a>(&'a dyn Database);

impl Tables<'_> {
    fn columns(&self, table: &str) -> Result<HashSet<String>, DriverError> {
        let rows = self.0.rows(&format!("PRAGMA table_info({table})"), &[])?;
        let name = |row: Vec<SqlValue>| match row.into_iter().nth(1) {
            Some(SqlValue::Text(name)) => Some(name),
            _ => None,
        };
        Ok(rows.into_iter().filter_map(name).collect())
    }

    fn rows(&self, table: &str, key: &str, value: &str) -> Result<Vec<Row>, DriverError> {
        let sql = format!("SELECT * FROM {table} WHERE {key} = ?");
        let mut query = self.0.query(&sql, &[SqlValue::Text(value.to_owned())])?;
        let names: Vec<String> = query.columns().into_iter().map(|column| column.name).collect();
        let mut rows = Vec::new();
        loop {
            let batch = query.next(256)?;
            if batch.is_empty() {
                return Ok(rows);
            }
            rows.extend(batch.into_iter().map(|row| Row {
                table: table.to_owned(),
                columns: names.iter().cloned().zip(row.into_iter().map(Value::from)).collect(),
            }));
        }
    }

    fn held(&self, id: &str) -> Result<Held, DriverError> {
        let mut held = Held::default();
        if !self.columns("sessions")?.contains("session_id") {
            return Ok(held);
        }
        let has_children = self.columns("sessions")?.contains("parent_session_id");
        let mut ids = vec![id.to_owned()];
        let mut met: HashSet<String> = ids.iter().cloned().collect();
        held.rows = self.rows("sessions", "session_id", id)?;
        let mut next = 0;
        while has_children && let Some(parent) = ids.get(next).cloned() {
            next += 1;
            for row in self.rows("sessions", "parent_session_id", &parent)? {
                let Some(child) = row.text("session_id").map(str::to_owned) else { continue };
                if met.len() < MOST && met.insert(child.clone()) {
                    ids.push(child);
                    held.rows.push(row);
                }
            }
        }
        if self.columns("subagent_spawn_queue")?.contains("root_session_id") {
            held.rows.extend(self.rows("subagent_spawn_queue", "root_session_id", id)?);
        }
        if self.columns("schedule_executions")?.contains("session_id") {
            for id in &ids {
                let runs = self.rows("schedule_executions", "session_id", id)?;
                held.runs
                    .extend(runs.iter().filter_map(|run| Some((run.text("execution_id")?.to_owned(), id.clone()))));
            }
        }
        Ok(held)
    }
}

/// All that the index has of a session; nothing when there is no index.
pub(super) fn held(host: &Host, id: &str) -> Result<Held, DriverError> {
    match host.database(STORE, INDEX) {
        Ok(database) => Tables(&*database).held(id),
        Err(error) if error.code == ErrorCode::NotFound => Ok(Held::default()),
        Err(error) => Err(error),
    }
}

/// The row of a session.
pub(super) fn row(host: &Host, id: &str) -> Result<Option<Row>, DriverError> {
    Ok(held(host, id)?.rows.into_iter().find(|row| row.table == "sessions" && row.text("session_id") == Some(id)))
}

/// A change of the index that is not yet made for good. Dropped, it never was.
pub(super) struct Change {
    database: Box<dyn WritableDatabase>,
    columns: HashSet<String>,
}

impl Change {
    /// Begins one.
    pub(super) fn begin(host: &Host) -> Result<Self, DriverError> {
        let database = host.writable_database(STORE, INDEX)?;
        database.begin()?;
        let columns = Tables(&*database).columns("sessions")?;
        Ok(Self { database, columns })
    }

    /// Sets columns of a row, those that there are, and counts the change as the agent does.
    pub(super) fn update(&self, id: &str, changes: &[(&'static str, SqlValue)]) -> Result<(), DriverError> {
        let known: Vec<&(&'static str, SqlValue)> =
            changes.iter().filter(|(name, _)| self.columns.contains(*name)).collect();
        let mut sets: Vec<String> = known.iter().map(|(name, _)| format!("{name} = ?")).collect();
        if self.columns.contains("status_lock") {
            sets.push("status_lock = status_lock + 1".to_owned());
        }
        if sets.is_empty() {
            return Ok(());
        }
        let mut parameters: Vec<SqlValue> = known.iter().map(|(_, value)| value.clone()).collect();
        parameters.push(SqlValue::Text(id.to_owned()));
        let sql = format!("UPDATE sessions SET {} WHERE session_id = ?", sets.join(", "));
        if self.database.execute(&sql, &parameters)? == 0 {
            return Err(DriverError::new(
                ErrorCode::Conflict,
                format!("the row of session `{id}` went away meanwhile"),
            ));
        }
        Ok(())
    }

    /// Puts a row back as it was.
    pub(super) fn reset(&self, row: &Row) -> Result<(), DriverError> {
        let Some(id) = row.text("session_id") else { return Ok(()) };
        let known: Vec<&(String, Value)> = row.columns.iter().filter(|(name, _)| self.columns.contains(name)).collect();
        let sets: Vec<String> = known.iter().map(|(name, _)| format!("{name} = ?")).collect();
        let mut parameters: Vec<SqlValue> = known.iter().map(|(_, value)| value.into()).collect();
        parameters.push(SqlValue::Text(id.to_owned()));
        let sql = format!("UPDATE sessions SET {} WHERE session_id = ?", sets.join(", "));
        self.database.execute(&sql, &parameters).map(drop)
    }

    /// Takes out what the index has of a session; what that was.
    pub(super) fn take(&self, id: &str) -> Result<Held, DriverError> {
        let held = Tables(&*self.database).held(id)?;
        for row in &held.rows {
            let (table, key, value) = match row.table.as_str() {
                "sessions" => {
                    ("sessions", "session_id", row.text("session_id").map(|id| SqlValue::Text(id.to_owned())))
                }
                _ => ("subagent_spawn_queue", "id", row.number("id").map(SqlValue::Integer)),
            };
            if let Some(value) = value {
                self.database.execute(&format!("DELETE FROM {table} WHERE {key} = ?"), &[value])?;
            }
        }
        Ok(held)
    }

    /// Puts back what was taken out.
    pub(super) fn put_back(&self, held: &Held) -> Result<(), DriverError> {
        for row in &held.rows {
            let table = ["sessions", "subagent_spawn_queue"].into_iter().find(|table| *table == row.table);
            let table = table.ok_or_else(|| DriverError::new(ErrorCode::Invalid, "this is no undo of a deletion"))?;
            let columns = Tables(&*self.database).columns(table)?;
            let known: Vec<&(String, Value)> = row.columns.iter().filter(|(name, _)| columns.contains(name)).collect();
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let holes = vec!["?"; names.len()].join(", ");
            let sql = format!("INSERT INTO {table} ({}) VALUES ({holes})", names.join(", "));
            let values: Vec<SqlValue> = known.iter().map(|(_, value)| value.into()).collect();
            self.database.execute(&sql, &values).map_err(|error| {
                let message = format!("row `{}` can't be put back, another may have its key: {error}", row.place());
                DriverError::new(ErrorCode::Conflict, message)
            })?;
        }
        for (run, session) in &held.runs {
            let sql = "UPDATE schedule_executions SET session_id = ? WHERE execution_id = ?";
            self.database.execute(sql, &[SqlValue::Text(session.clone()), SqlValue::Text(run.clone())])?;
        }
        Ok(())
    }

    /// Makes it for good.
    pub(super) fn commit(self) -> Result<(), DriverError> {
        self.database.commit()
    }
}
