//! What the suite calls.

use crate::failure::Failure;
use sepia_ir::{
    HistoryPage, HistoryQuery, LockState, MessageNode, ScanReport, Session, SessionRef, Summary, SummaryDetail,
};

/// A driver as the suite sees it, whatever form it has.
pub trait Subject {
    /// Everything that may hold sessions.
    fn scan(&self) -> Result<ScanReport, Failure>;
    /// Rows of these keys.
    fn summaries(&self, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, Failure>;
    /// One row, stats included.
    fn summary_of(&self, session: &SessionRef) -> Result<Session, Failure>;
    /// A session in batches of at most `max` nodes, where the form lets one choose.
    fn open(&self, session: &SessionRef, max: usize) -> Result<Opened, Failure>;
    /// One page.
    fn history(&self, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure>;
    /// The agent's own bytes, whole.
    fn native(&self, session: &SessionRef) -> Result<Copy, Failure>;
    /// Sessions that a running agent holds.
    fn locks(&self) -> Result<Vec<LockState>, Failure>;
}

/// A session, read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The session without its nodes.
    pub header: Session,
    /// The batches as they came.
    pub batches: Vec<Vec<MessageNode>>,
}

impl Opened {
    /// All nodes in order.
    pub fn into_nodes(self) -> (Session, Vec<MessageNode>) {
        (self.header, self.batches.into_iter().flatten().collect())
    }
}

/// A native copy, read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Name that the agent would give the file.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
