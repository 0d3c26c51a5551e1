//! A driver of the loader as the suite calls it: one call after the other, each read to its end.

use crate::loader::{Fault, SessionRead};
use sepia_conformance::{Copy, Failure, Opened, Subject};
use sepia_ir::{
    HistoryPage, HistoryQuery, LockState, MessageNode, ScanReport, Session, SessionRef, Summary, SummaryDetail,
};
use tokio::runtime::Handle;

/// A driver that is brought in, for the suite. Its calls wait for the runtime, so they may not
/// come from one of the runtime's own tasks.
pub struct DriverSubject<'a> {
    read: &'a dyn SessionRead,
    runtime: Handle,
}

impl<'a> DriverSubject<'a> {
    /// The reading side of a driver, called on this runtime.
    pub fn new(read: &'a dyn SessionRead, runtime: Handle) -> Self {
        Self { read, runtime }
    }

    fn wait<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Failure> {
        self.runtime.block_on(call).map_err(|fault| Failure::new(fault.kind.name(), fault.to_string()))
    }
}

impl Subject for DriverSubject<'_> {
    fn scan(&self) -> Result<ScanReport, Failure> {
        self.wait(self.read.scan())
    }

    fn summaries(&self, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, Failure> {
        self.wait(self.read.summaries(keys.to_vec(), detail))
    }

    fn summary_of(&self, session: &SessionRef) -> Result<Session, Failure> {
        self.wait(self.read.summary_of(session.clone()))
    }

    /// The loader chooses the size of a batch.
    fn open(&self, session: &SessionRef, _max: usize) -> Result<Opened, Failure> {
        self.wait(async {
            let mut transcript = self.read.open(session.clone()).await?;
            let mut batches: Vec<Vec<MessageNode>> = Vec::new();
            while let Some(batch) = transcript.batches.recv().await {
                batches.push(batch?);
            }
            Ok(Opened { header: transcript.header, batches })
        })
    }

    fn history(&self, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure> {
        self.wait(self.read.history(session.clone(), query.clone()))
    }

    fn native(&self, session: &SessionRef) -> Result<Copy, Failure> {
        self.wait(async {
            let mut copy = self.read.native(session.clone()).await?;
            let mut bytes = Vec::new();
            while let Some(chunk) = copy.chunks.recv().await {
                bytes.extend(chunk?);
            }
            Ok(Copy { name: copy.name, bytes })
        })
    }

    fn locks(&self) -> Result<Vec<LockState>, Failure> {
        self.wait(self.read.locks())
    }
}
