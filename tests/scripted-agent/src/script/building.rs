//! Scripts in Rust.

use super::{Matching, OnCancel, OnStdinEnd, Reaction, Script, SessionIds, Step};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::PathBuf;

impl Script {
    /// A well-behaved agent that records nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records everything in this file.
    #[must_use]
    pub fn record(mut self, file: impl Into<PathBuf>) -> Self {
        self.record = Some(file.into());
        self
    }

    /// Keeps sessions in this folder.
    #[must_use]
    pub fn store(mut self, folder: impl Into<PathBuf>) -> Self {
        self.store = Some(folder.into());
        self
    }

    /// Answers `initialize` with these `agentCapabilities`.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Answers `initialize` with these `authMethods`.
    #[must_use]
    pub fn auth_methods(mut self, methods: Value) -> Self {
        self.auth_methods = Some(methods);
        self
    }

    /// Has these `modes`.
    #[must_use]
    pub fn modes(mut self, modes: Value) -> Self {
        self.modes = Some(modes);
        self
    }

    /// Has these `configOptions`.
    #[must_use]
    pub fn config_options(mut self, options: Value) -> Self {
        self.config_options = Some(options);
        self
    }

    /// Gives each new session this id.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(SessionIds::Fixed(id.into()));
        self
    }

    /// Gives new sessions this text and a number as their id.
    #[must_use]
    pub fn session_id_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.session_id = Some(SessionIds::Counted { prefix: prefix.into() });
        self
    }

    /// Lists so many sessions at once.
    #[must_use]
    pub fn page_size(mut self, sessions: NonZeroUsize) -> Self {
        self.page_size = Some(sessions);
        self
    }

    /// Does this for the next call of a method, and when nothing more is added for all that follow.
    #[must_use]
    pub fn on(mut self, method: impl Into<String>, steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = Reaction::InTurn(steps.into_iter().collect());
        self.on.entry(method.into()).or_default().push(steps);
        self
    }

    /// Does this for the next prompt, and when nothing more is added for all that follow.
    #[must_use]
    pub fn on_prompt(self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.on("session/prompt", steps)
    }

    /// Does this for each prompt with a text in it.
    #[must_use]
    pub fn on_prompt_with(mut self, text: impl Into<String>, steps: impl IntoIterator<Item = Step>) -> Self {
        let matching = Matching { text: text.into(), steps: steps.into_iter().collect() };
        self.on.entry("session/prompt".to_owned()).or_default().push(Reaction::Matching(matching));
        self
    }

    /// Lives on when stdin ends.
    #[must_use]
    pub fn ignoring_stdin_end(mut self) -> Self {
        self.on_stdin_end = OnStdinEnd::Ignore;
        self
    }

    /// Goes on when a prompt is cancelled.
    #[must_use]
    pub fn ignoring_cancel(mut self) -> Self {
        self.on_cancel = OnCancel::Ignore;
        self
    }
}
