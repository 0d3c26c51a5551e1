//! Drivers that are WebAssembly components, each call in a sandbox of its own.
//!
//! ```text
//! inspect   what a file is and asks for, before any of it runs
//! code      its code, brought in when it is first called;  introduction  what is known before
//! cache     both on disk;  private_folder  where only this user can have written them;  sealed  code in memory
//! engine    the engine and the clock;  linker  what a guest is linked against
//! state     one store: limiter, output;  call  one call and its verdict
//! driver    the face to the registry;  pull  what comes in pieces
//! ```
//!
//! Everything that a guest does is bounded here, and whatever it does ends its own call only.

pub mod bindings;
mod cache;
mod call;
mod code;
mod driver;
mod engine;
pub mod inspect;
mod introduction;
mod limiter;
mod linker;
mod output;
mod private_folder;
mod pull;
mod sealed;
mod session_write;
mod state;

use self::cache::Cache;
use self::code::Code;
use self::driver::ComponentDriver;
use self::engine::Clock;
use self::introduction::Introduction;
use self::state::State;
use super::{About, Driver, Form, LoadError, LoadErrorKind, Origin};
use crate::embedded::Embedded;
use crate::limits::Limits;
use crate::text::hex;
use sepia_ir::StoreRequest;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use wasmtime::Engine;
use wasmtime::component::Linker;

/// Brings in components and keeps what they share.
#[derive(Clone)]
pub struct Components {
    runtime: Arc<Runtime>,
}

/// What all components of this process share.
struct Runtime {
    limits: Limits,
    cache: Option<Cache>,
    core: OnceLock<Result<Core, LoadError>>,
}

/// The part of it that takes time to make, made when a component is called first.
struct Core {
    engine: Engine,
    linker: Linker<State>,
    clock: Clock,
}

/// A component that was found fit and told who it is; it has no stores yet.
pub struct Prepared {
    code: Code,
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
    /// Makes ready to bring in components. Compiled code is kept in `cache_dir`, which is made
    /// when it is needed; without one, or with `SEPIA_CACHE=off`, every start compiles.
    pub fn new(mut limits: Limits, cache_dir: Option<PathBuf>) -> Self {
        limits.handles = limits.handles.min(handles_to_spare());
        let off = std::env::var_os("SEPIA_CACHE").is_some_and(|value| value == "off");
        let cache = cache_dir.filter(|_| !off).map(Cache::new);
        Self { runtime: Arc::new(Runtime { limits, cache, core: OnceLock::new() }) }
    }

    /// Inspects a component, compiles it or takes it from the cache, asks it in an empty
    /// sandbox who it is, and checks the answer. One that was brought in before is known, and
    /// its code waits for the first call.
    pub async fn bring_in(&self, wasm: &[u8], origin: Origin) -> Result<Prepared, LoadError> {
        let most = self.runtime.limits.component_file;
        inspect::size(wasm, most)?;
        self.prepare(Cow::Owned(wasm.to_owned()), Sha256::digest(wasm).into(), origin).await
    }

    /// The same of a component that is built into this program. One that is known to say this
    /// manifest of itself is not asked.
    pub async fn bring_in_embedded(&self, built_in: &Embedded) -> Result<Prepared, LoadError> {
        let code = Code::new(Arc::clone(&self.runtime), Cow::Borrowed(built_in.wasm), built_in.sha256);
        let introduction = code.introduction(built_in.manifest).await?;
        Ok(Prepared::new(code, introduction, Origin::Embedded, &built_in.sha256))
    }

    async fn prepare(&self, wasm: Cow<'static, [u8]>, sha256: [u8; 32], origin: Origin) -> Result<Prepared, LoadError> {
        let code = Code::new(Arc::clone(&self.runtime), wasm, sha256);
        let introduction = code.introduction(None).await?;
        Ok(Prepared::new(code, introduction, origin, &sha256))
    }
}

/// A handle of a guest may be an open file of this process: one guest gets no more than a
/// quarter of what the process may open, so that it does not take the files of all others.
fn handles_to_spare() -> usize {
    let open = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    open.map_or(usize::MAX, |open| usize::try_from(open / 4).unwrap_or(usize::MAX)).max(128)
}

impl Runtime {
    fn core(&self) -> Result<&Core, LoadError> {
        self.core.get_or_init(Core::start).as_ref().map_err(Clone::clone)
    }
}

impl Core {
    fn start() -> Result<Self, LoadError> {
        let start = |what: &str| {
            let message = format!("the WebAssembly runtime can't start ({what}); drivers that are programs still work");
            LoadError::new(LoadErrorKind::Start, message)
        };
        let engine = engine::engine().map_err(|e| start(&call::reason(&e)))?;
        let clock = Clock::start(&engine).map_err(|e| start(&e.to_string()))?;
        let linker = linker::linker(&engine).map_err(|e| start(&call::reason(&e)))?;
        Ok(Self { engine, linker, clock })
    }
}

impl Prepared {
    fn new(code: Code, introduction: Introduction, origin: Origin, sha256: &[u8; 32]) -> Self {
        let Introduction { manifest, capabilities, imports } = introduction;
        let about = About { manifest, capabilities, form: Form::Component, origin, build: hex(sha256) };
        Self { code, about, imports }
    }

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

    /// Has its code at hand, which otherwise waits for the first call.
    pub async fn load(&self) -> Result<(), LoadError> {
        self.code.ready(&self.about.capabilities).await.map(|_| ())
    }

    /// A driver over these stores; what was asked for and is not among them is not reachable.
    pub fn into_driver(self, stores: Vec<GrantedStore>) -> Arc<dyn Driver> {
        Arc::new(ComponentDriver::new(self.code, self.about, stores))
    }
}
