//! A session read from its start to its end.
//!
//! What a node is depends on others, before it and behind it: results of its calls, copies of
//! its message. A session of usual size is read once and completed in memory; a long one is
//! looked through first and then read again, in bounded memory.

use crate::atif;
use crate::draft::draft;
use crate::gather::{Gathered, gather};
use crate::rows::Rows;
use crate::session::in_databases;
use sepia_ir::{DriverError, MessageNode, Session, SessionRef};
use sepia_sdk::Host;
use std::collections::VecDeque;

/// Longer sessions are read twice, bytes of their rows.
pub(crate) const WHOLE: usize = 24 << 20;
/// Nodes are handed over in batches of about so many bytes at most.
const BATCH: usize = 4 << 20;

/// See the module.
pub struct DevinTranscript {
    header: Session,
    rest: Rest,
}

/// The nodes that were not handed over yet.
enum Rest {
    /// All of them.
    Ready(VecDeque<MessageNode>),
    /// Rows that are still to be read.
    Rows(Box<Long>),
}

struct Long {
    gathered: Gathered,
    rows: Rows,
}

impl DevinTranscript {
    pub(crate) fn open(host: &Host, session: &SessionRef, most: usize) -> Result<Self, DriverError> {
        let Some(mut gathered) = in_databases(host, |opened| gather(opened, session, most))? else {
            let (header, nodes) = atif::open(host, session)?;
            return Ok(Self { header, rest: Rest::Ready(nodes.into()) });
        };
        let mut header = gathered.header(None)?;
        header.prompt_history = std::mem::take(&mut gathered.prompts).in_order();
        let carried = gathered.found.listed.carried.as_deref();
        crate::carry::onto_session(&mut header, carried, &crate::carry::OF_PROMPTS);
        let rest = if let Some(nodes) = gathered.take_nodes() {
            Rest::Ready(nodes)
        } else {
            let nodes = gathered.found.listed.inside.as_ref().map(|inside| inside.nodes.as_slice());
            let rows = Rows::of(&gathered.found.opened, gathered.found.keeper(), nodes)?;
            gathered.outlines = Vec::new();
            Rest::Rows(Box::new(Long { gathered, rows }))
        };
        Ok(Self { header, rest })
    }
}

impl sepia_sdk::Transcript for DevinTranscript {
    fn header(&self) -> Session {
        self.header.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let mut nodes = Vec::new();
        let mut bytes = 0;
        while nodes.len() < max.max(1) && bytes < BATCH {
            match &mut self.rest {
                Rest::Ready(ready) => {
                    let Some(node) = ready.pop_front() else { break };
                    bytes += node.content.len();
                    nodes.push(node);
                }
                Rest::Rows(long) => {
                    let Some(row) = long.rows.next()? else { break };
                    bytes += row.bytes();
                    nodes.extend(long.gathered.finish(draft(&row, long.gathered.found.opened.source.file())));
                }
            }
        }
        Ok(nodes)
    }
}
