//! A program as a driver: one process, started when it is needed, one call after the other.

use super::identity::build_of;
use super::listing::Listing;
use super::{announced, answer};
use crate::jsonrpc::{CallError, Fragment};
use crate::limits::Limits;
use crate::loader::{
    About, Capability, Driver, Fault, FaultKind, Form, LoadError, LoadErrorKind, Origin, SessionRead, SessionWrite,
};
use crate::process::{Bounds, Connection, EndKind, Environment, Incoming, Launch, Variable};
use async_trait::async_trait;
use sepia_ir::driver_wire::WireManifest;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Lines in a row, without an answer among them, that a program may write.
const NOISE: u32 = 10_000;
/// How long a program has to end by itself once its stdin is closed.
const FAREWELL: Duration = Duration::from_millis(500);

/// A driver that is a program.
#[derive(Debug, Clone)]
pub struct ProcessDriver {
    about: About,
    pub(super) extensions: Extensions,
    /// The rows of the last listing, for programs that can only list everything.
    pub(super) listing: Arc<Listing>,
    program: Arc<Program>,
    /// Whose turn it is: the wire has one request at a time, in order.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Optional methods that a program answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extensions {
    /// `session.scan` and `session.summaries`.
    pub(super) scan: bool,
    /// `session.native`.
    pub(super) native: bool,
    /// `session.locks`.
    pub(super) locks: bool,
    /// `session.search`.
    pub(super) search: bool,
    /// All methods of writing, and the trash.
    pub(super) write: bool,
}

/// The program and the process of it that runs, if one does.
#[derive(Debug)]
struct Program {
    id: String,
    path: PathBuf,
    limits: Limits,
    /// Changes of our environment that its process gets.
    environment: Vec<Variable>,
    running: Mutex<Option<Arc<Connection>>>,
}

impl ProcessDriver {
    /// A driver of what [`probe`](super::probe) said; starts nothing. Fails when the manifest
    /// has something in it that none may have, or when the program is gone.
    pub fn new(path: &Path, manifest: WireManifest, limits: Limits) -> Result<Self, LoadError> {
        let build = build_of(path)
            .map_err(|e| LoadError::new(LoadErrorKind::File, format!("{} can't be looked at: {e}", path.display())))?;
        let has = |name: &str| manifest.extensions.iter().any(|extension| extension == name);
        let extensions = Extensions {
            scan: has("scan"),
            native: has("native"),
            locks: has("locks"),
            search: has("search"),
            write: has("write"),
        };
        let can = |name: &str| manifest.capabilities.iter().any(|capability| capability == name);
        let mut capabilities = Vec::new();
        for (name, capability) in [
            ("sessionStore", Capability::SessionRead),
            ("sessionWrite", Capability::SessionWrite),
            ("agentConfig", Capability::AgentConfig),
        ] {
            if can(name) {
                capabilities.push(capability);
            }
        }
        let manifest = announced::manifest(manifest)?;
        let id = manifest.id.clone();
        let origin = Origin::File(path.to_owned());
        Ok(Self {
            about: About { manifest, capabilities, form: Form::Process, origin, build },
            extensions,
            listing: Arc::default(),
            program: Arc::new(Program {
                id,
                path: path.to_owned(),
                limits,
                environment: Vec::new(),
                running: Mutex::default(),
            }),
            turn: Arc::default(),
        })
    }

    /// The same program, whose process will run with these variables changed: what moves its
    /// stores, for those who try it on other ones.
    #[must_use]
    pub fn with_environment(mut self, environment: Vec<(OsString, OsString)>) -> Self {
        self.program = Arc::new(Program {
            id: self.program.id.clone(),
            path: self.program.path.clone(),
            limits: self.program.limits.clone(),
            environment,
            running: Mutex::default(),
        });
        self
    }

    /// Id of the driver.
    pub(super) fn id(&self) -> &str {
        &self.about.manifest.id
    }

    /// Bounds of its calls.
    pub(super) fn limits(&self) -> &Limits {
        &self.program.limits
    }

