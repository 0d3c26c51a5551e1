//! A running program of an agent: its calls, and the messages that come from it.

use super::capabilities::Capabilities;
use super::part::PromptPart;
use super::permission::Outcome;
use super::protocol::{Initialize, OfSession, OpenSession, PermissionAnswer, Prompt, SetConfigOption};
use super::runtimes::Runtime;
use super::strays::Strays;
use crate::jsonrpc::{
    CallError, Calls, ErrorObject, Fragment, Id, Message, NotTaken, Notification, Outgoing, Request, code, line,
};
use crate::process::{self, Bounds, Connection, EndKind, Environment, Incoming, Launch, ROOM};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout;

/// Messages of an agent that may wait for whoever takes them.
const MESSAGES_AHEAD: usize = 256;
/// Frames to an agent that may wait for it to read.
const FRAMES_AHEAD: usize = 1_024;
/// Lines in a row that are no message, before an agent has shown that it speaks.
const NOISE: u32 = 1_000;
/// How long an agent has to end by itself once its stdin is closed.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long an agent that is let go has to take what it is told last.
const TELLING: Duration = Duration::from_millis(200);
/// Longest id of a session, bytes.
const LONGEST_ID: usize = 512;

/// Why an agent could not do what it was asked.
#[derive(Debug, Clone)]
pub(crate) struct AgentError {
    /// One sentence, about the agent.
    pub(crate) message: String,
    /// What it said itself, and its last lines on stderr.
    pub(crate) cause: Option<String>,
    /// Its own answer was an error with this code.
    pub(crate) code: Option<i64>,
    /// It says itself that it can't do that.
    pub(crate) beyond: bool,
}

impl AgentError {
    /// An error with nothing underneath.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, code: None, beyond: false }
    }

    /// With what lies underneath.
    #[must_use]
    pub(crate) fn because(mut self, cause: Option<String>) -> Self {
        self.cause = cause;
        self
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AgentError {}

/// What an agent may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentLimits {
    /// One frame of it, bytes.
    pub(crate) frame: usize,
    /// Lines kept of its stderr.
    pub(crate) stderr_lines: usize,
    /// Time of a call that is not a prompt.
    pub(crate) call: Duration,
}

/// A running program of an agent. Dropped, it is ended with all that it started.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    connection: Arc<Connection>,
    capabilities: Arc<Capabilities>,
    /// What it is called in messages.
    name: Arc<str>,
    call: Duration,
}

/// Something that an agent says.
#[derive(Debug)]
pub(crate) enum Said {
    /// An answer; the call has it.
    Answered,
    /// A question, which wants an answer.
    Request(Request),
    /// News, and its share of the room for what is on its way from the agent.
    Notification(Notification, OwnedSemaphorePermit),
}

/// How many agents run.
#[derive(Debug, Clone)]
pub(crate) struct Running(Arc<watch::Sender<usize>>);

/// One that does.
#[derive(Debug)]
struct OneMore(Running);

impl Running {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    fn one_more(&self) -> OneMore {
        self.0.send_modify(|count| *count += 1);
        OneMore(self.clone())
    }

    /// Ready when none does.
    pub(crate) async fn none(&self) {
        let mut running = self.0.subscribe();
        // The sender is our own, so it is there.
        let _none = running.wait_for(|count| *count == 0).await;
    }
}

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// What a running agent says, in its order.
#[derive(Debug)]
pub(crate) struct Messages {
    incoming: mpsc::Receiver<process::Said>,
    calls: Calls,
    connection: Arc<Connection>,
}

impl Agent {
    /// Starts the program in this directory. It is to be asked what it can do first.
    pub(crate) fn start(
        runtime: &Runtime,
        directory: &Path,
        limits: &AgentLimits,
        strays: &Strays,
        running: &Running,
    ) -> Result<(Self, Messages), AgentError> {
        let name: Arc<str> = runtime.label.as_str().into();
        let (token, variable) = Strays::token();
        let mut environment = runtime.environment.clone();
        environment.push(variable);
        let launch = Launch {
            program: &runtime.program,
            arguments: &runtime.arguments,
            environment: Environment::Only(&environment),
            directory: Some(directory),
        };
        let bounds = Bounds {
            frame: limits.frame,
            frame_variable: "SEPIA_AGENT_FRAME_MB",
            stderr_lines: limits.stderr_lines,
            noise: NOISE,
            frames_ahead: FRAMES_AHEAD,
            farewell: FAREWELL,
        };
        let (to, incoming) = mpsc::channel(MESSAGES_AHEAD);
        let room = Arc::new(Semaphore::new(ROOM as usize));
        // Both until the process is gone, whoever still has it.
        let kept = (strays.remember(&token), running.one_more());
        let connection = Connection::start(&launch, bounds, Incoming::All { to, room }, kept).map_err(|e| {
            let (program, directory) = (runtime.program.display(), directory.display());
            AgentError::new(format!(
                "{name} could not be started as `{program}` in {directory}; check that both are there"
            ))
            .because(Some(e.to_string()))
        })?;
        let connection = Arc::new(connection);
        let calls = connection.peer().calls().clone();
        let messages = Messages { incoming, calls, connection: Arc::clone(&connection) };
        Ok((Self { connection, capabilities: Arc::default(), name, call: limits.call }, messages))
    }

