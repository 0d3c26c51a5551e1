//! The one task that owns a live session: its agent, the turn that runs, and what the agent
//! waits for. Everything that happens to the session happens here, one after the other.
//!
//! ```text
//! hearing  what the agent says        turns    from a prompt to its end, by way of turn
//! answers  permissions are decided, of those in permissions      leaving  the end of it
//! ```

mod answers;
mod hearing;
mod leaving;
mod permissions;
mod turn;
mod turns;

pub(super) use turns::failed;

use super::announcer::{News, TurnName};
use super::event::DetachReason;
use super::ids::Ids;
use super::launch::Launch;
use super::map::Membership;
use super::session::{LiveSession, TurnEnd};
use super::translation::{Step, Translation};
use crate::acp::{Agent, Messages, PromptPart, Said};
use crate::plane::PlaneError;
use crate::plane::clock::Clock;
use permissions::Permissions;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use turn::{Progress, Turn};

/// Prompts that may wait for the turn before them.
const QUEUE: usize = 64;
/// How often it is looked at whether anybody is there to answer.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What an owner is asked.
#[derive(Debug)]
pub(super) enum Command {
    /// Works on a prompt; answered at the end of the turn.
    Prompt { prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>> },
    /// Ends the turn that runs.
    Cancel { reply: oneshot::Sender<()> },
    /// Answers a permission request.
    Answer { request: String, option: Option<String>, reply: oneshot::Sender<Result<(), PlaneError>> },
    /// Lets the session go, unless somebody has used it within this time.
    LeaveWhenIdle { ttl: Duration },
}

/// A prompt.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) parts: Vec<PromptPart>,
    /// Wait for the turn that runs instead of being refused.
    pub(super) queue: bool,
    /// Id of the command that it is, for the log.
    pub(super) command: Option<String>,
}

/// Times that bound what an agent is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// A turn that was cancelled ends within this time.
    pub(super) cancel: Duration,
    /// A permission that nobody answers is refused after this time.
    pub(super) permission: Option<Duration>,
}

/// Everything that an owner starts with.
pub(super) struct Owner {
    pub(super) session: Arc<LiveSession>,
    pub(super) agent: Option<(Agent, Messages)>,
    /// How its agent is started again.
    pub(super) launch: Launch,
    pub(super) translation: Translation,
    pub(super) news: mpsc::Sender<News>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) patience: Patience,
    pub(super) ids: Arc<Ids>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) node_followers: Box<dyn Fn() -> usize + Send + Sync>,
    /// What it tells of the conversation is still what was: it has loaded a stored session, and
    /// no turn has begun since.
    pub(super) retelling: bool,
}

/// What comes next.
enum Next {
    Said(Option<Said>),
    Progress(Progress),
    Command(Option<Command>),
    Leave(DetachReason),
    Late,
}

struct Run {
    owner: Owner,
    turn: Option<Turn>,
    queue: VecDeque<(Prompt, oneshot::Sender<Result<TurnEnd, PlaneError>>)>,
    permissions: Permissions,
    /// An agent that is being ended: the next one waits for that.
    ending: Option<Agent>,
    leaving: watch::Receiver<Option<DetachReason>>,
}

impl Owner {
    /// Owns the session until it is let go; the membership is given back after all was told.
    pub(super) async fn run(self, membership: Membership) {
        let (queue, permissions) = (VecDeque::new(), Permissions::default());
        let leaving = self.session.leaving.subscribe();
        let run = Run { owner: self, turn: None, queue, permissions, ending: None, leaving };
        run.run().await;
        drop(membership);
    }
}

impl Run {
    async fn run(mut self) {
        loop {
            match self.next().await {
                Next::Said(Some(said)) => self.said(said).await,
                Next::Said(None) => self.agent_gone().await,
                Next::Progress(progress) => self.progress(progress).await,
                Next::Late => self.late().await,
                Next::Command(Some(Command::Prompt { prompt, reply })) => self.prompt(prompt, reply).await,
                Next::Command(Some(Command::Cancel { reply })) => {
                    self.cancel().await;
                    let _gone = reply.send(());
                }
                Next::Command(Some(Command::Answer { request, option, reply })) => {
                    let answered = self.answer(&request, option.as_deref()).await;
                    let _gone = reply.send(answered);
                }
                Next::Command(Some(Command::LeaveWhenIdle { ttl })) => {
                    if self.is_unused(ttl) {
                        self.owner.session.leave(DetachReason::Idle);
                    }
                }
                // Nobody can reach the session any more.
                Next::Command(None) => self.owner.session.leave(DetachReason::Shutdown),
                Next::Leave(reason) => {
                    self.leave(reason).await;
                    return;
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        // While somebody is asked, whether he is there still is looked at now and then.
        let asks = self.permissions.is_open().then(|| Instant::now() + LOOK_AGAIN);
        let deadline = [self.turn.as_ref().and_then(|turn| turn.deadline), self.permissions.deadline(), asks];
        let deadline = deadline.into_iter().flatten().min();
        let agent = &mut self.owner.agent;
        let turn = &mut self.turn;
        tokio::select! {
            said = async {
                match agent {
                    Some((_, messages)) => messages.next().await,
                    None => std::future::pending().await,
                }
            } => Next::Said(said),
            progress = async {
                match turn {
                    Some(turn) => turn.progress().await,
                    None => std::future::pending().await,
                }
            } => Next::Progress(progress),
            command = self.owner.commands.recv() => Next::Command(command),
            reason = leave(&mut self.leaving) => Next::Leave(reason),
            () = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            } => Next::Late,
        }
    }

    fn turn_name(&self) -> Option<Arc<TurnName>> {
        self.turn.as_ref().map(|turn| Arc::clone(&turn.name))
    }

    async fn tell(&mut self, step: Step) {
        self.tell_of(step, self.turn_name()).await;
    }

    async fn tell_of(&mut self, step: Step, turn: Option<Arc<TurnName>>) {
        if !step.is_empty() && self.owner.news.send(News::Step { step, turn }).await.is_err() {
            tracing::error!("nobody tells any more what happens in session {}", self.owner.session.id);
        }
    }
}

/// Why the session is let go, once it is to be.
async fn leave(leaving: &mut watch::Receiver<Option<DetachReason>>) -> DetachReason {
    let reason = leaving.wait_for(Option::is_some).await.ok().and_then(|reason| *reason);
    // Its sender is in the session, which the owner has.
    reason.unwrap_or(DetachReason::Shutdown)
}
