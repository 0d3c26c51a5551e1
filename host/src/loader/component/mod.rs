//! Drivers that are WebAssembly components, each call in a sandbox of its own.
//!
//! ```text
//! inspect   what a file is and asks for, before any of it runs
//! cache     compiled code on disk, authenticated
//! engine    the engine and the clock;  linker  what a guest is linked against
//! state     one store: limiter, output;  call  one call and its verdict
//! driver    the face to the registry;  pull  what comes in pieces
//! ```
//!
//! Everything that a guest does is bounded here, and whatever it does ends its own call only.

pub mod bindings;
mod cache;
mod call;
mod driver;
mod engine;
pub mod inspect;
mod limiter;
mod linker;
mod output;
mod pull;
mod state;

use self::bindings::exports::sepia::driver::{identity, session_read};
use self::cache::Cache;
use self::call::{Sandbox, within};
use self::driver::ComponentDriver;
use self::engine::Clock;
use self::state::State;
use super::{About, Capability, Driver, Fault, Form, LoadError, LoadErrorKind, Origin, manifest};
use crate::host_services::Reach;
use crate::limits::Limits;
use sepia_ir::{Manifest, StoreRequest};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

/// Brings in components and keeps what they share.
#[derive(Clone)]
pub struct Components {
    runtime: Arc<Runtime>,
}

/// What all components of this process share.
struct Runtime {
    engine: Engine,
    linker: Linker<State>,
    clock: Clock,
    cache: Option<Cache>,
    limits: Limits,
}

/// A component that was found fit and told who it is; it has no stores yet.
pub struct Prepared {
    runtime: Arc<Runtime>,
    guest: InstancePre<State>,
    read: Option<session_read::GuestIndices>,
    about: About,
    imports: Vec<String>,
}

/// A store that a driver may reach, resolved.
#[derive(Clone)]
pub struct GrantedStore {
    /// What the driver asked for.
    pub request: StoreRequest,
    /// Where it is on this machine, absolute.
    pub place: PathBuf,
    /// Whether calls that write may write.
    pub write: bool,
    /// Says of a canonical directory that a link leads to whether it may never be shown.
    pub refuse: Refuse,
}

/// Says of a canonical path whether no driver may ever see it.
pub type Refuse = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

impl fmt::Debug for GrantedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, place, write, refuse: _ } = self;
        f.debug_struct("GrantedStore").field("request", request).field("place", place).field("write", write).finish()
    }
}

impl fmt::Debug for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Components").field("limits", &self.runtime.limits).finish_non_exhaustive()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("about", &self.about).finish_non_exhaustive()
    }
}

impl Components {
    /// Makes the engine. Compiled code is kept in `cache_dir`, which is made when it is
    /// needed; without one, or with `SEPIA_CACHE=off`, every start compiles.
    pub fn new(mut limits: Limits, cache_dir: Option<PathBuf>) -> Result<Self, LoadError> {
        limits.handles = limits.handles.min(handles_to_spare());
        let start = |what: &str| {
            let message = format!("the WebAssembly runtime can't start ({what}); drivers that are programs still work");
            LoadError::new(LoadErrorKind::Start, message)
        };
        let engine = engine::engine().map_err(|e| start(&call::reason(&e)))?;
        let clock = Clock::start(&engine).map_err(|e| start(&e.to_string()))?;
        let linker = linker::linker(&engine).map_err(|e| start(&call::reason(&e)))?;
        let off = std::env::var_os("SEPIA_CACHE").is_some_and(|value| value == "off");
        let cache = cache_dir.filter(|_| !off).map(|place| Cache::new(place, &engine));
        Ok(Self { runtime: Arc::new(Runtime { engine, linker, clock, cache, limits }) })
    }

