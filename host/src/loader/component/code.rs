//! The code of a component, brought in when it is first called.

use super::bindings::exports::sepia::driver::{identity, session_read, session_search, session_write, tool_vocabulary};
use super::call::{self, Sandbox, within};
use super::inspect::Inspection;
use super::introduction::Introduction;
use super::state::State;
use super::{Core, Runtime, inspect};
use crate::host_services::{Closing, Reach};
use crate::loader::{Capability, Fault, LoadError, LoadErrorKind, manifest};
use sepia_ir::Manifest;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::OnceCell;
use wasmtime::component::{Component, InstancePre};

/// A component that is known, and its code once it was needed.
pub(super) struct Code {
    pub(super) runtime: Arc<Runtime>,
    wasm: Cow<'static, [u8]>,
    sha256: [u8; 32],
    ready: OnceCell<Result<Ready, LoadError>>,
}

/// Code that can be called.
pub(super) struct Ready {
    pub(super) guest: InstancePre<State>,
    identity: identity::GuestIndices,
    /// Its reading side, when it exports one.
    pub(super) read: Option<session_read::GuestIndices>,
    /// Its way to search, when it exports one.
    pub(super) search: Option<session_search::GuestIndices>,
    /// Its writing side, when it exports one.
    pub(super) write: Option<session_write::GuestIndices>,
    /// Its tools in common terms, when it exports them.
    pub(super) vocabulary: Option<tool_vocabulary::GuestIndices>,
}

impl Code {
    pub(super) fn new(runtime: Arc<Runtime>, wasm: Cow<'static, [u8]>, sha256: [u8; 32]) -> Self {
        Self { runtime, wasm, sha256, ready: OnceCell::new() }
    }

    /// The code, brought in now when it was not before.
    pub(super) async fn ready(&self, capabilities: &[Capability]) -> Result<&Ready, LoadError> {
        self.ready.get_or_init(|| self.bring_in(capabilities)).await.as_ref().map_err(Clone::clone)
    }

    async fn bring_in(&self, capabilities: &[Capability]) -> Result<Ready, LoadError> {
        let core = self.runtime.core()?;
        let component = self.compiled(core).await?;
        let guest = core.linker.instantiate_pre(&component).map_err(|error| {
            let message =
                format!("it can't be linked: {}; build it against the current sepia-sdk", call::reason(&error));
            LoadError::new(LoadErrorKind::Import, message)
        })?;
        let identity = identity::GuestIndices::new(&guest).map_err(misfit)?;
        let reads = capabilities.contains(&Capability::SessionRead);
        let read = reads.then(|| session_read::GuestIndices::new(&guest)).transpose().map_err(misfit)?;
        // That one which is exported has the type of the contract was made sure of when the
        // component was introduced.
        let search = session_search::GuestIndices::new(&guest).ok();
        let vocabulary = tool_vocabulary::GuestIndices::new(&guest).ok();
        let writes = capabilities.contains(&Capability::SessionWrite);
        let write = writes.then(|| session_write::GuestIndices::new(&guest)).transpose().map_err(misfit)?;
        Ok(Ready { guest, identity, read, search, write, vocabulary })
    }

    async fn compiled(&self, core: &Core) -> Result<Component, LoadError> {
        let cache = self.runtime.cache.as_ref();
        if let Some(component) = cache.and_then(|cache| cache.code(&core.engine, &self.sha256)) {
            return Ok(component);
        }
        let (engine, wasm) = (core.engine.clone(), self.wasm.clone());
        let compile = tokio::task::spawn_blocking(move || Component::from_binary(&engine, &wasm));
        let failed = |message: String| LoadError::new(LoadErrorKind::Start, message);
        let most = self.runtime.limits.compile;
        let component = match tokio::time::timeout(most, compile).await {
            Ok(Ok(Ok(component))) => component,
            Ok(Ok(Err(error))) => {
                let message = format!("it is no valid component: {}; build it again", call::reason(&error));
                return Err(LoadError::new(LoadErrorKind::NotComponent, message));
            }
            Ok(Err(error)) => return Err(failed(format!("compiling it broke off: {error}"))),
            Err(_) => return Err(failed(format!("compiling it took longer than {} s", most.as_secs()))),
        };
        if let Some(cache) = cache {
            cache.put_code(&core.engine, &self.sha256, &component);
        }
        Ok(component)
    }

    /// What is known of the component: from an earlier start, or found out now by inspecting
    /// it and having it describe itself with nothing in reach. One that is known to say
    /// `manifest` of itself, JSON text, is not asked, and not compiled.
    pub(super) async fn introduction(&self, manifest: Option<&str>) -> Result<Introduction, LoadError> {
        let cache = self.runtime.cache.as_ref();
        if let Some(known) = cache.and_then(|cache| cache.introduction(&self.sha256)) {
            return Ok(known);
        }
        let inspection = inspect::inspect(&self.wasm, self.runtime.limits.component_file)?;
        let manifest = match manifest {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                LoadError::new(LoadErrorKind::Contract, format!("its manifest.json is none: {error}"))
            })?,
            None => self.describe(&inspection).await?,
        };
        let introduction = Introduction {
            manifest: manifest::check(manifest)?,
            capabilities: inspection.capabilities,
            imports: inspection.imports,
        };
        if let Some(cache) = cache {
            cache.put_introduction(&self.sha256, &introduction);
        }
        Ok(introduction)
    }

    /// Asks in an empty sandbox, and makes sure that what is exported has the types of the
    /// contract.
    async fn describe(&self, inspection: &Inspection) -> Result<Manifest, LoadError> {
        const CALL: &str = "identity.describe";
        let ready = self.ready(&inspection.capabilities).await?;
        if inspection.searches && ready.search.is_none() {
            let why = session_search::GuestIndices::new(&ready.guest).err();
            return Err(misfit(why.unwrap_or_else(|| wasmtime::Error::msg("session-search"))));
        }
        if inspection.translates && ready.vocabulary.is_none() {
            let why = tool_vocabulary::GuestIndices::new(&ready.guest).err();
            return Err(misfit(why.unwrap_or_else(|| wasmtime::Error::msg("tool-vocabulary"))));
        }
        let name = "(new)";
        let fault =
            |fault: Fault| LoadError::new(LoadErrorKind::Start, format!("it can't say who it is: {}", fault.message));
        let Core { clock, .. } = self.runtime.core()?;
        let reach = Reach::new(name.into(), Vec::new(), Closing::default());
        let limits = &self.runtime.limits;
        let mut sandbox = Sandbox::enter(&ready.guest, clock, limits, reach, name, CALL).await.map_err(fault)?;
        let identity = ready.identity.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        if let Some(read) = &ready.read {
            read.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        }
        if let Some(search) = &ready.search {
            search.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        }
        if let Some(write) = &ready.write {
            write.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        }
        if let Some(vocabulary) = &ready.vocabulary {
            vocabulary.load(&mut sandbox.store, &sandbox.instance).map_err(misfit)?;
        }
        let answer = within(sandbox.until(), identity.call_describe(&mut sandbox.store)).await;
        sandbox.judge(CALL, answer).map_err(fault)
    }
}

fn misfit(error: wasmtime::Error) -> LoadError {
    let message = format!("its exports do not fit the contract: {}; build it with sepia-sdk", call::reason(&error));
    LoadError::new(LoadErrorKind::Contract, message)
}
