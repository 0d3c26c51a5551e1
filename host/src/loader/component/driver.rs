//! A component as a [`Driver`]: which stores its calls see, and what each call is.

use super::GrantedStore;
use super::bindings::exports::sepia::driver::session_read::Guest;
use super::call::{Sandbox, within};
use super::code::{Code, Ready};
use super::pull::{self, Pulled};
use crate::host_services::{Closing, Reach};
use crate::loader::check::{self, Breach};
use crate::loader::{
    About, Capability, Driver, Fault, FaultKind, NativeCopy, Rescan, ScanBasis, SessionRead, SessionWrite, Trace,
    Transcript, search_by_reading,
};
use crate::text::clean_line;
use async_trait::async_trait;
use sepia_ir::{
    DriverError, ErrorCode, HistoryPage, HistoryQuery, LockState, ScanReport, SearchQuery, SearchReport, Session,
    SessionRef, StoreKind, Summary, SummaryDetail,
};
use sepia_services::{Store, TrashEntry};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;

/// A component that can be called.
pub(super) struct ComponentDriver {
    about: About,
    guest: GrantedGuest,
}

/// A component and the stores that it was granted: what every call of it is made from. Its sides
/// are the traits that it implements.
pub(super) struct GrantedGuest {
    pub(super) code: Code,
    capabilities: Vec<Capability>,
    pub(super) driver: Arc<str>,
    stores: Vec<GrantedStore>,
    closing: Closing,
}

impl ComponentDriver {
    pub(super) fn new(code: Code, about: About, stores: Vec<GrantedStore>) -> Self {
        let driver = about.manifest.id.as_str().into();
        let capabilities = about.capabilities.clone();
        Self { about, guest: GrantedGuest { code, capabilities, driver, stores, closing: Closing::default() } }
    }
}

#[async_trait]
impl Driver for ComponentDriver {
    fn about(&self) -> &About {
        &self.about
    }

    fn session_read(&self) -> Option<&dyn SessionRead> {
        self.guest.can(Capability::SessionRead).then_some(&self.guest as &dyn SessionRead)
    }

    fn session_write(&self) -> Option<&dyn SessionWrite> {
        self.guest.can(Capability::SessionWrite).then_some(&self.guest as &dyn SessionWrite)
    }

    /// Nothing runs between calls but the closing of databases.
    async fn shutdown(&self) {
        self.guest.closing.over().await;
    }
}

impl GrantedGuest {
    fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Makes the folder of the first store, when it is one that may be written: a guest sees only the folders
    /// that are there when it is entered, and an agent that was never started has none.
    pub(super) fn make_first_store(&self, call: &'static str) -> Result<(), Fault> {
        let first = self.stores.iter().find(|store| store.write);
        let Some(store) = first.filter(|store| store.request.kind == StoreKind::Directory) else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(&store.place).map_err(|e| {
            let message = format!("the folder {} can't be made: {e}", store.place.display());
            Fault::said(&self.driver, call, DriverError::new(ErrorCode::Store, message))
        })
    }

    /// The stores opened, those that it may write open for that, with the trash that what is taken away
    /// goes into.
    pub(super) fn open_for_writing(
        &self,
        call: &'static str,
        trash: Option<&Arc<TrashEntry>>,
    ) -> Result<Vec<Store>, Fault> {
        let granted = |name: &str| self.stores.iter().any(|store| store.write && store.request.name == name);
        let opened = self.open_stores(call)?.into_iter();
        Ok(opened.map(|store| if granted(store.name()) { store.for_writing(trash.cloned()) } else { store }).collect())
    }

    /// A fresh instance with the stores open, and its time running.
    async fn enter(&self, call: &'static str) -> Result<(Sandbox, Guest), Fault> {
        self.enter_over(self.open_stores(call)?, call).await
    }

