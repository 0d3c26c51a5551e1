//! Nodes on their way from one agent to another: paired and translated here, written on a task of its own, so
//! that the next are read and translated while these are written.

use super::losses::Losses;
use super::pairing::Pairing;
use super::reasoning;
use super::source::Nodes;
use super::translation::Translation;
use crate::loader::{Draft, Driver, Fault, FaultKind, SessionWrite};
use crate::plane::{ErrorKind, PlaneError};
use sepia_ir::{MessageNode, SaveOptions, SaveReport, Session};
use sepia_services::TrashEntry;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Batches that wait to be written, besides the one that is.
const AHEAD: usize = 1;
const BEGIN: &str = "session-write.begin";

/// From whom to whom.
pub(super) struct Way<'a> {
    /// Whose tools the calls are of, if anybody tells what they are.
    pub(super) from: Option<&'a dyn SessionWrite>,
    pub(super) from_backend: &'a str,
    pub(super) to: &'a dyn SessionWrite,
    /// Whose side that is.
    pub(super) driver: &'a Arc<dyn Driver>,
    pub(super) to_backend: &'a str,
    pub(super) trash: &'a Arc<TrashEntry>,
}

/// A session that is in its place.
pub(super) struct Delivered {
    pub(super) report: SaveReport,
    pub(super) losses: Losses,
    pub(super) pairing: Pairing,
}

impl Way<'_> {
    /// Writes a session; none, and nothing is left of it, when it was taken for a line and is none.
    pub(super) async fn deliver(
        &self,
        header: Session,
        options: SaveOptions,
        mut pairing: Pairing,
        nodes: Nodes,
    ) -> Result<Option<Delivered>, PlaneError> {
        let mut writing = Writing::begin(Arc::clone(self.driver), header, options, Arc::clone(self.trash));
        let mut losses = Losses::default();
        let handed = self.hand_over(nodes, &mut pairing, &mut losses, &mut writing).await;
        // Also when it failed: nothing is left of the draft once it is here and dropped.
        let draft = writing.end().await;
        if !handed? {
            return Ok(None);
        }
        let draft = draft?;
        if pairing.missing() > 0 {
            let message = "the session became shorter while it was read; its agent is at work on it, try again";
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        let mut report = draft.commit().await?;
        losses.extend(std::mem::take(&mut report.losses));
        Ok(Some(Delivered { report, losses, pairing }))
    }

    /// Whether all nodes went on; they don't when a line forks.
    async fn hand_over(
        &self,
        mut nodes: Nodes,
        pairing: &mut Pairing,
        losses: &mut Losses,
        writing: &mut Writing,
    ) -> Result<bool, PlaneError> {
        let mut translation = Translation::new(self.from, self.to, self.from_backend, self.to_backend);
        let mut is_over = false;
        while !is_over {
            let paired = if let Some(batch) = nodes.next().await? {
                pairing.apply(batch, losses)
            } else {
                is_over = true;
                Some(pairing.end(losses))
            };
            let Some(mut batch) = paired else { return Ok(false) };
            if self.from_backend != self.to_backend {
                reasoning::unsigned(&mut batch, losses);
            }
            translation.apply(&mut batch, losses).await?;
            if batch.is_empty() {
                continue;
            }
            if !writing.append(batch).await {
                // The task ended early: its draft tells why.
                return Ok(true);
            }
        }
        Ok(true)
    }
}

/// A draft that a task of its own begins and writes to. Dropped, the task ends and the draft is dropped with it.
struct Writing {
    batches: mpsc::Sender<Vec<MessageNode>>,
    task: JoinHandle<Result<Box<dyn Draft>, Fault>>,
}

impl Writing {
    /// What begins it takes files and databases, which is done beside reading the first nodes.
    fn begin(driver: Arc<dyn Driver>, header: Session, options: SaveOptions, trash: Arc<TrashEntry>) -> Self {
        let (batches, mut coming) = mpsc::channel::<Vec<MessageNode>>(AHEAD);
        let task = tokio::spawn(async move {
            let Some(writer) = driver.session_write() else {
                let message = "it no longer writes sessions";
                return Err(Fault::new(&driver.about().manifest.id, BEGIN, FaultKind::Start, message));
            };
            let mut draft = writer.begin(header, options, trash).await?;
            while let Some(batch) = coming.recv().await {
                draft.append(batch).await?;
            }
            Ok(draft)
        });
        Self { batches, task }
    }

    /// Whether it is still written to.
    async fn append(&mut self, batch: Vec<MessageNode>) -> bool {
        self.batches.send(batch).await.is_ok()
    }

    /// The draft, to which all was written.
    async fn end(self) -> Result<Box<dyn Draft>, PlaneError> {
        let Self { batches, task } = self;
        drop(batches);
        let ended = task.await.map_err(|error| {
            PlaneError::new(ErrorKind::Internal, "the task that writes a session broke off").because(error.to_string())
        })?;
        Ok(ended?)
    }
}
