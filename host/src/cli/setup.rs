//! What the commands run on: the runtime, and the plane over all drivers of this machine.

use super::exit::Failure;
use crate::home::Home;
use crate::limits::Limits;
use crate::plane::{Plane, PlaneConfig};
use crate::registry::{Setup, Sources};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A runtime that is left, not waited for: a thread may sit in a read of stdin for ever.
pub(super) struct Leaving(Runtime);

/// Workers for the present cores, and one more so that a long host call never stops the rest.
pub(super) fn runtime() -> Result<Leaving, Failure> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(cores + 1).enable_all().build();
    runtime.map(Leaving).map_err(|e| Failure::said(format!("no threads could be started: {e}")))
}

impl Leaving {
    pub(super) fn block_on_then_leave<T>(self, work: impl Future<Output = T>) -> T {
        let done = self.0.block_on(work);
        self.0.shutdown_background();
        done
    }
}

/// Where our own files are.
pub(super) fn home() -> Result<Home, Failure> {
    Home::from_env(&env_text).map_err(Failure::said)
}

/// What drivers are loaded from.
pub(super) fn sources(home: &Home) -> Setup {
    let env = |name: &str| std::env::var_os(name);
    Setup {
        limits: Limits::from_env(&env_text),
        sources: Sources::from_env(home, &env),
        embedded: crate::embedded::COMPONENTS,
        env: Arc::new(env),
        home: home.clone(),
    }
}

/// The plane over all drivers of this machine. None is loaded yet.
pub(super) fn plane() -> Result<Plane, Failure> {
    let home = home()?;
    let setup = sources(&home);
    let limits = setup.limits.clone();
    Ok(Plane::new(setup, home, PlaneConfig::from_env(&env_text), limits))
}

/// A variable that is text.
pub(super) fn env_text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
