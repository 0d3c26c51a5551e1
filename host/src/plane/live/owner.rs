//! The one task that owns a live session: its agent, the turn that runs, and what the agent
//! waits for. Everything that happens to the session happens here, one after the other.

mod permissions;
mod turn;

use super::announcer::{News, TurnName};
use super::clock::{Clock, Ids};
use super::event::{DetachReason, NodeEvent, TurnError};
use super::launch::Launch;
use super::session::{LiveSession, TurnEnd, not_attached};
use super::translation::{Step, Translation};
use crate::acp::{Agent, AgentError, Messages, PermissionRequest, PromptPart, Said, Update};
use crate::jsonrpc::{Notification, Request};
use crate::plane::{ErrorKind, PlaneError};
use permissions::Permissions;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use turn::{Progress, Turn, Work};

/// Prompts that may wait for the turn before them.
const QUEUE: usize = 64;

/// What an owner is asked.
#[derive(Debug)]
pub(super) enum Command {
    /// Works on a prompt; answered at the end of the turn.
    Prompt { prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>> },
    /// Ends the turn that runs.
    Cancel { reply: oneshot::Sender<()> },
    /// Answers a permission request.
    Answer { request: String, option: Option<String>, reply: oneshot::Sender<Result<(), PlaneError>> },
    /// Lets the session go.
    Leave { reason: DetachReason, reply: oneshot::Sender<()> },
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
    Late,
}

struct Run {
    owner: Owner,
    turn: Option<Turn>,
    queue: VecDeque<(Prompt, oneshot::Sender<Result<TurnEnd, PlaneError>>)>,
    permissions: Permissions,
}

