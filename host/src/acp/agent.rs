//! A running program of an agent, and its calls.

use super::capabilities::Capabilities;
use super::error::AgentError;
use super::messages::{Messages, Said};
use super::part::PromptPart;
use super::permission::Outcome;
use super::protocol::{Initialize, OfSession, OpenSession, PermissionAnswer, Prompt, SetConfigOption};
use super::running::Running;
use super::runtimes::Runtime;
use super::strays::Strays;
use crate::jsonrpc::{CallError, ErrorObject, Fragment, Id, NotTaken, Outgoing, code, line};
use crate::process::{Bounds, Connection, EndKind, Environment, Incoming, Launch, ROOM};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
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
        let messages = Messages::new(incoming, Arc::clone(&connection));
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
        self.answer_error(request, &ErrorObject::new(code::METHOD_NOT_FOUND, format!("sepia does not offer `{shown}`")))
    }

    /// Answers a request of it with an error.
    pub(crate) fn answer_error(&self, request: &Id, error: &ErrorObject) -> Result<(), AgentError> {
        let mut frame = Vec::new();
        line::error(&mut frame, request, error).map_err(|e| self.unsaid(&e.to_string()))?;
        self.send(frame)
    }

    /// Says no to a question that comes before a session goes live, and passes over the rest.
    pub(crate) fn pass_over(&self, said: Said) {
        let answered = match said {
            Said::Request(request) => self.refuse(&request.id, &request.method),
            Said::Malformed(id, error) => self.answer_error(&id, &error),
            Said::Answered | Said::Notification(..) => Ok(()),
        };
        if let Err(e) = answered {
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

/// A result as a value. What is nested deeper than anyone reads is nothing.
fn value(result: &Fragment) -> Value {
    result.parse().unwrap_or_default()
}