    pub(super) fn open_stores(&self, call: &'static str) -> Result<Vec<Store>, Fault> {
        let open = |granted: &GrantedStore| Store::open(&granted.request, &granted.place, &*granted.refuse);
        let stores = self.stores.iter().map(open).collect::<Result<Vec<_>, _>>();
        stores.map_err(|error| Fault::said(&self.driver, call, DriverError::from(error)))
    }

    /// A fresh instance over these stores, and the code that it is of.
    pub(super) async fn sandbox(&self, stores: Vec<Store>, call: &'static str) -> Result<(Sandbox, &Ready), Fault> {
        let reach = Reach::new(Arc::clone(&self.driver), stores, self.closing.clone());
        let runtime = &self.code.runtime;
        let ready = self.ready(call).await?;
        let core = runtime.core().map_err(|e| self.start(call, e.message))?;
        let sandbox = Sandbox::enter(&ready.guest, &core.clock, &runtime.limits, reach, &self.driver, call).await?;
        Ok((sandbox, ready))
    }

    async fn enter_over(&self, stores: Vec<Store>, call: &'static str) -> Result<(Sandbox, Guest), Fault> {
        let (mut sandbox, ready) = self.sandbox(stores, call).await?;
        let exports = ready.read.as_ref();
        let exports = exports.ok_or_else(|| self.start(call, "it no longer exports `session-read`".to_owned()))?;
        let guest = exports.load(&mut sandbox.store, &sandbox.instance);
        let guest = guest.map_err(|e| self.start(call, super::call::reason(&e)))?;
        Ok((sandbox, guest))
    }

    pub(super) async fn ready(&self, call: &'static str) -> Result<&Ready, Fault> {
        self.code.ready(&self.capabilities).await.map_err(|e| self.start(call, e.message))
    }

    pub(super) fn start(&self, call: &'static str, message: String) -> Fault {
        Fault::new(&self.driver, call, FaultKind::Start, message)
    }

    pub(super) fn checked<R>(&self, call: &'static str, answer: Result<R, Breach>) -> Result<R, Fault> {
        answer.map_err(|breach| breach.into_fault(&self.driver, call))
    }
}

#[async_trait]
impl SessionRead for GrantedGuest {
    async fn scan(&self) -> Result<ScanReport, Fault> {
        match self.rescan(None).await? {
            Rescan::Report(report, _) => Ok(report),
            Rescan::Unchanged => Ok(nothing()),
        }
    }

    async fn rescan(&self, known: Option<ScanBasis>) -> Result<Rescan, Fault> {
        const CALL: &str = "session-read.scan";
        if !self.stores.iter().any(|granted| granted.place.try_exists().unwrap_or(true)) {
            // Nothing is there, which the driver need not be asked: most people use one agent
            // or two, and the code of the others stays on disk.
            return Ok(Rescan::Report(nothing(), None));
        }
        let began = epoch_ns_now();
        let mut stores = self.open_stores(CALL)?;
        let mut trace = Trace::default();
        if let Some(known) = known {
            let (answer, opened) = tokio::task::spawn_blocking(move || {
                (known.holds(|name| stores.iter().find(|store| store.name() == name)), stores)
            })
            .await
            .map_err(|e| Fault::new(&self.driver, CALL, FaultKind::Start, e.to_string()))?;
            match answer {
                Ok(()) => return Ok(Rescan::Unchanged),
                Err(so_far) => trace = so_far,
            }
            stores = opened;
        }
        let (mut sandbox, guest) = self.enter_over(stores, CALL).await?;
        sandbox.store.data_mut().reach.trace(trace);
        let answer = within(sandbox.until(), guest.call_scan(&mut sandbox.store)).await;
        let report = sandbox.judge_result(CALL, answer)?;
        let report = self.checked(CALL, check::scan(report))?;
        let trace = sandbox.store.data_mut().reach.take_trace();
        // What went wrong once may go well the next time, although nothing changed.
        let basis = trace.filter(|_| report.warnings.is_empty()).and_then(|trace| trace.basis(began));
        Ok(Rescan::Report(report, basis))
    }