    /// Asks what it can do.
    pub(crate) async fn initialize(&mut self, messages: &mut Messages) -> Result<(), AgentError> {
        let result = messages.until(self.ask("initialize", &Initialize::new()), |said| self.pass_over(said)).await?;
        self.capabilities = Arc::new(Capabilities::of(&value(&result)));
        self.connection.speaks();
        Ok(())
    }

    /// What it says that it can do.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Begins a session; its id, and the whole answer.
    pub(crate) async fn new_session(&self, cwd: &str) -> Result<(String, Value), AgentError> {
        let params = OpenSession { session_id: None, cwd, mcp_servers: [] };
        let answer = value(&self.ask("session/new", &params).await?);
        match answer["sessionId"].as_str() {
            Some(id) if !id.is_empty() && id.len() <= LONGEST_ID && !id.chars().any(char::is_control) => {
                Ok((id.to_owned(), answer))
            }
            _ => Err(AgentError::new(format!("{} began a session and gave it no id that can be used", self.name))),
        }
    }

    /// Goes on with a stored session; the answer, whatever is in it.
    pub(crate) async fn load_session(&self, id: &str, cwd: &str) -> Result<Value, AgentError> {
        let params = OpenSession { session_id: Some(id), cwd, mcp_servers: [] };
        Ok(value(&self.ask("session/load", &params).await?))
    }

    /// Chooses a model by the session's own options.
    pub(crate) async fn choose_model(&self, id: &str, model: &str) -> Result<(), AgentError> {
        let params = SetConfigOption { session_id: id, config_id: "model", value: model };
        self.ask("session/set_config_option", &params).await.map(|_| ())
    }

    /// Sends it a prompt, and gives the end of its turn, however long that takes. It is sent when
    /// this returns, so that what is sent later comes later.
    pub(crate) fn prompt(
        &self,
        id: &str,
        parts: &[PromptPart],
    ) -> impl Future<Output = Result<Value, AgentError>> + Send + use<> {
        let pending = self.connection.peer().calls().begin().map_err(|e| self.error("the prompt", e));
        let sent = pending.and_then(|pending| {
            let mut frame = Vec::new();
            let params = Prompt { session_id: id, prompt: parts };
            line::request(&mut frame, &Id::number(pending.id()), "session/prompt", &params)
                .map_err(|e| self.unsaid(&e.to_string()))?;
            self.send(frame)?;
            Ok(pending)
        });
        let agent = self.clone();
        async move {
            let answer = sent?.await;
            answer.map(|answer| value(&answer)).map_err(|e| agent.error("the prompt", e))
        }
    }

