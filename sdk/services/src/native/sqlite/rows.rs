//! A query that runs ahead on a thread of its own: SQLite's rows borrow their statement and
//! that its connection, and whoever asks for rows may come back from anywhere, or never.

use super::super::error::ServiceError;
use super::super::store::Deadline;
use super::approach::failed;
use super::guard;
use super::pool::Pool;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};
use sepia_ir::{SqlColumn, SqlValue};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Rows and bytes that are handed over at once; the last row may go over.
const ROWS: usize = 1024;
const BYTES: usize = 1 << 20;

/// The rows of a query, in its order. Dropping it stops the query.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<SqlColumn>,
    batches: Receiver<Result<Vec<Vec<SqlValue>>, ServiceError>>,
    waiting: VecDeque<Vec<SqlValue>>,
    stop: Arc<AtomicBool>,
}

impl Rows {
    /// Starts a query; fails when the statement is wrong or not allowed.
    pub(super) fn start(
        pool: &Arc<Pool>,
        sql: String,
        parameters: Vec<SqlValue>,
        deadline: Deadline,
    ) -> Result<Self, ServiceError> {
        let mut connection = pool.take()?;
        let stop = Arc::new(AtomicBool::new(false));
        guard::bound(&mut connection, deadline, Arc::clone(&stop)).map_err(|e| failed(pool.shown(), e))?;
        let columns = columns(&connection, &sql).map_err(|e| failed(pool.shown(), e))?;
        let (out, batches) = sync_channel(1);
        let run = Run { pool: Arc::clone(pool), sql, parameters, deadline, out };
        let spawned = thread::Builder::new().name("sqlite".to_owned()).spawn(move || run.run(connection));
        spawned.map_err(|source| ServiceError::Io { path: pool.shown().to_owned(), source })?;
        Ok(Self { columns, batches, waiting: VecDeque::new(), stop })
    }

    /// The columns of its rows.
    pub fn columns(&self) -> &[SqlColumn] {
        &self.columns
    }

    /// The next rows, at most `max`; none at the end.
    pub fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, ServiceError> {
        if self.waiting.is_empty() {
            // The sender is gone when the last row was sent.
            self.waiting = self.batches.recv().unwrap_or_else(|_| Ok(Vec::new()))?.into();
        }
        let rest = self.waiting.split_off(max.max(1).min(self.waiting.len()));
        Ok(std::mem::replace(&mut self.waiting, rest).into())
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Looks at a statement without running it.
fn columns(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<SqlColumn>> {
    let statement = connection.prepare(sql)?;
    let column = |c: rusqlite::Column<'_>| SqlColumn {
        name: c.name().to_owned(),
        declared_type: c.decl_type().map(str::to_owned),
    };
    Ok(statement.columns().map(column).collect())
}

/// A query on its thread.
struct Run {
    pool: Arc<Pool>,
    sql: String,
    parameters: Vec<SqlValue>,
    deadline: Deadline,
    out: SyncSender<Result<Vec<Vec<SqlValue>>, ServiceError>>,
}

/// Why a query ends before its last row.
enum End {
    /// Nobody wants more.
    Unwanted,
    Failed(ServiceError),
}

impl Run {
    fn run(self, connection: Connection) {
        let outcome = match connection.prepare(&self.sql) {
            Ok(mut statement) => self.send(&mut statement),
            Err(e) => Err(End::Failed(self.failed(e))),
        };
        let outcome = outcome.and_then(|()| self.pool.check().map_err(End::Failed));
        self.pool.put(connection);
        if let Err(End::Failed(error)) = outcome {
            // Whoever asked may be gone.
            let _ = self.out.send(Err(error));
        }
    }

    fn send(&self, statement: &mut Statement<'_>) -> Result<(), End> {
        let failed = |e| End::Failed(self.failed(e));
        let width = statement.column_count();
        let parameters = rusqlite::params_from_iter(self.parameters.iter().map(Bound));
        let mut rows = statement.query(parameters).map_err(failed)?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            let mut values = Vec::with_capacity(width);
            for column in 0..width {
                let value = owned(row.get_ref(column).map_err(failed)?);
                bytes += size(&value);
                values.push(value);
            }
            batch.push(values);
            if batch.len() >= ROWS || bytes >= BYTES {
                bytes = 0;
                self.out.send(Ok(std::mem::take(&mut batch))).map_err(|_| End::Unwanted)?;
            }
        }
        if batch.is_empty() { Ok(()) } else { self.out.send(Ok(batch)).map_err(|_| End::Unwanted) }
    }

    fn failed(&self, error: rusqlite::Error) -> ServiceError {
        let interrupted = error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
        match self.deadline.check(self.pool.shown()) {
            Err(time) if interrupted => time,
            _ => failed(self.pool.shown(), error),
        }
    }
}

/// A value, bound to its place in a statement.
struct Bound<'a>(&'a SqlValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            SqlValue::Null => ToSqlOutput::Owned(Value::Null),
            SqlValue::Integer(n) => ToSqlOutput::Owned(Value::Integer(*n)),
            SqlValue::Real(n) => ToSqlOutput::Owned(Value::Real(*n)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            SqlValue::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

/// Text that is no UTF-8 has its wrong bytes replaced.
fn owned(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(n) => SqlValue::Integer(n),
        ValueRef::Real(n) => SqlValue::Real(n),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Blob(bytes.to_vec()),
    }
}

fn size(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(bytes) => bytes.len(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 8,
    }
}
