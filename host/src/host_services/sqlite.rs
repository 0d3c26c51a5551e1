//! `sqlite`: the databases of agents, through the native library.

use super::contract::sqlite::{Host, HostConnection, HostRows};
use super::{Reach, apart};
use crate::loader::Question;
use sepia_ir::{DriverError, ErrorCode, SqlColumn, SqlValue};
use sepia_services::ServiceError;
use sepia_services::sqlite::{ReadConnection, Rows, WriteConnection};
use wasmtime::Result;
use wasmtime::component::Resource;

type Answer<T> = Result<std::result::Result<T, DriverError>>;
type Served<T> = std::result::Result<T, ServiceError>;

/// A database that a guest has open.
#[derive(Debug)]
pub enum Connection {
    /// For reading.
    Read(ReadConnection),
    /// For writing.
    Write(Box<WriteConnection>),
}

impl Connection {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Served<Rows> {
        match self {
            Self::Read(connection) => connection.query(sql, parameters),
            Self::Write(connection) => connection.query(sql, parameters),
        }
    }

    fn writing(&self) -> std::result::Result<&WriteConnection, DriverError> {
        match self {
            Self::Write(connection) => Ok(connection),
            Self::Read(_) => {
                let message = "the connection reads; writing needs a connection that writes";
                Err(DriverError::new(ErrorCode::Unsupported, message))
            }
        }
    }
}

impl Reach {
    fn opened(&mut self, connection: Served<Connection>) -> Answer<Resource<Connection>> {
        match connection {
            Ok(connection) => Ok(Ok(self.held.push(connection)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    fn with_writing<R>(
        &self,
        connection: &Resource<Connection>,
        work: impl FnOnce(&WriteConnection) -> Served<R>,
    ) -> Answer<R> {
        let connection = self.held.get(connection)?;
        Ok(connection.writing().and_then(|connection| Ok(apart(|| work(connection))?)))
    }
}

impl Host for Reach {
    async fn open_read(&mut self, store: String, path: String) -> Answer<Resource<Connection>> {
        self.asked(Question::Database { store: store.clone(), path: path.clone() });
        let connection = apart(|| Ok(Connection::Read(self.store(&store)?.database(&path)?)));
        self.opened(connection)
    }

    async fn open_write(&mut self, store: String, path: String) -> Answer<Resource<Connection>> {
        let connection = apart(|| Ok(Connection::Write(Box::new(self.store(&store)?.writable_database(&path)?))));
        self.opened(connection)
    }

    async fn open_new(&mut self, store: String, path: String, mode: u32) -> Answer<Resource<Connection>> {
        let connection = apart(|| Ok(Connection::Write(Box::new(self.store(&store)?.new_database(&path, mode)?))));
        self.opened(connection)
    }
}

impl HostConnection for Reach {
    async fn query(
        &mut self,
        connection: Resource<Connection>,
        sql: String,
        parameters: Vec<SqlValue>,
    ) -> Answer<Resource<Rows>> {
        let connection = self.held.get(&connection)?;
        match apart(|| connection.query(&sql, &parameters)) {
            Ok(rows) => Ok(Ok(self.held.push(rows)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn execute(
        &mut self,
        connection: Resource<Connection>,
        sql: String,
        parameters: Vec<SqlValue>,
    ) -> Answer<u64> {
        // A hand-off for every row would cost more than the row.
        let connection = self.held.get(&connection)?;
        Ok(connection.writing().and_then(|connection| Ok(connection.execute(&sql, &parameters)?)))
    }

    async fn begin(&mut self, connection: Resource<Connection>) -> Answer<()> {
        self.with_writing(&connection, WriteConnection::begin)
    }

    async fn commit(&mut self, connection: Resource<Connection>) -> Answer<()> {
        self.with_writing(&connection, WriteConnection::commit)
    }

    async fn rollback(&mut self, connection: Resource<Connection>) -> Answer<()> {
        self.with_writing(&connection, WriteConnection::rollback)
    }

    async fn drop(&mut self, connection: Resource<Connection>) -> Result<()> {
        let connection = self.held.delete(connection)?;
        match connection {
            Connection::Read(connection) => apart(|| drop(connection)),
            Connection::Write(connection) => apart(|| self.closing.close(connection)),
        }
        Ok(())
    }
}

impl HostRows for Reach {
    async fn columns(&mut self, rows: Resource<Rows>) -> Result<Vec<SqlColumn>> {
        Ok(self.held.get(&rows)?.columns().to_vec())
    }

    async fn next(&mut self, rows: Resource<Rows>, max: u32) -> Answer<Vec<Vec<SqlValue>>> {
        let rows = self.held.get_mut(&rows)?;
        Ok(apart(|| rows.next(max as usize)).map_err(DriverError::from))
    }

    async fn drop(&mut self, rows: Resource<Rows>) -> Result<()> {
        self.held.delete(rows)?;
        Ok(())
    }
}