    /// Asks it to end the turn that runs.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), AgentError> {
        let mut frame = Vec::new();
        let written = line::notification(&mut frame, "session/cancel", &OfSession { session_id: id });
        written.map_err(|e| self.unsaid(&e.to_string()))?;
        self.send(frame)
    }

    /// Answers a permission request of it.
    pub(crate) fn answer_permission(&self, request: &Id, outcome: &Outcome) -> Result<(), AgentError> {
        let mut frame = Vec::new();
        let written = line::result(&mut frame, request, &PermissionAnswer { outcome });
        written.map_err(|e| self.unsaid(&e.to_string()))?;
        self.send(frame)
    }

    /// Answers any other request of it: we lend it nothing.
    pub(crate) fn refuse(&self, request: &Id, method: &str) -> Result<(), AgentError> {
        let shown = crate::text::clean_line(method, 80);
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, format!("sepia does not offer `{shown}`"));
        let mut frame = Vec::new();
        line::error(&mut frame, request, &error).map_err(|e| self.unsaid(&e.to_string()))?;
        self.send(frame)
    }

    /// Says no to a question that comes before a session goes live, and passes over the rest.
    pub(crate) fn pass_over(&self, said: Said) {
        if let Said::Request(request) = said
            && let Err(e) = self.refuse(&request.id, &request.method)
        {
            tracing::debug!("{e}");
        }
    }

    /// Ready when it was sent all that it is to be told, or a moment later.
    pub(crate) async fn told(&self) {
        let (told, all_told) = oneshot::channel();
        if self.connection.peer().sender().try_send(Outgoing::Told(told)).is_ok() {
            let _late = timeout(TELLING, all_told).await;
        }
    }

    /// Stops it now.
    pub(crate) fn kill(&self) {
        self.connection.kill();
    }

    /// Lets it end by itself, makes it when it does not, and waits until all that it started is
    /// gone.
    pub(crate) async fn end(&self) {
        self.connection.ask_to_end();
        self.connection.gone().await;
        let lines = self.connection.passed_over();
        if lines > 0 {
            tracing::info!("{} wrote {lines} lines to its stdout that were no messages", self.name);
        }
    }

    /// Ready when it and all that it started are gone.
    pub(crate) async fn gone(&self) {
        self.connection.gone().await;
    }

    /// Why it is no more, as an error of `what` it was doing.
    pub(crate) fn ended(&self, what: &str) -> AgentError {
        self.error(what, CallError::Ended("it ended".into()))
    }

    async fn ask<P: Serialize + Sync>(&self, method: &str, params: &P) -> Result<Fragment, AgentError> {
        if let Ok(answer) = timeout(self.call, self.connection.peer().call(method, params)).await {
            return answer.map_err(|e| self.error(method, e));
        }
        let seconds = self.call.as_secs_f64();
        let message = format!(
            "{} did not answer {method} within {seconds} s{}; SEPIA_AGENT_TIMEOUT_MS gives it more time",
            self.name,
            self.connection.noise()
        );
        Err(AgentError::new(message).because(self.stderr()))
    }

    /// Without waiting: whoever answers an agent is who reads it, and must go on doing so.
    fn send(&self, frame: Vec<u8>) -> Result<(), AgentError> {
        match self.connection.peer().sender().try_send(Outgoing::Memory(frame)) {
            Ok(()) | Err(NotTaken::Closed) => Ok(()),
            Err(NotTaken::Full) => {
                self.connection.kill();
                Err(self.unsaid("it no longer reads what it is sent, so it was stopped"))
            }
        }
    }

    fn unsaid(&self, cause: &str) -> AgentError {
        AgentError::new(format!("{} could not be told", self.name)).because(Some(cause.to_owned()))
    }

    fn error(&self, what: &str, error: CallError) -> AgentError {
        match error {
            CallError::Said(error) => {
                let said = crate::text::clean_text(&error.message, 2 << 10);
                let detail = error.data.filter(|data| !data.is_null()).map(|data| {
                    let data = crate::text::clean_line(&data.to_string(), 2 << 10);
                    format!("; it added {data}")
                });
                let cause = format!("code {}{}", error.code, detail.unwrap_or_default());
                let refused = AgentError::new(format!("{} refused {what}: {said}", self.name)).because(Some(cause));
                AgentError { code: Some(error.code), ..refused }
            }
            CallError::Ended(reason) => {
                let end = self.connection.end();
                let how = end.map_or_else(|| reason.to_string(), |end| end.message.clone());
                let when = if end.is_some_and(|end| end.kind == EndKind::Transfer) { "frame too large: " } else { "" };
                AgentError::new(format!("{} is gone and left {what} unanswered: {when}{how}", self.name))
                    .because(self.stderr())
            }
        }
    }

    fn stderr(&self) -> Option<String> {
        Some(self.connection.stderr()).filter(|said| !said.trim().is_empty()).map(|said| format!("it wrote: {said}"))
    }
}

impl Messages {
    /// The next thing that the agent says. An answer has then settled its call. None when the
    /// agent is gone: its calls have then failed.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        loop {
            match self.incoming.recv().await {
                Some(process::Said { message: Message::Response(response), .. }) => {
                    self.calls.settle(response);
                    return Some(Said::Answered);
                }
                Some(process::Said { message: Message::Request(request), .. }) => return Some(Said::Request(request)),
                Some(process::Said { message: Message::Notification(note), share }) => {
                    return Some(Said::Notification(note, share));
                }
                Some(process::Said { message: Message::Batch | Message::Invalid(_), .. }) => {}
                None => {
                    self.end_calls();
                    return None;
                }
            }
        }
    }

    /// Takes what the agent says until a call is answered, and hands over all else.
    pub(crate) async fn until<T>(
        &mut self,
        call: impl Future<Output = Result<T, AgentError>>,
        mut other: impl FnMut(Said),
    ) -> Result<T, AgentError> {
        let mut call = pin!(call);
        let mut gone = false;
        loop {
            tokio::select! {
                biased;
                outcome = &mut call => return outcome,
                said = self.next(), if !gone => match said {
                    Some(said) => other(said),
                    None => gone = true,
                }
            }
        }
    }

    fn end_calls(&self) {
        let end = self.connection.end().map_or("it is gone", |end| end.message.as_str());
        self.calls.end(end);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // Nobody would settle them.
        self.end_calls();
    }
}

/// A result as a value. What is nested deeper than anyone reads is nothing.
fn value(result: &Fragment) -> Value {
    result.parse().unwrap_or_default()
}
