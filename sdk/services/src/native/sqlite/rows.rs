//! A query: answered at once when it is small, else run ahead on a thread of its own. SQLite's
//! rows borrow their statement and that its connection, and whoever asks for rows may come
//! back from anywhere, or never.

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
const BATCH: Amount = Amount { rows: 1024, bytes: 1 << 20 };
/// A query of no more than this is answered at once: a thread costs as much as reading some 100 KiB,
/// and memory that one thread takes and another gives back costs most of all. Of a larger one so
/// much is read twice.
const SMALL: Amount = Amount { rows: 4096, bytes: 4 << 20 };
/// What a query inside a write may give.
const FEW: Amount = Amount { rows: 65_536, bytes: 64 << 20 };

#[derive(Clone, Copy)]
struct Amount {
    rows: usize,
    bytes: usize,
}

type Row = Vec<SqlValue>;

/// The rows of a query, in its order. Dropping it stops the query.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<SqlColumn>,
    /// Batches that a thread makes; none when all rows are here.
    batches: Option<Receiver<Result<Vec<Row>, ServiceError>>>,
    waiting: VecDeque<Row>,
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
        let run = Run { shown: pool.shown().to_owned(), sql, parameters, deadline };
        let (columns, small) = run.begin(&connection, SMALL)?;
        if let Some(rows) = small {
            pool.check()?;
            pool.put(connection);
            return Ok(Self { columns, batches: None, waiting: rows.into(), stop });
        }
        let (out, batches) = sync_channel(1);
        let owner = Arc::clone(pool);
        let work = move || run.on_thread(connection, &owner, &out);
        let spawned = thread::Builder::new().name("sqlite".to_owned()).spawn(work);
        spawned.map_err(|source| ServiceError::Io { path: pool.shown().to_owned(), source })?;
        Ok(Self { columns, batches: Some(batches), waiting: VecDeque::new(), stop })
    }

    /// All rows of a query on this connection, which goes on being used by who asks: they have to be
    /// few.
    pub(super) fn few(
        connection: &Connection,
        shown: &str,
        sql: &str,
        parameters: &[SqlValue],
        deadline: Deadline,
    ) -> Result<Self, ServiceError> {
        let run = Run { shown: shown.to_owned(), sql: sql.to_owned(), parameters: parameters.to_vec(), deadline };
        let (columns, few) = run.begin(connection, FEW)?;
        let waiting = few.ok_or_else(|| {
            let most = FEW.rows;
            ServiceError::Query(format!(
                "a query on a database that is being written gives at most {most} rows; ask for fewer at a time"
            ))
        })?;
        Ok(Self { columns, batches: None, waiting: waiting.into(), stop: Arc::default() })
    }

    /// The columns of its rows.
    pub fn columns(&self) -> &[SqlColumn] {
        &self.columns
    }

    /// The next rows, at most `max`; none at the end.
    pub fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, ServiceError> {
        if let Some(batches) = self.batches.as_ref().filter(|_| self.waiting.is_empty()) {
            // The sender is gone when the last row was sent.
            self.waiting = batches.recv().unwrap_or_else(|_| Ok(Vec::new()))?.into();
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

/// A query.
struct Run {
    shown: String,
    sql: String,
    parameters: Vec<SqlValue>,
    deadline: Deadline,
}

/// Why a query ends before its last row.
enum End {
    /// Nobody wants more.
    Unwanted,
    Failed(ServiceError),
}

impl Run {
    /// The columns, and the rows if they are few. Otherwise what was read is forgotten, for the
    /// statement can't go on elsewhere: little is done twice.
    fn begin(&self, connection: &Connection, most: Amount) -> Result<(Vec<SqlColumn>, Option<Vec<Row>>), ServiceError> {
        let mut statement = connection.prepare_cached(&self.sql).map_err(|e| self.failed(e))?;
        let column = |c: rusqlite::Column<'_>| SqlColumn {
            name: c.name().to_owned(),
            declared_type: c.decl_type().map(str::to_owned),
        };
        let columns = statement.columns().map(column).collect();
        let mut few = None;
        let taken = self.take(&mut statement, most, |rows, last| {
            few = last.then_some(rows);
            if last { Ok(()) } else { Err(End::Unwanted) }
        });
        match taken {
            Err(End::Failed(error)) => Err(error),
            Ok(()) | Err(End::Unwanted) => Ok((columns, few)),
        }
    }

    fn on_thread(self, connection: Connection, pool: &Pool, out: &SyncSender<Result<Vec<Row>, ServiceError>>) {
        let outcome = match connection.prepare(&self.sql) {
            Ok(mut statement) => {
                self.take(&mut statement, BATCH, |rows, _| out.send(Ok(rows)).map_err(|_| End::Unwanted))
            }
            Err(e) => Err(End::Failed(self.failed(e))),
        };
        let outcome = outcome.and_then(|()| pool.check().map_err(End::Failed));
        pool.put(connection);
        if let Err(End::Failed(error)) = outcome {
            // Whoever asked may be gone.
            let _ = out.send(Err(error));
        }
    }

    /// Hands over the rows in batches, and with each whether it is the last.
    fn take(
        &self,
        statement: &mut Statement<'_>,
        most: Amount,
        mut hand_over: impl FnMut(Vec<Row>, bool) -> Result<(), End>,
    ) -> Result<(), End> {
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
            if batch.len() >= most.rows || bytes >= most.bytes {
                bytes = 0;
                hand_over(std::mem::take(&mut batch), false)?;
            }
        }
        hand_over(batch, true)
    }

    fn failed(&self, error: rusqlite::Error) -> ServiceError {
        let interrupted = error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
        match self.deadline.check(&self.shown) {
            Err(time) if interrupted => time,
            _ => failed(&self.shown, error),
        }
    }
}

/// A value, bound to its place in a statement.
pub(super) struct Bound<'a>(pub(super) &'a SqlValue);

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
        ValueRef::Text(text) => SqlValue::Text(match str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(text).into_owned(),
        }),
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
