//! The session that is to be written, read twice: once to look through it, once to hand it over. One that
//! is small is kept in memory in between.

use crate::loader::{Fault, SessionRead, Transcript, check};
use sepia_ir::{MessageNode, Session, SessionRef};

/// Text of a session that is kept in memory, bytes.
const IN_MEMORY: usize = 24 << 20;
/// Nodes handed over at once from memory.
const BATCH: usize = 512;

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
    /// What was opened, until it is read.
    opened: Option<Transcript>,
    /// All of it, when it is small.
    kept: Option<Vec<MessageNode>>,
}

impl<'a> Source<'a> {
    /// A session that was handed in.
    pub(super) fn whole(session: &mut Session) -> Self {
        Self::Whole(std::mem::take(&mut session.nodes))
    }

    /// A session of a store, which was opened to be read.
    pub(super) fn stored(reader: &'a dyn SessionRead, session: SessionRef, opened: Transcript) -> Self {
        Self::Stored(Box::new(Stored { reader, session, opened: Some(opened), kept: None }))
    }

    /// Shows all nodes, in order.
    pub(super) async fn look_through(&mut self, mut look: impl FnMut(&[MessageNode])) -> Result<(), Fault> {
        match self {
            Self::Whole(nodes) => look(nodes),
            Self::Stored(stored) => {
                let mut transcript = match stored.opened.take() {
                    Some(opened) => opened,
                    None => stored.reader.open(stored.session.clone()).await?,
                };
                let (mut all, mut bytes) = (Vec::new(), 0);
                while let Some(batch) = transcript.batches.recv().await {
                    let batch = batch?;
                    look(&batch);
                    if bytes <= IN_MEMORY {
                        bytes += batch.iter().map(check::text_of).sum::<usize>();
                        all.extend(batch);
                    } else {
                        all = Vec::new();
                    }
                }
                stored.kept = (bytes <= IN_MEMORY).then_some(all);
            }
        }
        Ok(())
    }

    /// Starts handing the nodes over.
    pub(super) async fn hand_over(self) -> Result<Nodes, Fault> {
        match self {
            Self::Whole(nodes) => Ok(Nodes::Here(nodes)),
            Self::Stored(stored) => match stored.kept {
                Some(nodes) => Ok(Nodes::Here(nodes)),
                None => Ok(Nodes::Coming(Box::new(stored.reader.open(stored.session).await?))),
            },
        }
    }
}

/// Nodes being handed over.
pub(super) enum Nodes {
    Here(Vec<MessageNode>),
    Coming(Box<Transcript>),
}

impl Nodes {
    /// The next nodes; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<MessageNode>>, Fault> {
        match self {
            Self::Here(nodes) if nodes.is_empty() => Ok(None),
            Self::Here(nodes) => {
                let rest = nodes.split_off(nodes.len().min(BATCH));
                Ok(Some(std::mem::replace(nodes, rest)))
            }
            Self::Coming(transcript) => transcript.batches.recv().await.transpose(),
        }
    }
}
