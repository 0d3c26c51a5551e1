//! One turn from its prompt to its end.

use super::asking::{Answering, choice, question};
use super::keyboard::Keyboard;
use super::screen::Screen;
use crate::cli::exit::Failure;
use crate::cli::signals::Stop;
use crate::plane::{
    AskedPermission, Followed, PERMISSION_REQUEST, Plane, PlaneError, PromptPart, PromptRequest, SessionEvent,
    SessionFollower, TurnEnd,
};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::signal::unix::SignalKind;

/// A live session, and the terminal in front of it.
pub(in crate::cli) struct Conversation {
    plane: Arc<Plane>,
    id: String,
    agent: String,
    answering: Answering,
    screen: Screen,
    keyboard: Keyboard,
    /// Permissions that the person has not answered yet.
    asked: VecDeque<AskedPermission>,
    /// Followed as long as the person is there, so that the session is not let go as unused.
    follower: SessionFollower,
}

/// How a turn ended for the person.
pub(in crate::cli) enum TurnOutcome {
    /// As the agent says.
    Ended(TurnEnd),
    /// It was told to end, more than once: at once.
    Interrupted(i32),
}

/// What comes next.
enum Next {
    Followed(Option<Followed>),
    Ended(Result<TurnEnd, PlaneError>),
    Signal(SignalKind),
    Typed(Option<String>),
}

impl Conversation {
    pub(in crate::cli) async fn new(
        plane: Arc<Plane>,
        id: String,
        agent: String,
        answering: Answering,
        json: bool,
    ) -> Result<Self, Failure> {
        let follower = plane.follow(&id, Some(&agent), None).await?;
        let (screen, keyboard) = (Screen::new(json), Keyboard::new());
        Ok(Self { plane, id, agent, answering, screen, keyboard, asked: VecDeque::new(), follower })
    }

    /// The next line that the person types; none at the end. What happens meanwhile is shown.
    pub(in crate::cli) async fn typed(&mut self) -> Result<Option<String>, Failure> {
        loop {
            self.screen.prompt();
            tokio::select! {
                line = self.keyboard.line() => {
                    match line {
                        Some(_) => self.screen.typed(),
                        None => self.screen.rest(),
                    }
                    return Ok(line);
                }
                Some(followed) = self.follower.next() => {
                    self.followed(&followed).await?;
                    self.screen.rest();
                }
            }
        }
    }

