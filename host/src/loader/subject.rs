//! A driver as what the conformance suite calls, whatever it was brought in as.

use super::{Driver, Fault, FaultKind, SessionRead};
use sepia_conformance::{Copy, Failure, Opened, Subject};
use sepia_ir::{HistoryPage, HistoryQuery, LockState, ScanReport, Session, SessionRef, Summary, SummaryDetail};
use std::future::Future;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

/// Calls a driver and waits. Must not be used from a task of the runtime itself.
pub struct Waiting<'a> {
    driver: &'a dyn Driver,
    runtime: Handle,
}

impl<'a> Waiting<'a> {
    /// Calls this driver on this runtime.
    pub fn new(driver: &'a dyn Driver, runtime: Handle) -> Self {
        Self { driver, runtime }
    }

    fn call<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Failure> {
        self.runtime.block_on(call).map_err(failure)
    }

    fn reader(&self) -> Result<&dyn SessionRead, Failure> {
        let none = || Failure::new("unsupported", "this driver does not read sessions");
        self.driver.session_read().ok_or_else(none)
    }
}

fn failure(fault: Fault) -> Failure {
    let message = if let FaultKind::Said(_) = fault.kind { fault.message } else { fault.to_string() };
    Failure::new(fault.kind.name(), message)
}

async fn collect<T>(mut pieces: mpsc::Receiver<Result<Vec<T>, Fault>>) -> Result<Vec<Vec<T>>, Fault> {
    let mut all = Vec::new();
    while let Some(piece) = pieces.recv().await {
        all.push(piece?);
    }
    Ok(all)
}

impl Subject for Waiting<'_> {
    fn scan(&self) -> Result<ScanReport, Failure> {
        self.call(self.reader()?.scan())
    }

    fn summaries(&self, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, Failure> {
        self.call(self.reader()?.summaries(keys.to_vec(), detail))
    }

    fn summary_of(&self, session: &SessionRef) -> Result<Session, Failure> {
        self.call(self.reader()?.summary_of(session.clone()))
    }

    /// The loader chooses the size of a batch.
    fn open(&self, session: &SessionRef, _max: usize) -> Result<Opened, Failure> {
        let reader = self.reader()?;
        self.call(async {
            let transcript = reader.open(session.clone()).await?;
            Ok(Opened { header: transcript.header, batches: collect(transcript.batches).await? })
        })
    }

    fn history(&self, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure> {
        self.call(self.reader()?.history(session.clone(), query.clone()))
    }

    fn native(&self, session: &SessionRef) -> Result<Copy, Failure> {
        let reader = self.reader()?;
        self.call(async {
            let copy = reader.native(session.clone()).await?;
            Ok(Copy { name: copy.name, bytes: collect(copy.chunks).await?.concat() })
        })
    }

    fn locks(&self) -> Result<Vec<LockState>, Failure> {
        self.call(self.reader()?.locks())
    }
}
