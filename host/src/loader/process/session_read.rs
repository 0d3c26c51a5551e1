//! The reading side of a program, in calls of the wire.

use super::driver::ProcessDriver;
use super::page::cut;
use super::{answer, listing, streamed};
use crate::jsonrpc::Fragment;
use crate::loader::check::{self, Breach};
use crate::loader::{Fault, FaultKind, NativeCopy, SessionRead, Transcript, search_by_reading};
use crate::text::clean_line;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sepia_ir::driver_wire::{HistoryParams, HistoryResult, SearchParams, SessionParams, SummariesParams};
use sepia_ir::{
    DriverError, ErrorCode, HistoryPage, HistoryQuery, LockState, MessageNode, ScanReport, SearchQuery, SearchReport,
    Session, SessionRef, Summary, SummaryDetail,
};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

/// Batches that wait for their reader.
const AHEAD: usize = 2;

const SCAN: &str = "session-read.scan";
const SUMMARIES: &str = "session-read.summaries";
const SUMMARY_OF: &str = "session-read.summary-of";
const OPEN: &str = "session-read.open";
const HISTORY: &str = "session-read.history";
const NATIVE: &str = "session-read.native";
const SEARCH: &str = "session-search.search";
const LOCKS: &str = "session-read.locks";

pub(super) fn of(session: SessionRef) -> SessionParams {
    SessionParams { id: session.id, agent_id: session.agent_id }
}

impl ProcessDriver {
    async fn rows(&self, call: &'static str, detail: SummaryDetail) -> Result<Vec<Session>, Fault> {
        let result = self.call(call, "session.list", &listing::params(detail)).await?;
        answer::parse(self.id(), call, &result)
    }

    pub(super) fn checked<T>(&self, call: &'static str, answer: Result<T, Breach>) -> Result<T, Fault> {
        answer.map_err(|breach| breach.into_fault(self.id(), call))
    }

    pub(super) fn unsupported(&self, call: &'static str, message: &str) -> Fault {
        Fault::said(self.id(), call, DriverError::new(ErrorCode::Unsupported, message))
    }
}

#[async_trait]
impl SessionRead for ProcessDriver {
    async fn scan(&self) -> Result<ScanReport, Fault> {
        let report = if self.extensions.scan {
            let result = self.call(SCAN, "session.scan", &()).await?;
            answer::parse(self.id(), SCAN, &result)?
        } else {
            self.listing.replace(self.rows(SCAN, SummaryDetail::Row).await?)
        };
        self.checked(SCAN, check::scan(report))
    }

    async fn summaries(&self, keys: Vec<String>, detail: SummaryDetail) -> Result<Vec<Summary>, Fault> {
        let known = match detail {
            SummaryDetail::Row if !self.extensions.scan => self.listing.summaries(&keys),
            _ => None,
        };
        let (rows, keys) = match known {
            Some(known) => (known, keys),
            None if self.extensions.scan => {
                let params = SummariesParams { keys, detail };
                let result = self.call(SUMMARIES, "session.summaries", &params).await?;
                (answer::parse(self.id(), SUMMARIES, &result)?, params.keys)
            }
            None => (listing::summaries(self.rows(SUMMARIES, detail).await?, &keys), keys),
        };
        self.checked(SUMMARIES, check::summaries(rows, &keys))
    }

    async fn search(&self, keys: Vec<String>, query: &SearchQuery) -> Result<Vec<SearchReport>, Fault> {
        if !self.extensions.search {
            return search_by_reading::search(self.id(), self, &keys, query).await;
        }
        let params = SearchParams { keys, query: query.clone() };
        let result = self.call(SEARCH, "session.search", &params).await?;
        let reports = answer::parse(self.id(), SEARCH, &result)?;
        self.checked(SEARCH, check::search(reports, &params.keys, query))
    }

    fn parallel(&self) -> usize {
        1
    }

    async fn summary_of(&self, session: SessionRef) -> Result<Session, Fault> {
        let result = self.call(SUMMARY_OF, "session.summary", &of(session)).await?;
        let mut row: Session = answer::parse(self.id(), SUMMARY_OF, &result)?;
        row.nodes.clear();
        row.prompt_history.clear();
        self.checked(SUMMARY_OF, check::session(row))
    }

