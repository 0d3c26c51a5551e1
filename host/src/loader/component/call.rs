//! One call of a component: a store of its own, a time, and a verdict.

use super::engine::{Clock, Running};
use super::state::State;
use crate::host_services::Reach;
use crate::limits::Limits;
use crate::loader::{Fault, FaultKind};
use crate::text::{clean_line, clean_text};
use sepia_ir::DriverError;
use std::time::{Duration, Instant};
use wasmtime::component::{Instance, InstancePre, ResourceTableError};
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

/// An instance in a store of its own. It serves one call of the plane and is dropped: one that
/// trapped, was interrupted or was left in the middle can't be entered again.
pub(super) struct Sandbox {
    pub(super) store: Store<State>,
    pub(super) instance: Instance,
    driver: String,
    time: Duration,
    /// The end of the call that runs now.
    until: Instant,
    _running: Running,
}

/// How long host work may go on after the guest's own time: the guest is interrupted first,
/// this ends what waits outside of it.
const GRACE: Duration = Duration::from_millis(25);

/// An answer, or none in time.
pub(super) type Answer<R> = Option<wasmtime::Result<R>>;

impl Sandbox {
    /// Makes the store and the instance, which already runs code of the guest.
    pub(super) async fn enter(
        guest: &InstancePre<State>,
        clock: &Clock,
        limits: &Limits,
        reach: Reach,
        driver: &str,
        call: &'static str,
    ) -> Result<Self, Fault> {
        let start = |e: wasmtime::Error| Fault::new(driver, call, FaultKind::Start, reason(&e));
        let state = State::new(limits, reach).map_err(start)?;
        let mut store = Store::new(guest.engine(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_max_component_handles(limits.handles);
        store.set_hostcall_fuel(limits.transfer);
        store.epoch_deadline_callback(|mut store| {
            let state = store.data_mut();
            state.out_of_time = Instant::now() >= state.deadline;
            Ok(if state.out_of_time { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
        });
        let running = clock.run();
        let until = arm(&mut store, limits.call);
        let instance = within(until, guest.instantiate_async(&mut store)).await;
        match instance {
            Some(Ok(instance)) => {
                Ok(Self { store, instance, driver: driver.to_owned(), time: limits.call, until, _running: running })
            }
            failed => Err(verdict(&store, driver, call, limits.call, failed.and_then(Result::err))),
        }
    }

    /// Gives the next call its time, from now on.
    pub(super) fn arm(&mut self) {
        self.until = arm(&mut self.store, self.time);
    }

    /// When the call that runs has to be over.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// What a call comes to.
    pub(super) fn judge<R>(&self, call: &'static str, answer: Answer<R>) -> Result<R, Fault> {
        match answer {
            Some(Ok(result)) => Ok(result),
            failed => Err(verdict(&self.store, &self.driver, call, self.time, failed.and_then(Result::err))),
        }
    }

    /// Like [`Self::judge`], for a function that may fail on its own account.
    pub(super) fn judge_result<R>(
        &self,
        call: &'static str,
        answer: Answer<Result<R, DriverError>>,
    ) -> Result<R, Fault> {
        self.judge(call, answer)?.map_err(|error| {
            // What the host did for the guest stopped at the deadline, and the guest passed
            // that on as an error of the store.
            if Instant::now() >= self.until {
                return Fault::new(&self.driver, call, FaultKind::Time, too_slow(self.time))
                    .with_stderr(stderr(&self.store));
            }
            let error = DriverError::new(error.code, clean_line(&error.message, MESSAGE));
            Fault::said(&self.driver, call, error)
        })
    }

    /// A breach of the contract that the host found in an answer.
    pub(super) fn breach(&self, call: &'static str, message: impl Into<String>) -> Fault {
        Fault::new(&self.driver, call, FaultKind::Contract, message).with_stderr(stderr(&self.store))
    }
}

/// Longest message of a fault.
const MESSAGE: usize = 1 << 10;
/// What of a guest's stderr goes into a fault.
const STDERR: usize = 4 << 10;

fn arm(store: &mut Store<State>, time: Duration) -> Instant {
    let until = Instant::now() + time;
    let state = store.data_mut();
    state.deadline = until;
    state.out_of_time = false;
    state.reach.set_deadline(until);
    store.set_epoch_deadline(1);
    until
}

/// Runs a call of the guest until its time is over. Ending it early leaves the instance in the
/// middle of something; it may only be dropped then.
pub(super) async fn within<R>(until: Instant, call: impl Future<Output = wasmtime::Result<R>>) -> Answer<R> {
    tokio::time::timeout_at((until + GRACE).into(), call).await.ok()
}

/// Names the fault: what was refused is known from the store, for the error that comes out of
/// a guest does not tell.
fn verdict(
    store: &Store<State>,
    driver: &str,
    call: &'static str,
    time: Duration,
    error: Option<wasmtime::Error>,
) -> Fault {
    let state = store.data();
    let (kind, message) = match error {
        _ if state.limiter.refused() => (
            FaultKind::Memory,
            "it wanted more memory than a driver may have; SEPIA_DRIVER_MEMORY_MB raises the bound".to_owned(),
        ),
        None => (FaultKind::Time, too_slow(time)),
        Some(_) if state.out_of_time => (FaultKind::Time, too_slow(time)),
        Some(error) => of_error(&error, &state.stderr.tail(STDERR)),
    };
    Fault::new(driver, call, kind, message).with_stderr(stderr(store))
}

fn of_error(error: &wasmtime::Error, stderr: &str) -> (FaultKind, String) {
    let text = format!("{error:#}");
    if let Some(I32Exit(code)) = error.downcast_ref() {
        (FaultKind::Exit, format!("it ended itself with exit code {code}; a driver returns an error instead"))
    } else if let Some(trap) = error.downcast_ref::<Trap>() {
        let said = panic_line(stderr).map_or_else(String::new, |line| format!(": {line}"));
        (FaultKind::Trap, format!("it crashed ({}){said}", clean_line(&trap.to_string(), 200)))
    } else if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) || text.contains(HANDLES) {
        (FaultKind::Handles, "it holds more handles than a driver may have; it has to drop what it opened".to_owned())
    } else if text.contains(TRANSFER) {
        (
            FaultKind::Transfer,
            "it handed over more at once than a driver may; SEPIA_DRIVER_TRANSFER_MB raises the bound".to_owned(),
        )
    } else {
        (FaultKind::Contract, format!("it broke the component interface: {}", reason(error)))
    }
}

// Two limits of the runtime have no type that could be asked for. A test of each keeps these
// texts right.
const HANDLES: &str = "store handle limit exceeded";
const TRANSFER: &str = "fuel allocated for hostcalls has been exhausted";

fn too_slow(time: Duration) -> String {
    format!(
        "it took longer than the {} ms that a call may take; SEPIA_CALL_TIMEOUT_MS raises the bound",
        time.as_millis()
    )
}

/// What a panic says, when stderr ends with one.
fn panic_line(stderr: &str) -> Option<String> {
    let at = stderr.rfind("panicked at ")?;
    Some(clean_line(stderr[at..].trim_end(), 300))
}

/// The innermost cause in one line; what the runtime says around it is for its developers.
pub(super) fn reason(error: &wasmtime::Error) -> String {
    clean_line(&error.root_cause().to_string(), MESSAGE)
}

fn stderr(store: &Store<State>) -> String {
    clean_text(&store.data().stderr.tail(STDERR), STDERR)
}
