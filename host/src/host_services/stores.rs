//! `stores`: where the stores are, for messages.

use super::{Reach, contract::stores::Host};
use wasmtime::Result;

impl Host for Reach {
    async fn location(&mut self, store: String) -> Result<Option<String>> {
        Ok(self.store(&store).ok().map(|store| store.place().to_string_lossy().into_owned()))
    }
}
