//! The capability to list and read sessions.

use crate::driver::Driver;
use crate::host::Host;
use crate::search;
use sepia_ir::{
    Branch, DriverError, ErrorCode, HistoryPage, HistoryQuery, LockState, MessageNode, ScanReport, SearchQuery,
    SearchReport, Session, SessionRef, Summary, SummaryDetail, chain,
};
use std::collections::HashSet;
use std::ops::Range;

/// Lists and reads sessions; the Rust form of `wit/session-read.wit`, where each function is
/// described. What has a default here is right for small stores and slow for large ones.
pub trait SessionRead: Driver + Sized {
    /// A session being read.
    type Transcript: Transcript;

    /// Everything that may hold sessions, without opening any.
    fn scan(host: &Host) -> Result<ScanReport, DriverError>;

    /// List rows for these keys, one summary a key, in the same order.
    fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError>;

    /// Starts reading a session from its start to its end.
    fn open(host: &Host, session: &SessionRef) -> Result<Self::Transcript, DriverError>;

    /// The row of one session, stats included. The default looks through all keys.
    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        for entry in Self::scan(host)?.entries {
            let rows = Self::summaries(host, &[entry.key], SummaryDetail::Stats)?;
            let found = rows.into_iter().flat_map(|s| s.sessions).find(|row| match &session.agent_id {
                None => row.id == session.id,
                agent => row.parent_session_id.as_deref() == Some(&session.id) && row.agent_id == *agent,
            });
            if let Some(row) = found {
                return Ok(row);
            }
        }
        Err(DriverError::unknown_session(&session.id))
    }

    /// One page of a session. The default reads all of it.
    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        let mut transcript = Self::open(host, session)?;
        let mut nodes = Vec::new();
        loop {
            let batch = transcript.next(1024)?;
            if batch.is_empty() {
                break;
            }
            nodes.extend(batch);
        }
        let positions = match query.branch {
            Branch::All => (0..nodes.len()).collect(),
            Branch::Live => chain::live(&nodes, transcript.header().main_chain_id),
        };
        Ok(page_of(&nodes, &positions, query))
    }

    /// The agent's own bytes of a session.
    fn native(_host: &Host, _session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        Err(DriverError::new(ErrorCode::Unsupported, "this driver has no native form of a session to copy"))
    }

    /// What the sessions of these keys hold of what is looked for; see `wit/session-search.wit`.
    /// The default reads every session of the keys that [`may_hold`](Self::may_hold) does not
    /// rule out.
    fn search(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<SearchReport>, DriverError> {
        search::by_reading::<Self>(host, keys, query)
    }

    /// For each key whether a session of it may hold what is looked for, its title included:
    /// `false` must be certain. The default rules nothing out; a driver whose sessions are files
    /// asks [`Services::may_hold`](crate::Services::may_hold) of them.
    fn may_hold(_host: &Host, keys: &[String], _query: &SearchQuery) -> Result<Vec<bool>, DriverError> {
        Ok(vec![true; keys.len()])
    }

    /// The sessions that a running agent holds now.
    fn locks(_host: &Host) -> Result<Vec<LockState>, DriverError> {
        Ok(Vec::new())
    }
}

/// A session being read; see the resource `transcript`.
pub trait Transcript: 'static {
    /// The session without its nodes.
    fn header(&self) -> Session;
    /// The next nodes in the order of the store, at most `max`; none at the end.
    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError>;
}

/// The agent's own bytes; see the resource `native-copy`.
pub trait NativeCopy: 'static {
    /// Name that the agent would give the file.
    fn name(&self) -> String;
    /// The next bytes, at most `max`; none at the end.
    fn next(&mut self, max: usize) -> Result<Vec<u8>, DriverError>;
}

/// The positions that a page has, of a branch of `total` nodes: the last ones before `before`, at most
/// `limit` and one at least.
pub fn window(query: &HistoryQuery, total: usize) -> Range<usize> {
    let end = query.before.map_or(total, |before| usize::try_from(before).unwrap_or(total).min(total));
    end.saturating_sub(query.limit.max(1) as usize)..end
}

/// The page that a query asks for, of the nodes at these positions.
fn page_of(nodes: &[MessageNode], positions: &[usize], query: &HistoryQuery) -> HistoryPage {
    let total = positions.len();
    let range = window(query, total);
    let start = range.start;
    let window: Vec<MessageNode> = positions[range].iter().map(|at| nodes[*at].clone()).collect();
    let declared: HashSet<&str> = window.iter().flat_map(|n| &n.tool_calls).map(|c| c.id.as_str()).collect();
    let wanted: HashSet<&str> =
        window.iter().filter_map(|n| n.tool_call_id.as_deref()).filter(|id| !declared.contains(id)).collect();
    let tool_call_nodes =
        nodes.iter().filter(|n| n.tool_calls.iter().any(|c| wanted.contains(c.id.as_str()))).cloned().collect();
    HistoryPage { tool_call_nodes, total: total as u64, start: start as u64, index: None, nodes: window }
}