    async fn open(&self, session: SessionRef) -> Result<Transcript, Fault> {
        let result = self.call(OPEN, "session.get", &of(session)).await?;
        let driver = self.id().to_owned();
        let got = in_its_own_time(&driver, OPEN, result, streamed::get).await?;
        let header = self.checked(OPEN, check::session(got.header.clone()))?;
        let mut checked = check::Nodes::new(self.limits().session_nodes, self.limits().session_bytes);
        let (sender, batches) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            let mut broken = None;
            let read = got.batches(&mut |mut batch: Vec<MessageNode>| match checked.batch(&mut batch) {
                Ok(_) => sender.blocking_send(Ok(batch)).is_ok(),
                Err(breach) => {
                    broken = Some(breach.into_fault(&driver, OPEN));
                    false
                }
            });
            let fault = broken.or_else(|| read.err().map(|e| answer::wrong(&driver, OPEN, &e)));
            if let Some(fault) = fault {
                // Nobody may be waiting any more.
                let _ = sender.blocking_send(Err(fault));
            }
        });
        Ok(Transcript { header, batches })
    }

    async fn history(&self, session: SessionRef, query: HistoryQuery) -> Result<HistoryPage, Fault> {
        let params = HistoryParams {
            id: session.id,
            agent_id: session.agent_id,
            limit: Some(query.limit),
            before: query.before,
            branch: Some(query.branch),
        };
        let most = usize::try_from(query.limit.max(1)).unwrap_or(usize::MAX);
        let result = self.call(HISTORY, "session.history", &params).await?;
        let page: HistoryResult =
            in_its_own_time(self.id(), HISTORY, result, |fragment: Fragment| fragment.parse()).await?;
        let page = HistoryPage {
            nodes: page.nodes,
            tool_call_nodes: page.tool_call_nodes,
            total: page.total,
            start: page.start,
            index: None,
        };
        let page = if page.nodes.len() > most { cut(page, most, query.before) } else { page };
        self.checked(HISTORY, check::page(page, &query))
    }

    async fn native(&self, session: SessionRef) -> Result<NativeCopy, Fault> {
        if !self.extensions.native {
            return Err(self.unsupported(NATIVE, "this driver has no native form of a session to copy"));
        }
        let result = self.call(NATIVE, "session.native", &of(session)).await?;
        let driver = self.id().to_owned();
        let parsed = in_its_own_time(&driver, NATIVE, result, |fragment| {
            let name = fragment.parse::<streamed::Copied<'_>>()?.name;
            Ok((name, fragment))
        });
        let (name, fragment) = parsed.await?;
        let (sender, chunks) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            let mut broken = None;
            let read = fragment.parse::<streamed::Copied<'_>>().and_then(|copied| {
                streamed::each(copied.data.get(), &mut |piece: String| match BASE64.decode(piece) {
                    Ok(bytes) => bytes.is_empty() || sender.blocking_send(Ok(bytes)).is_ok(),
                    Err(e) => {
                        broken = Some(format!("its native copy is not base64: {e}"));
                        false
                    }
                })
            });
            let fault = match (broken, read) {
                (Some(message), _) => Fault::new(&driver, NATIVE, FaultKind::Contract, message),
                (None, Err(e)) => answer::wrong(&driver, NATIVE, &e),
                (None, Ok(())) => return,
            };
            let _ = sender.blocking_send(Err(fault));
        });
        Ok(NativeCopy { name: clean_line(&name, 255), chunks })
    }

    async fn locks(&self) -> Result<Vec<LockState>, Fault> {
        if !self.extensions.locks {
            return Ok(Vec::new());
        }
        let result = self.call(LOCKS, "session.locks", &()).await?;
        Ok(check::locks(answer::parse(self.id(), LOCKS, &result)?))
    }
}

/// Parses a large answer where it holds up nobody.
async fn in_its_own_time<T: Send + 'static>(
    driver: &str,
    call: &'static str,
    answer: Fragment,
    parse: impl FnOnce(Fragment) -> serde_json::Result<T> + Send + 'static,
) -> Result<T, Fault> {
    match spawn_blocking(move || parse(answer)).await {
        Ok(parsed) => parsed.map_err(|e| answer::wrong(driver, call, &e)),
        Err(e) => Err(Fault::new(driver, call, FaultKind::Lost, format!("the host gave up parsing its answer: {e}"))),
    }
}