    /// Calls a method of the wire, for a function of the contract.
    pub(super) async fn call(
        &self,
        call: &'static str,
        method: &'static str,
        params: &(impl Serialize + Sync),
    ) -> Result<Fragment, Fault> {
        let params = to_raw_value(params)
            .map_err(|e| Fault::new(self.id(), call, FaultKind::Contract, format!("{method} can't be asked: {e}")))?;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let program = Arc::clone(&self.program);
        // A caller that gives up does not make the program free: the turn ends with the
        // answer, so the call goes on without its caller.
        let exchange = tokio::spawn(async move {
            let outcome = program.exchange(call, method, &params).await;
            drop(turn);
            outcome
        });
        exchange.await.unwrap_or_else(|e| {
            Err(Fault::new(self.id(), call, FaultKind::Lost, format!("the host gave up waiting for it: {e}")))
        })
    }
}

#[async_trait]
impl Driver for ProcessDriver {
    fn about(&self) -> &About {
        &self.about
    }

    fn session_read(&self) -> Option<&dyn SessionRead> {
        self.about.capabilities.contains(&Capability::SessionRead).then_some(self as &dyn SessionRead)
    }

    fn session_write(&self) -> Option<&dyn SessionWrite> {
        self.about.capabilities.contains(&Capability::SessionWrite).then_some(self as &dyn SessionWrite)
    }

    async fn shutdown(&self) {
        // Not in turn: a call that hangs must not hold this up.
        let running = self.program.running().take();
        if let Some(connection) = running {
            connection.ask_to_end();
            connection.gone().await;
        }
    }
}

impl Program {
    fn running(&self) -> MutexGuard<'_, Option<Arc<Connection>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process that runs, or a new one.
    async fn connection(&self, call: &'static str) -> Result<Arc<Connection>, Fault> {
        let running = self.running().clone();
        if let Some(connection) = running {
            if connection.end().is_none() {
                return Ok(connection);
            }
            // There is one process at a time, also while the last one is being ended.
            connection.gone().await;
        }
        let launch = Launch {
            program: &self.path,
            arguments: &[],
            environment: Environment::Ours(&self.environment),
            directory: None,
        };
        let bounds = Bounds {
            frame: self.limits.process_frame,
            frame_variable: "SEPIA_PROCESS_FRAME_MB",
            stderr_lines: self.limits.stderr_lines,
            noise: NOISE,
            frames_ahead: 1,
            farewell: FAREWELL,
        };
        let started = Connection::start(&launch, bounds, Incoming::Answers, ()).map_err(|e| {
            let message = format!("{} can't be started: {e}; see `sepia doctor`", self.path.display());
            Fault::new(&self.id, call, FaultKind::Start, message)
        })?;
        let started = Arc::new(started);
        *self.running() = Some(Arc::clone(&started));
        Ok(started)
    }

    async fn exchange(&self, call: &'static str, method: &str, params: &RawValue) -> Result<Fragment, Fault> {
        let connection = self.connection(call).await?;
        let limit = self.limits.process_call;
        let error = match timeout(limit, connection.peer().call(method, params)).await {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(CallError::Said(error))) => answer::fault(&self.id, call, &error),
            Ok(Err(CallError::Ended(reason))) => match connection.end() {
                Some(end) => Fault::new(&self.id, call, fault_kind(end.kind), end.message.clone()),
                None => Fault::new(&self.id, call, FaultKind::Lost, reason.to_string()),
            },
            Err(_) => {
                // Answers carry no more than an id, and a program that is late once is late
                // for all that wait: it is stopped, and the next call has a new one.
                let noise = connection.noise();
                connection.kill();
                let message = format!(
                    "{method} was not answered within {} s, so the program was stopped{noise}; \
                     SEPIA_PROCESS_TIMEOUT_MS sets the time",
                    limit.as_secs_f64()
                );
                Fault::new(&self.id, call, FaultKind::Time, message)
            }
        };
        Err(error.with_stderr(connection.stderr()))
    }
}

fn fault_kind(end: EndKind) -> FaultKind {
    match end {
        EndKind::Lost => FaultKind::Lost,
        EndKind::Time => FaultKind::Time,
        EndKind::Transfer => FaultKind::Transfer,
        EndKind::Contract => FaultKind::Contract,
    }
}
