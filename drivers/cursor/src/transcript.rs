//! A session being read from its start to its end.

use crate::locate::locate;
use crate::step::{ALL, Chain};
use sepia_ir::{DriverError, MessageNode, Session, SessionRef};
use sepia_sdk::{Host, Nodes, Transcript};
use std::collections::VecDeque;
use std::rc::Rc;

/// A session of Cursor being read.
pub struct CursorTranscript {
    header: Session,
    nodes: CursorNodes,
}

/// The nodes of messages that come one after the other.
pub(crate) struct CursorNodes {
    chain: Chain,
    waiting: VecDeque<MessageNode>,
}

impl std::fmt::Debug for CursorTranscript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CursorTranscript").field("id", &self.header.id).finish_non_exhaustive()
    }
}

impl CursorTranscript {
    /// Looks through the session once, for outcomes and counts, and begins to read it.
    pub(crate) fn open(host: &Host, session: &SessionRef) -> Result<Self, DriverError> {
        let record = locate(host, session)?;
        let (mut header, facts) = record.in_full()?;
        header.prompt_history.clone_from(&facts.prompts);
        record.restore_prompts(&mut header)?;
        let times = (record.session.created_at, record.session.last_activity_at);
        let chain = Chain::new((record.reader)(ALL)?, Rc::new(facts), times.0, times.1);
        Ok(Self { header, nodes: CursorNodes { chain, waiting: VecDeque::new() } })
    }
}

impl Transcript for CursorTranscript {
    fn header(&self) -> Session {
        self.header.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        self.nodes.batch(max)
    }
}

impl CursorNodes {
    /// Of a session that was written a moment ago, read in one look: what later messages tell of calls is missing.
    pub(crate) fn read_back(host: &Host, id: &str) -> Result<Self, DriverError> {
        let record = locate(host, &SessionRef { id: id.to_owned(), agent_id: None })?;
        Ok(Self { chain: Chain::in_one_look((record.reader)(ALL)?), waiting: VecDeque::new() })
    }
}

impl Nodes for CursorNodes {
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let max = max.max(1);
        while self.waiting.len() < max {
            // The header has told the warnings already.
            let steps = self.chain.next(&mut Vec::new())?;
            if steps.is_empty() {
                break;
            }
            self.waiting.extend(steps.into_iter().map(|step| step.node));
        }
        let rest = self.waiting.split_off(max.min(self.waiting.len()));
        Ok(std::mem::replace(&mut self.waiting, rest).into())
    }
}
