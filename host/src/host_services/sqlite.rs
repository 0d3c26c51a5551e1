//! `sqlite`: the databases of agents, through the native library.
//!
//! This build reads. The functions that write answer `unsupported`.

use super::contract::sqlite::{Host, HostConnection, HostRows};
use super::{Reach, apart};
use crate::loader::Question;
use sepia_ir::{DriverError, ErrorCode, SqlColumn, SqlValue};
use sepia_services::sqlite::{ReadConnection, Rows};
use wasmtime::Result;
use wasmtime::component::Resource;

type Answer<T> = Result<std::result::Result<T, DriverError>>;

fn reads_only() -> DriverError {
    DriverError::new(ErrorCode::Unsupported, "the connection reads; writing needs a connection that writes")
}

impl Host for Reach {
    async fn open_read(&mut self, store: String, path: String) -> Answer<Resource<ReadConnection>> {
        self.asked(Question::Database { store: store.clone(), path: path.clone() });
        match apart(|| self.store(&store)?.database(&path)) {
            Ok(connection) => Ok(Ok(self.databases.push(connection)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn open_write(&mut self, _store: String, _path: String) -> Answer<Resource<ReadConnection>> {
        let message = "this build of sepia lends no database for writing";
        Ok(Err(DriverError::new(ErrorCode::Unsupported, message)))
    }
}

impl HostConnection for Reach {
    async fn query(
        &mut self,
        connection: Resource<ReadConnection>,
        sql: String,
        parameters: Vec<SqlValue>,
    ) -> Answer<Resource<Rows>> {
        let connection = self.databases.get(&connection)?;
        match apart(|| connection.query(&sql, &parameters)) {
            Ok(rows) => Ok(Ok(self.databases.push(rows)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn execute(&mut self, _: Resource<ReadConnection>, _: String, _: Vec<SqlValue>) -> Answer<u64> {
        Ok(Err(reads_only()))
    }

    async fn begin(&mut self, _: Resource<ReadConnection>) -> Answer<()> {
        Ok(Err(reads_only()))
    }

    async fn commit(&mut self, _: Resource<ReadConnection>) -> Answer<()> {
        Ok(Err(reads_only()))
    }

    async fn rollback(&mut self, _: Resource<ReadConnection>) -> Answer<()> {
        Ok(Err(reads_only()))
    }

    async fn drop(&mut self, connection: Resource<ReadConnection>) -> Result<()> {
        self.databases.delete(connection)?;
        Ok(())
    }
}

impl HostRows for Reach {
    async fn columns(&mut self, rows: Resource<Rows>) -> Result<Vec<SqlColumn>> {
        Ok(self.databases.get(&rows)?.columns().to_vec())
    }

    async fn next(&mut self, rows: Resource<Rows>, max: u32) -> Answer<Vec<Vec<SqlValue>>> {
        let rows = self.databases.get_mut(&rows)?;
        Ok(apart(|| rows.next(max as usize)).map_err(DriverError::from))
    }

    async fn drop(&mut self, rows: Resource<Rows>) -> Result<()> {
        self.databases.delete(rows)?;
        Ok(())
    }
}