    /// Says something beside the conversation.
    pub(in crate::cli) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.screen.line(text)
    }

    /// A turn. The first signal cancels it, the second one leaves it.
    pub(in crate::cli) async fn turn(
        &mut self,
        parts: Vec<PromptPart>,
        stop: &mut Stop,
    ) -> Result<TurnOutcome, Failure> {
        let request =
            PromptRequest { id: self.id.clone(), agent: Some(self.agent.clone()), parts, ..PromptRequest::default() };
        let plane = Arc::clone(&self.plane);
        let mut turn = Box::pin(async move { plane.prompt(request).await });
        let mut cancelled = false;
        self.screen.wait("the agent is at work");
        let outcome = loop {
            let next = {
                let asks = !self.asked.is_empty();
                let (keyboard, follower) = (&mut self.keyboard, &mut self.follower);
                tokio::select! {
                    biased;
                    signal = stop.told() => Next::Signal(signal),
                    typed = keyboard.line(), if asks => Next::Typed(typed),
                    followed = follower.next() => Next::Followed(followed),
                    ended = &mut turn => Next::Ended(ended),
                }
            };
            match next {
                Next::Followed(Some(followed)) => self.followed(&followed).await?,
                // The session is gone, and so will be the turn.
                Next::Followed(None) => break turn.await,
                Next::Ended(ended) => break ended,
                Next::Signal(signal) if cancelled => {
                    self.screen.rest();
                    return Ok(TurnOutcome::Interrupted(signal.as_raw_value()));
                }
                Next::Signal(_) => {
                    cancelled = true;
                    self.screen.line("cancelling the turn; once more leaves at once")?;
                    self.plane.cancel(&self.id, Some(&self.agent)).await?;
                }
                Next::Typed(typed) => self.answer(typed.as_deref()).await?,
            }
        };
        while let Some(followed) = self.follower.ready() {
            self.followed(&followed).await?;
        }
        self.asked.clear();
        self.screen.rest();
        self.screen.end_line()?;
        Ok(TurnOutcome::Ended(outcome?))
    }

    async fn followed(&mut self, followed: &Followed) -> Result<(), Failure> {
        match followed {
            Followed::Batch { batch: Some(batch), .. } => {
                self.screen.show(batch)?;
                for event in &batch.events {
                    self.asked(event).await?;
                }
                if self.asked.is_empty() {
                    self.screen.wait("the agent is at work");
                }
                Ok(())
            }
            Followed::Lost(count) => self.screen.line(&format!(
                "{count} pieces of the answer came faster than they could be shown; `sepia show` has all of it"
            )),
            Followed::Batch { .. } | Followed::Gap { .. } => Ok(()),
        }
    }

    /// A permission may be asked for, or be answered elsewhere.
    async fn asked(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        let SessionEvent::Custom { name, value } = event else { return Ok(()) };
        match name.as_str() {
            PERMISSION_REQUEST => {
                let request = value["requestId"].as_str().unwrap_or_default().to_owned();
                let open = self.plane.asked_permissions(&self.id, Some(&self.agent));
                let Some(asked) = open.into_iter().find(|asked| asked.request_id == request) else { return Ok(()) };
                if self.answering == Answering::Person {
                    if self.asked.is_empty() {
                        self.ask(&asked)?;
                    }
                    self.asked.push_back(asked);
                    return Ok(());
                }
                let option = self.answering.option(&asked).map(|option| option.option_id.clone());
                if self.answering == Answering::Deny {
                    let title = crate::text::clean_line(&asked.title, 400);
                    self.screen.line(&format!("refused: {title} (--allow permits what the agent asks for)"))?;
                }
                self.decide(&asked, option.as_deref()).await
            }
            "sepia:permission_answered" => {
                let first = self.asked.front().map(|asked| asked.request_id.clone());
                self.asked.retain(|asked| Some(asked.request_id.as_str()) != value["requestId"].as_str());
                match self.asked.front().cloned() {
                    Some(next) if Some(&next.request_id) != first.as_ref() => self.ask(&next),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn ask(&mut self, asked: &AskedPermission) -> Result<(), Failure> {
        for line in question(asked) {
            self.screen.line(&line)?;
        }
        // What was typed before it was asked answers nothing.
        self.keyboard.discard();
        self.screen.line("Type a number, y or n, and Enter:")
    }

    /// The person typed something, or left.
    async fn answer(&mut self, typed: Option<&str>) -> Result<(), Failure> {
        let Some(asked) = self.asked.front().cloned() else { return Ok(()) };
        let option = match typed {
            None => {
                self.answering = Answering::Deny;
                Answering::Deny.option(&asked).cloned()
            }
            Some(typed) => match choice(&asked, typed) {
                Some(option) => Some(option.clone()),
                None => return self.screen.line("That is none of them. Type a number, y or n, and Enter:"),
            },
        };
        self.decide(&asked, option.as_ref().map(|option| option.option_id.as_str())).await
    }

    async fn decide(&mut self, asked: &AskedPermission, option: Option<&str>) -> Result<(), Failure> {
        let decided = self.plane.answer_permission(&self.id, Some(&self.agent), &asked.request_id, option).await;
        match decided {
            Ok(()) => Ok(()),
            // Its turn ended, or somebody else was faster.
            Err(error) => self.screen.line(&crate::text::clean_line(&error.message, 400)),
        }
    }
}
