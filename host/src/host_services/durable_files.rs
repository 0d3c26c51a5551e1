//! `durable-files`: writing that is atomic and durable, in calls that may write.

use super::contract::durable_files::{Host, HostNewFile};
use super::{Reach, apart};
use sepia_ir::{DriverError, ErrorCode};
use sepia_services::NewFile;
use wasmtime::Result;
use wasmtime::component::Resource;

type Answer<T> = Result<std::result::Result<T, DriverError>>;

/// A file that a guest is writing, until it is committed.
#[derive(Debug)]
pub struct UnseenFile(Option<NewFile>);

fn over() -> DriverError {
    DriverError::new(ErrorCode::Invalid, "the file was committed, and takes no more")
}

impl Host for Reach {
    async fn replace(
        &mut self,
        store: String,
        path: String,
        content: Vec<u8>,
        mode: u32,
        expect: Option<u64>,
    ) -> Answer<()> {
        let replace = || Ok(self.store(&store)?.replace(&path, &content, mode, expect)?);
        Ok(apart(replace))
    }

    async fn append(&mut self, store: String, path: String, content: Vec<u8>, expect: u64) -> Answer<()> {
        let append = || Ok(self.store(&store)?.append(&path, &content, expect)?);
        Ok(apart(append))
    }

    async fn create(&mut self, store: String, path: String, mode: u32) -> Answer<Resource<UnseenFile>> {
        let created = apart(|| self.store(&store)?.create(&path, mode));
        match created {
            Ok(file) => Ok(Ok(self.held.push(UnseenFile(Some(file)))?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn discard(&mut self, store: String, path: String) -> Answer<u64> {
        let discard = || Ok(self.store(&store)?.discard(&path)?);
        Ok(apart(discard))
    }
}

impl HostNewFile for Reach {
    async fn write(&mut self, file: Resource<UnseenFile>, content: Vec<u8>) -> Answer<()> {
        let Some(file) = &mut self.held.get_mut(&file)?.0 else { return Ok(Err(over())) };
        Ok(apart(|| file.write(&content)).map_err(DriverError::from))
    }

    async fn commit(&mut self, file: Resource<UnseenFile>, expect: Option<u64>) -> Answer<()> {
        let Some(file) = self.held.get_mut(&file)?.0.take() else { return Ok(Err(over())) };
        Ok(apart(|| file.commit(expect)).map_err(DriverError::from))
    }

    async fn drop(&mut self, file: Resource<UnseenFile>) -> Result<()> {
        self.held.delete(file)?;
        Ok(())
    }
}