    async fn summaries(&self, keys: Vec<String>, detail: SummaryDetail) -> Result<Vec<Summary>, Fault> {
        const CALL: &str = "session-read.summaries";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_summaries(&mut sandbox.store, &keys, detail)).await;
        let rows = sandbox.judge_result(CALL, answer)?;
        self.checked(CALL, check::summaries(rows, &keys))
    }

    async fn search(&self, keys: Vec<String>, query: &SearchQuery) -> Result<Vec<SearchReport>, Fault> {
        const CALL: &str = "session-search.search";
        let Some(exports) = &self.ready(CALL).await?.search else {
            return search_by_reading::search(&self.driver, self, &keys, query).await;
        };
        let (mut sandbox, _) = self.sandbox(self.open_stores(CALL)?, CALL).await?;
        let guest = exports.load(&mut sandbox.store, &sandbox.instance);
        let guest = guest.map_err(|e| self.start(CALL, super::call::reason(&e)))?;
        let answer = within(sandbox.until(), guest.call_search(&mut sandbox.store, &keys, query)).await;
        let reports = sandbox.judge_result(CALL, answer)?;
        self.checked(CALL, check::search(reports, &keys, query))
    }

    fn parallel(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    async fn summary_of(&self, session: SessionRef) -> Result<Session, Fault> {
        const CALL: &str = "session-read.summary-of";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_summary_of(&mut sandbox.store, &session)).await;
        let row = sandbox.judge_result(CALL, answer)?;
        self.checked(CALL, check::session(row))
    }

    async fn open(&self, session: SessionRef) -> Result<Transcript, Fault> {
        const CALL: &str = "session-read.open";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_open(&mut sandbox.store, &session)).await;
        let transcript = sandbox.judge_result(CALL, answer)?;
        let until = sandbox.until();
        let answer = within(until, guest.transcript().call_header(&mut sandbox.store, transcript)).await;
        let header = sandbox.judge("session-read.transcript.header", answer)?;
        let header = self.checked(CALL, check::session(header))?;
        let limits = &self.code.runtime.limits;
        let nodes = check::Nodes::new(limits.session_nodes, limits.session_bytes);
        let batches = pull::nodes(Pulled { sandbox, guest, resource: transcript }, nodes);
        Ok(Transcript { header, batches })
    }

    async fn history(&self, session: SessionRef, query: HistoryQuery) -> Result<HistoryPage, Fault> {
        const CALL: &str = "session-read.history";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_history(&mut sandbox.store, &session, &query)).await;
        let page = sandbox.judge_result(CALL, answer)?;
        self.checked(CALL, check::page(page, &query))
    }

    async fn native(&self, session: SessionRef) -> Result<NativeCopy, Fault> {
        const CALL: &str = "session-read.native";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_native(&mut sandbox.store, &session)).await;
        let copy = sandbox.judge_result(CALL, answer)?;
        let until = sandbox.until();
        let answer = within(until, guest.native_copy().call_name(&mut sandbox.store, copy)).await;
        let name = sandbox.judge("session-read.native-copy.name", answer)?;
        let most = self.code.runtime.limits.session_bytes;
        let chunks = pull::bytes(Pulled { sandbox, guest, resource: copy }, most);
        Ok(NativeCopy { name: clean_line(&name, 255), chunks })
    }

    async fn locks(&self) -> Result<Vec<LockState>, Fault> {
        const CALL: &str = "session-read.locks";
        let (mut sandbox, guest) = self.enter(CALL).await?;
        let answer = within(sandbox.until(), guest.call_locks(&mut sandbox.store)).await;
        Ok(check::locks(sandbox.judge_result(CALL, answer)?))
    }
}

fn nothing() -> ScanReport {
    ScanReport { entries: Vec::new(), warnings: Vec::new() }
}

fn epoch_ns_now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