impl Owner {
    /// Owns the session until it is let go. `gone` is called once its agent is, before that is told.
    pub(super) async fn run(self) {
        let run = Run { owner: self, turn: None, queue: VecDeque::new(), permissions: Permissions::default() };
        run.run().await;
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
                Next::Command(Some(Command::Leave { reason, reply })) => {
                    self.leave(reason).await;
                    let _gone = reply.send(());
                    return;
                }
                // Nobody can reach the session any more.
                Next::Command(None) => {
                    self.leave(DetachReason::Shutdown).await;
                    return;
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        let deadline = [self.turn.as_ref().and_then(|turn| turn.deadline), self.permissions.deadline()];
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
            () = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            } => Next::Late,
        }
    }

    async fn said(&mut self, said: Said) {
        match said {
            Said::Answered => {}
            Said::Notification(note) if note.method == "session/update" => self.update(&note).await,
            Said::Notification(note) => {
                tracing::debug!("the notification {} was passed over", crate::text::clean_line(&note.method, 80));
            }
            Said::Request(request) if request.method == "session/request_permission" => self.asked(request).await,
            Said::Request(request) => {
                if let Some((agent, _)) = &self.owner.agent
                    && let Err(e) = agent.refuse(&request.id, &request.method)
                {
                    tracing::warn!("{e}");
                }
            }
        }
    }

    async fn update(&mut self, note: &Notification) {
        let Some(params) = self.own_params(note.params.as_ref()) else { return };
        let update = Update::of(params.get("update").cloned().unwrap_or_default());
        if self.turn.is_none() && self.owner.retelling && update.is_content() {
            tracing::debug!("a piece of the history came late and was passed over");
            return;
        }
        let step = self.owner.translation.update(update);
        self.tell(step).await;
    }

    /// The parameters of something that is said of this session.
    fn own_params(&self, params: Option<&crate::jsonrpc::Fragment>) -> Option<Value> {
        let params: Value = params?.parse().ok()?;
        let of = params["sessionId"].as_str();
        if of.is_some_and(|of| of != self.owner.session.id) {
            tracing::debug!("what an agent said of another session was passed over");
            return None;
        }
        Some(params)
    }

    async fn asked(&mut self, request: Request) {
        let params = self.own_params(request.params.as_ref()).unwrap_or_default();
        let asked = PermissionRequest::of(&params);
        let runs = self.turn.as_ref().is_some_and(|turn| !turn.cancelled);
        if !runs || asked.options.is_empty() {
            // Nobody may allow what nobody asked for, and nobody can choose of nothing.
            self.reply(&request.id, &crate::acp::Outcome::Cancelled);
            return;
        }
        let (shown, step) = self.owner.translation.ask(&asked);
        self.owner.session.state().asked.push(shown.clone());
        self.permissions.open(shown.request_id, request.id, asked, self.owner.patience.permission, self.attended());
        self.tell(step).await;
    }

    /// Whether somebody is there who could answer.
    fn attended(&self) -> bool {
        self.owner.session.feed.followers() + (self.owner.node_followers)() > 0
    }

    fn reply(&self, request: &crate::jsonrpc::Id, outcome: &crate::acp::Outcome) {
        if let Some((agent, _)) = &self.owner.agent
            && let Err(e) = agent.answer_permission(request, outcome)
        {
            tracing::warn!("{e}");
        }
    }

    async fn prompt(&mut self, prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>>) {
        if let Err(error) = self.takes(&prompt) {
            let _gone = reply.send(Err(error));
            return;
        }
        let busy = {
            let mut state = self.owner.session.state();
            std::mem::replace(&mut state.busy, true)
        };
        if !busy {
            self.begin(prompt, reply).await;
        } else if prompt.queue && self.turn.is_some() && self.queue.len() < QUEUE {
            self.queue.push_back((prompt, reply));
        } else {
            let _gone = reply.send(Err(self.owner.session.busy()));
        }
    }

    fn takes(&self, prompt: &Prompt) -> Result<(), PlaneError> {
        let invalid = |message: String| Err(PlaneError::new(ErrorKind::Invalid, message));
        if prompt.parts.is_empty() {
            return invalid("a prompt has at least one part; give it some text".to_owned());
        }
        let can = self.owner.session.capabilities.prompt_capabilities;
        match prompt.parts.iter().find_map(|part| part.beyond(can)) {
            Some(what) => {
                let agent = &self.owner.session.agent_id;
                invalid(format!("agent `{agent}` takes no {what} in a prompt; leave them out, or send a link"))
            }
            None => Ok(()),
        }
    }

    async fn begin(&mut self, prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>>) {
        let id = self.owner.ids.next("turn", self.owner.clock.now_ms());
        let name = Arc::new(TurnName { id, command: prompt.command });
        let step = self.owner.translation.begin(&prompt.parts);
        let work = match &self.owner.agent {
            Some((agent, _)) => {
                self.owner.retelling = false;
                Work::prompting(agent.clone(), self.owner.session.id.clone(), prompt.parts)
            }
            None => Work::reviving(self.owner.launch.clone(), self.owner.session.id.clone(), prompt.parts),
        };
        self.turn = Some(Turn { name, work, reply, cancelled: false, deadline: None });
        self.tell(step).await;
    }

    async fn progress(&mut self, progress: Progress) {
        match progress {
            Progress::Revived(Ok(running), parts) => {
                let (agent, _) = &running;
                if let Some(turn) = &mut self.turn {
                    turn.work = Work::prompting(agent.clone(), self.owner.session.id.clone(), parts);
                }
                self.owner.agent = Some(running);
                self.owner.retelling = false;
            }
            Progress::Revived(Err(error), _) => self.finish(Err(failed(&error))).await,
            Progress::Ended(Ok(answer)) => {
                let stop_reason = answer["stopReason"].as_str().unwrap_or("end_turn").to_owned();
                let usage = answer.get("usage").filter(|usage| usage.is_object()).cloned();
                self.finish(Ok(TurnEnd { stop_reason, usage })).await;
            }
            Progress::Ended(Err(error)) => {
                let cancelled = self.turn.as_ref().is_some_and(|turn| turn.cancelled);
                let end = if cancelled && error.code.is_some() {
                    // Some agents answer a cancelled prompt with an error.
                    Ok(cancelled_end())
                } else {
                    Err(failed(&error))
                };
                self.finish(end).await;
            }
        }
    }

    /// The one end of a turn.
    async fn finish(&mut self, end: Result<TurnEnd, PlaneError>) {
        let Some(turn) = self.turn.take() else { return };
        self.withdraw_permissions(&turn.name).await;
        let told = match &end {
            Ok(end) => Ok(end.stop_reason.clone()),
            Err(e) => Err(TurnError { code: e.kind.code(), message: e.message.clone(), cause: e.cause.clone() }),
        };
        let usage = end.as_ref().ok().and_then(|end| end.usage.clone());
        let step = self.owner.translation.end(told, usage.as_ref());
        let next = self.queue.pop_front();
        {
            let mut state = self.owner.session.state();
            // Before it is told: who hears of the end may prompt at once.
            state.busy = next.is_some();
            state.idle_since = Instant::now();
        }
        self.tell_of(step, Some(Arc::clone(&turn.name))).await;
        // Its answer comes after everything that happened in it.
        let (told, all_told) = oneshot::channel();
        let flushed = self.owner.news.send(News::Flush(told)).await;
        tokio::spawn(async move {
            if flushed.is_ok() {
                let _closed = all_told.await;
            }
            let _gone = turn.reply.send(end);
        });
        if let Some((prompt, reply)) = next {
            self.begin(prompt, reply).await;
        }
    }

    async fn cancel(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::replace(&mut turn.cancelled, true) {
            return;
        }
        turn.deadline = Some(Instant::now() + self.owner.patience.cancel);
        if matches!(turn.work, Work::Reviving { .. }) {
            // It has not been told yet.
            self.finish(Ok(cancelled_end())).await;
            return;
        }
        let name = Arc::clone(&turn.name);
        self.withdraw_permissions(&name).await;
        if let Some((agent, _)) = &self.owner.agent
            && let Err(e) = agent.cancel(&self.owner.session.id)
        {
            tracing::warn!("{e}");
        }
    }

    /// Everything that the agent waits for is cancelled with its turn.
    async fn withdraw_permissions(&mut self, turn: &Arc<TurnName>) {
        for (id, request) in self.permissions.withdraw() {
            let outcome = crate::acp::Outcome::Cancelled;
            self.reply(&request, &outcome);
            self.answered(&id, &outcome, "turn", Some(Arc::clone(turn))).await;
        }
    }

    async fn answer(&mut self, request: &str, option: Option<&str>) -> Result<(), PlaneError> {
        let (id, outcome) = self.permissions.answer(request, option)?;
        self.reply(&id, &outcome);
        self.answered(request, &outcome, "client", self.turn_name()).await;
        Ok(())
    }

    async fn answered(&mut self, request: &str, outcome: &crate::acp::Outcome, by: &str, turn: Option<Arc<TurnName>>) {
        self.owner.session.state().asked.retain(|asked| asked.request_id != request);
        let step = permissions::answered(request, outcome, by);
        self.tell_of(step, turn).await;
    }

    /// Something took longer than it may.
    async fn late(&mut self) {
        let now = Instant::now();
        let attended = self.attended();
        for (id, request, outcome, by) in self.permissions.overdue(now, self.owner.patience.permission, attended) {
            self.reply(&request, &outcome);
            let turn = self.turn_name();
            self.answered(&id, &outcome, by, turn).await;
        }
        if self.turn.as_ref().and_then(|turn| turn.deadline).is_some_and(|deadline| deadline <= now) {
            tracing::warn!(
                "session {} did not end its turn when it was cancelled; its agent is stopped",
                self.owner.session.id
            );
            if let Some((agent, _)) = self.owner.agent.take() {
                agent.kill();
            }
            self.finish(Ok(cancelled_end())).await;
        }
    }

    /// Its agent is gone: the turn ends with why, and the next prompt starts another.
    async fn agent_gone(&mut self) {
        let Some((agent, messages)) = self.owner.agent.take() else { return };
        drop(messages);
        if self.turn.is_some() {
            // An answer may have been its last word.
            let last = match &mut self.turn {
                Some(turn) => turn.last_word().await,
                None => None,
            };
            match last {
                Some(progress) => self.progress(progress).await,
                None => self.finish(Err(failed(&agent.ended("the prompt")))).await,
            }
        } else {
            tracing::info!("{}", agent.ended("its session"));
        }
    }

    async fn leave(&mut self, reason: DetachReason) {
        self.owner.commands.close();
        if self.turn.is_some() {
            self.queue.clear();
            if let (Some((agent, _)), Some(turn)) = (&self.owner.agent, &self.turn)
                && !turn.cancelled
            {
                // Told, so that it can write down that it was interrupted.
                let _gone = agent.cancel(&self.owner.session.id);
            }
            let message = "the session was let go before the turn ended";
            self.finish(Err(PlaneError::new(ErrorKind::Internal, message))).await;
        }
        if let Some((agent, messages)) = self.owner.agent.take() {
            drop(messages);
            agent.end().await;
        }
        while let Ok(command) = self.owner.commands.try_recv() {
            refuse(command, &self.owner.session.id);
        }
        let event = NodeEvent::Detached {
            session_id: self.owner.session.id.clone(),
            agent_id: self.owner.session.agent_id.clone(),
            reason,
        };
        let (told, all_told) = oneshot::channel();
        if self.owner.news.send(News::Node(event)).await.is_ok()
            && self.owner.news.send(News::Flush(told)).await.is_ok()
        {
            let _closed = all_told.await;
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

fn refuse(command: Command, id: &str) {
    match command {
        Command::Prompt { reply, .. } => drop(reply.send(Err(not_attached(id)))),
        Command::Answer { reply, .. } => drop(reply.send(Err(not_attached(id)))),
        Command::Cancel { reply } | Command::Leave { reply, .. } => drop(reply.send(())),
    }
}

fn cancelled_end() -> TurnEnd {
    TurnEnd { stop_reason: "cancelled".to_owned(), usage: None }
}

/// An agent's failure as the plane's.
pub(super) fn failed(error: &AgentError) -> PlaneError {
    let kind = if error.beyond { ErrorKind::Invalid } else { ErrorKind::Internal };
    PlaneError { kind, message: error.message.clone(), cause: error.cause.clone() }
}