    /// Inspects a component, compiles it or takes it from the cache, asks it in an empty
    /// sandbox who it is, and checks the answer.
    pub async fn bring_in(&self, wasm: &[u8], origin: Origin) -> Result<Prepared, LoadError> {
        let runtime = &self.runtime;
        let inspection = inspect::inspect(wasm, runtime.limits.component_file)?;
        let sha256: [u8; 32] = Sha256::digest(wasm).into();
        let component = runtime.compiled(wasm, sha256).await?;
        let guest = runtime.linker.instantiate_pre(&component).map_err(|error| {
            let message =
                format!("it can't be linked: {}; build it against the current sepia-sdk", call::reason(&error));
            LoadError::new(LoadErrorKind::Import, message)
        })?;
        let (manifest, read) = runtime.introduce(&guest, &inspection.capabilities).await?;
        let manifest = manifest::check(manifest)?;
        let about = About {
            manifest,
            capabilities: inspection.capabilities,
            form: Form::Component,
            origin,
            build: cache::hex(&sha256),
        };
        Ok(Prepared { runtime: Arc::clone(runtime), guest, read, about, imports: inspection.imports })
    }
}

/// A handle of a guest may be an open file of this process: one guest gets no more than a
/// quarter of what the process may open, so that it does not take the files of all others.
fn handles_to_spare() -> usize {
    let open = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    open.map_or(usize::MAX, |open| usize::try_from(open / 4).unwrap_or(usize::MAX)).max(128)
}

impl Runtime {
    async fn compiled(&self, wasm: &[u8], sha256: [u8; 32]) -> Result<Component, LoadError> {
        if let Some(component) = self.cache.as_ref().and_then(|cache| cache.take(&self.engine, &sha256)) {
            return Ok(component);
        }
        let (engine, wasm) = (self.engine.clone(), wasm.to_owned());
        let compile = tokio::task::spawn_blocking(move || Component::from_binary(&engine, &wasm));
        let failed = |message: String| LoadError::new(LoadErrorKind::Start, message);
        let component = match tokio::time::timeout(self.limits.compile, compile).await {
            Ok(Ok(Ok(component))) => component,
            Ok(Ok(Err(error))) => {
                let message = format!("it is no valid component: {}; build it again", call::reason(&error));
                return Err(LoadError::new(LoadErrorKind::NotComponent, message));
            }
            Ok(Err(error)) => return Err(failed(format!("compiling it broke off: {error}"))),
            Err(_) => {
                return Err(failed(format!("compiling it took longer than {} s", self.limits.compile.as_secs())));
            }
        };
        if let Some(cache) = &self.cache {
            cache.put(&sha256, &component);
        }
        Ok(component)
    }

    /// Has the component describe itself with nothing in reach, and makes sure that what it
    /// exports has the types of the contract.
    async fn introduce(
        &self,
        guest: &InstancePre<State>,
        capabilities: &[Capability],
    ) -> Result<(Manifest, Option<session_read::GuestIndices>), LoadError> {
        const CALL: &str = "identity.describe";
        let name = "(new)";
        let misfit = |error: wasmtime::Error| {
            let message =
                format!("its exports do not fit the contract: {}; build it with sepia-sdk", call::reason(&error));
            LoadError::new(LoadErrorKind::Contract, message)
        };
        let fault =
            |fault: Fault| LoadError::new(LoadErrorKind::Start, format!("it can't say who it is: {}", fault.message));
        let identity = identity::GuestIndices::new(guest).map_err(misfit)?;
        let reads = capabilities.contains(&Capability::SessionRead);
        let read = reads.then(|| session_read::GuestIndices::new(guest)).transpose().map_err(misfit)?;
        let reach = Reach::new(name.into(), Vec::new());
        let mut sandbox = Sandbox::enter(guest, &self.clock, &self.limits, reach, name, CALL).await.map_err(fault)?;
        let identity = identity.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        if let Some(read) = &read {
            read.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        }
        let answer = within(sandbox.until(), identity.call_describe(&mut sandbox.store)).await;
        let manifest = sandbox.judge(CALL, answer).map_err(fault)?;
        Ok((manifest, read))
    }
}

impl Prepared {
    /// What is known of it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// SHA-256 of the file, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.about.build
    }

    /// Names of the interfaces that it imports: what it asks for.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// A driver over these stores; what was asked for and is not among them is not reachable.
    pub fn into_driver(self, stores: Vec<GrantedStore>) -> Arc<dyn Driver> {
        Arc::new(ComponentDriver::new(self.runtime, self.guest, self.read, self.about, stores))
    }
}
