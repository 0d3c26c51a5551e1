//! Reading one session: its summary, all of it, its agent's own bytes.

use super::error::PlaneError;
use super::{ErrorKind, Plane};
use crate::loader::{About, Fault, NativeCopy, SessionRead, Transcript};
use sepia_ir::chain::{Link, live_links};
use sepia_ir::{MessageNode, Session, SessionRef, StreamedSession};
use std::cell::RefCell;
use std::collections::HashSet;

/// A session being read, its nodes still to come.
#[derive(Debug)]
pub struct OpenSession {
    /// The agent that it belongs to.
    pub agent: String,
    transcript: Transcript,
}

impl Plane {
    /// The session without its nodes.
    pub async fn summary(&self, id: &str, agent: Option<&str>) -> Result<Session, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (_, summary) = self.first_that_knows(id, agent, |_, reader| reader.summary_of(session.clone())).await?;
        Ok(summary)
    }

    /// The session without its nodes, and the driver that has it.
    pub(super) async fn summary_and_reader(
        &self,
        id: &str,
        agent: Option<&str>,
    ) -> Result<(&About, Session), PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        self.first_that_knows(id, agent, |_, reader| reader.summary_of(session.clone())).await
    }

    /// Starts reading all of a session.
    pub async fn open(&self, id: &str, agent: Option<&str>) -> Result<OpenSession, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (about, transcript) = self.first_that_knows(id, agent, |_, reader| reader.open(session.clone())).await?;
        Ok(OpenSession { agent: about.manifest.id.clone(), transcript })
    }

    /// The nodes of the session's live branch.
    pub async fn live_branch(&self, id: &str, agent: Option<&str>) -> Result<HashSet<i64>, PlaneError> {
        let mut session = self.open(id, agent).await?;
        let tip = session.header().main_chain_id;
        let mut links = Vec::new();
        while let Some(nodes) = session.next().await? {
            links.extend(nodes.iter().map(Link::of));
        }
        Ok(live_links(&links, tip).into_iter().map(|at| links[at].node).collect())
    }

    /// The agent that has the session, and the session's title.
    pub(super) async fn agent_and_title(&self, id: &str, agent: Option<&str>) -> Result<(String, String), PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (about, opened) = self.first_that_knows(id, agent, |_, reader| reader.open(session.clone())).await?;
        Ok((about.manifest.id.clone(), opened.header.title))
    }

    /// Starts reading a session, and who reads it.
    pub(super) async fn opened_by(
        &self,
        session: &SessionRef,
        agent: Option<&str>,
    ) -> Result<(&About, &dyn SessionRead, Transcript), PlaneError> {
        let open = |_, reader| async move { Ok((reader, SessionRead::open(reader, session.clone()).await?)) };
        let (about, (reader, transcript)) = self.first_that_knows(&session.id, agent, open).await?;
        Ok((about, reader, transcript))
    }

    /// The session as its agent wrote it.
    pub async fn native(&self, id: &str, agent: Option<&str>) -> Result<NativeCopy, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (_, copy) = self.first_that_knows(id, agent, |_, reader| reader.native(session.clone())).await?;
        Ok(copy)
    }
}

/// Changes a session on its way out.
pub trait Revise {
    /// The session without its nodes.
    fn header(&mut self, header: &mut Session);
    /// The next nodes.
    fn nodes(&mut self, nodes: &mut [MessageNode]);
}

/// Changes nothing.
impl Revise for () {
    fn header(&mut self, _: &mut Session) {}
    fn nodes(&mut self, _: &mut [MessageNode]) {}
}

impl OpenSession {
    /// The session without its nodes.
    pub fn header(&self) -> &Session {
        &self.transcript.header
    }

    /// The next nodes; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<MessageNode>>, PlaneError> {
        Ok(self.transcript.batches.recv().await.transpose()?)
    }

    /// The session with its header changed.
    #[must_use]
    pub fn revised(mut self, revise: &mut impl Revise) -> Self {
        revise.header(&mut self.transcript.header);
        self
    }

    /// The next nodes, changed; none at the end. Blocks while they are made.
    pub fn next_blocking(&mut self, revise: &mut impl Revise) -> Result<Option<Vec<MessageNode>>, PlaneError> {
        let Some(nodes) = self.transcript.batches.blocking_recv() else { return Ok(None) };
        let mut nodes = nodes?;
        revise.nodes(&mut nodes);
        Ok(Some(nodes))
    }

    /// Hands the whole session to a serialiser, node by node, so that it is never in memory as
    /// a whole. Blocks while batches are made, so it belongs on a thread that may block.
    ///
    /// What is handed over went through `revise`. Where `serialize` fails because the driver did, the error is the driver's.
    pub fn serialize_blocking<T, E: std::fmt::Display>(
        self,
        revise: &mut impl Revise,
        serialize: impl FnOnce(&StreamedSession<'_>) -> Result<T, E>,
    ) -> Result<T, PlaneError> {
        let Transcript { mut header, mut batches } = self.transcript;
        revise.header(&mut header);
        let failed: RefCell<Option<Fault>> = RefCell::new(None);
        let next = || match batches.blocking_recv() {
            None => Ok(None),
            Some(Ok(mut nodes)) => {
                revise.nodes(&mut nodes);
                Ok(Some(nodes))
            }
            Some(Err(fault)) => {
                let message = fault.to_string();
                *failed.borrow_mut() = Some(fault);
                Err(message)
            }
        };
        let result = serialize(&StreamedSession::new(&header, next));
        match (result, failed.into_inner()) {
            (_, Some(fault)) => Err(fault.into()),
            (Ok(done), None) => Ok(done),
            (Err(error), None) => {
                Err(PlaneError::new(ErrorKind::Internal, "the session could not be written out")
                    .because(error.to_string()))
            }
        }
    }
}
