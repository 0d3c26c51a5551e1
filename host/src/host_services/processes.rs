//! `processes`: whether the process that a lock names still runs, and who holds a lock.

use super::{Reach, contract::processes::Host};
use wasmtime::Result;

impl Host for Reach {
    async fn start_ticks(&mut self, pid: u32) -> Result<Option<u64>> {
        self.asked_something_else();
        Ok(sepia_services::start_ticks(pid))
    }

    async fn command_line(&mut self, pid: u32) -> Result<Option<String>> {
        self.asked_something_else();
        Ok(sepia_services::command_line(pid))
    }

    async fn lock_holders(&mut self, store: String, paths: Vec<String>) -> Result<Vec<Option<u32>>> {
        self.asked_something_else();
        let nobody = || vec![None; paths.len()];
        Ok(self.store(&store).map_or_else(|_| nobody(), |store| sepia_services::lock_holders(store, &paths)))
    }
}
