//! What the commands run on: the runtime, and the plane over all drivers of this machine.

use super::exit::Failure;
use super::signals;
use crate::environment::Environment;
use crate::home::Home;
use crate::limits::Limits;
use crate::plane::{Plane, PlaneConfig};
use crate::registry::{Setup, Sources};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A runtime that is left, not waited for: a thread may sit in a read of stdin for ever.
pub(super) struct Leaving(Runtime);

/// Workers for the present cores, and one more so that a long host call never stops the rest.
pub(super) fn runtime() -> Result<Leaving, Failure> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(cores + 1).enable_all().build();
    runtime.map(Leaving).map_err(|e| Failure::said(format!("no threads could be started: {e}")))
}

/// What a command has for its tasks to end when it is done or told to.
const LEAVING: Duration = Duration::from_secs(2);

impl Leaving {
    pub(super) fn block_on_then_leave<T>(self, work: impl Future<Output = T>) -> T {
        let done = self.0.block_on(work);
        self.0.shutdown_background();
        done
    }

    /// Runs a command that ends by itself, with all that it started, when it is told to.
    pub(super) fn block_on_taking_signals<W: Future<Output = Result<(), Failure>>>(
        self,
        work: impl FnOnce(signals::Stop) -> W,
    ) -> Result<(), Failure> {
        let done = self.0.block_on(async { work(signals::told_to_end()?).await });
        self.0.shutdown_timeout(LEAVING);
        done
    }

    /// Runs a command that reads no stdin. Driver programs have process groups of their own, so
    /// neither the terminal nor the system ends them with us: all tasks are ended before this
    /// returns, and with them the programs, also when a signal asks us to end.
    pub(super) fn block_on(self, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
        let done = self.0.block_on(async {
            let stop = signals::told_to_end()?;
            tokio::select! {
                done = work => done,
                Some(number) = signals::in_order_or_at_once(stop, LEAVING) => Err(Failure::Signal(number)),
            }
        });
        if matches!(done, Err(Failure::Signal(_))) {
            self.0.block_on(settled());
        }
        self.0.shutdown_timeout(LEAVING);
        done
    }
}

/// How long tasks that were cut off have to notice it. Those that hold a connection to a driver
/// program don't, and are ended with the runtime.
const SETTLING: Duration = Duration::from_millis(300);

/// Waits for tasks that are in the middle of a call: one that meets its timer when the runtime
/// is gone would complain.
async fn settled() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let end = tokio::time::Instant::now() + SETTLING;
    while metrics.num_alive_tasks() > 0 && tokio::time::Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Where our own files are.
pub(super) fn home() -> Result<Home, Failure> {
    Home::from_env(&env_text).map_err(Failure::said)
}

/// What drivers are loaded from.
pub(super) fn sources(home: &Home) -> Setup {
    let env = Environment::of_process();
    Setup {
        limits: Limits::from_env(&env_text),
        sources: Sources::from_env(home, &|name| env.get(name)),
        embedded: crate::embedded::COMPONENTS,
        env,
        home: home.clone(),
    }
}

/// The plane over all drivers of this machine. None is loaded yet.
pub(super) fn plane() -> Result<Plane, Failure> {
    let home = home()?;
    let setup = sources(&home);
    let (limits, environment) = (setup.limits.clone(), setup.env.clone());
    Ok(Plane::new(setup, home, PlaneConfig::from_env(&env_text), limits).with_environment(environment))
}

/// A variable that is text.
pub(super) fn env_text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
