//! The session that is to be written. One that is small is read into memory, looked through, and handed over from
//! there. Of one that is large only the start is looked at; it goes on being read while it is handed over, or is
//! looked through to its end and read anew.

use crate::loader::{Fault, SessionRead, Transcript, check};
use sepia_ir::{MessageNode, Session, SessionRef};
use std::collections::VecDeque;

/// Text of a session that is kept in memory, bytes: most sessions are shorter. A longer one takes so long to read
/// that it is written beside that.
const IN_MEMORY: usize = 256 << 10;
/// Nodes of a session that was handed in that go on at once: few, so that the next are translated while these are
/// written.
const BATCH: usize = 64;

/// A session that can be read twice.
pub(super) enum Source<'a> {
    /// It is here.
    Whole(Vec<MessageNode>),
    /// It is in a store.
    Stored(Box<Stored<'a>>),
}

/// A session of a store.
pub(super) struct Stored<'a> {
    reader: &'a dyn SessionRead,
    session: SessionRef,
    /// What was opened, until it is read to its end.
    opened: Option<Transcript>,
    /// All of it that was read, in batches, while that is little.
    kept: Option<VecDeque<Vec<MessageNode>>>,
}

impl<'a> Source<'a> {
    /// A session that was handed in.
    pub(super) fn whole(session: &mut Session) -> Self {
        Self::Whole(std::mem::take(&mut session.nodes))
    }

    /// A session of a store, which was opened to be read.
    pub(super) fn stored(reader: &'a dyn SessionRead, session: SessionRef, opened: Transcript) -> Self {
        Self::Stored(Box::new(Stored { reader, session, opened: Some(opened), kept: Some(VecDeque::new()) }))
    }

    /// Shows the first nodes, in order: all of a session that is kept in memory; whether it is all of them.
    pub(super) async fn look_at_start(&mut self, mut look: impl FnMut(&[MessageNode])) -> Result<bool, Fault> {
        let stored = match self {
            Self::Whole(nodes) => {
                look(nodes);
                return Ok(true);
            }
            Self::Stored(stored) => stored,
        };
        let (Some(transcript), Some(kept)) = (&mut stored.opened, &mut stored.kept) else { return Ok(false) };
        let mut bytes = 0;
        while bytes <= IN_MEMORY {
            let Some(batch) = transcript.batches.recv().await else {
                stored.opened = None;
                return Ok(true);
            };
            let batch = batch?;
            look(&batch);
            bytes += batch.iter().map(check::text_of).sum::<usize>();
            kept.push_back(batch);
        }
        Ok(false)
    }

    /// Shows all nodes that were not shown yet, which are not kept any more.
    pub(super) async fn look_through(&mut self, mut look: impl FnMut(&[MessageNode])) -> Result<(), Fault> {
        let Self::Stored(stored) = self else { return Ok(()) };
        stored.kept = None;
        let mut transcript = match stored.opened.take() {
            Some(opened) => opened,
            None => stored.reader.open(stored.session.clone()).await?,
        };
        while let Some(batch) = transcript.batches.recv().await {
            look(&batch?);
        }
        Ok(())
    }

    /// Starts handing the nodes over, from the first.
    pub(super) async fn hand_over(&mut self) -> Result<Nodes, Fault> {
        match self {
            Self::Whole(nodes) => {
                let mut nodes = std::mem::take(nodes).into_iter();
                let batches = std::iter::from_fn(|| Some(nodes.by_ref().take(BATCH).collect()));
                let here = batches.take_while(|batch: &Vec<_>| !batch.is_empty()).collect();
                Ok(Nodes { here, coming: None })
            }
            Self::Stored(stored) => {
                if let Some(here) = stored.kept.take() {
                    return Ok(Nodes { here, coming: stored.opened.take() });
                }
                let coming = stored.reader.open(stored.session.clone()).await?;
                Ok(Nodes { here: VecDeque::new(), coming: Some(coming) })
            }
        }
    }
}

/// Nodes being handed over: first those that are in memory, then those that are read.
pub(super) struct Nodes {
    here: VecDeque<Vec<MessageNode>>,
    coming: Option<Transcript>,
}

impl Nodes {
    /// The next nodes; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<MessageNode>>, Fault> {
        if let Some(batch) = self.here.pop_front() {
            return Ok(Some(batch));
        }
        match &mut self.coming {
            Some(transcript) => transcript.batches.recv().await.transpose(),
            None => Ok(None),
        }
    }
}
