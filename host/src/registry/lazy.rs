//! A registry that is filled when it is first needed, so that what needs no driver waits for none.

use super::{Registry, Setup};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The registry of a process, loaded once, by whoever asks first; the others wait for that.
pub struct LazyRegistry(Source);

enum Source {
    Loaded(Arc<Registry>),
    AtFirstUse { setup: Box<Setup>, loaded: OnceCell<Registry> },
}

impl LazyRegistry {
    /// The registry, loaded now when it was not before.
    pub async fn get(&self) -> &Registry {
        match &self.0 {
            Source::Loaded(registry) => registry,
            Source::AtFirstUse { setup, loaded } => loaded.get_or_init(|| Registry::load(setup)).await,
        }
    }

    /// The registry, when something needed it already.
    pub fn loaded(&self) -> Option<&Registry> {
        match &self.0 {
            Source::Loaded(registry) => Some(registry),
            Source::AtFirstUse { loaded, .. } => loaded.get(),
        }
    }
}

/// Loads what the setup names at first use.
impl From<Setup> for LazyRegistry {
    fn from(setup: Setup) -> Self {
        Self(Source::AtFirstUse { setup: Box::new(setup), loaded: OnceCell::new() })
    }
}

/// Is loaded already.
impl From<Arc<Registry>> for LazyRegistry {
    fn from(registry: Arc<Registry>) -> Self {
        Self(Source::Loaded(registry))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::environment::Environment;
    use crate::home::Home;
    use crate::limits::Limits;
    use crate::registry::Sources;

    #[tokio::test]
    async fn nothing_is_looked_for_before_the_first_use() {
        let folder = tempfile::tempdir().unwrap();
        let drivers = folder.path().join("drivers");
        let home = Home::from_env(&|name| (name == "SEPIA_HOME").then(|| folder.path().display().to_string())).unwrap();
        let lazy = LazyRegistry::from(Setup {
            home,
            limits: Limits::default(),
            sources: Sources { folders: vec![drivers.clone()], path: Vec::new(), libraries: false },
            embedded: &[],
            env: Environment::default(),
        });
        assert!(lazy.loaded().is_none());
        // Found only because the search has not happened yet.
        std::fs::create_dir(&drivers).unwrap();
        std::fs::write(drivers.join("text.wasm"), b"no component").unwrap();
        assert_eq!(lazy.get().await.found().len(), 1);
        std::fs::remove_file(drivers.join("text.wasm")).unwrap();
        assert_eq!(lazy.get().await.found().len(), 1);
        assert!(lazy.loaded().is_some());
    }
}
