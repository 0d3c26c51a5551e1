//! The script: what a file of it may say, and how it is read and written.

mod answering;
mod asking;
mod building;
mod file;
mod output;
mod process;
mod raw;
mod reaction;
mod step;
mod switch;
mod waiting;

pub use answering::{Fail, Late, NoAnswer, Repeat, Respond, RespondAndExit, Round, RpcError};
pub use asking::{Decision, Notice, Notify, Permission, PermissionRequest, Question, Request};
pub use file::ScriptError;
pub use output::{
    Echo, Flood, FloodKind, FloodOf, Remember, Replay, Text, Thought, Tool, ToolCall, ToolEnd, Update, flood_text,
};
pub use process::{CloseStdin, CloseStdout, Exit, IgnoreSignals, Kill, SpawnStubborn, StubbornChild, Victim};
pub use raw::{Bytes, Raw, RawRepeat, Repeated, Stderr};
pub use reaction::{Matching, Reaction};
pub use step::Step;
pub use switch::On;
pub use waiting::{Awaited, Sleep, Touch, WaitFor, WaitForFile};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How the agent behaves. The default is a well-behaved agent that records nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Script {
    /// The `agentCapabilities` of the answer to `initialize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Value>,
    /// The `authMethods` of the answer to `initialize`; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Value>,
    /// The `modes` of new and loaded sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<Value>,
    /// The `configOptions` of new and loaded sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_options: Option<Value>,
    /// File that gets one JSON line for everything that happens to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Folder in which sessions outlive the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
    /// How new sessions are named; `scripted-<n>-<pid>` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionIds>,
    /// Sessions on a page of `session/list`; all by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<NonZeroUsize>,
    /// What is done for a method instead of the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub on: BTreeMap<String, Vec<Reaction>>,
    /// What the end of stdin does.
    pub on_stdin_end: OnStdinEnd,
    /// What a `session/cancel` does to the running prompt.
    pub on_cancel: OnCancel,
}

/// Names of new sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SessionIds {
    /// Always this one.
    Fixed(String),
    /// This text and a number that counts from 1 in each process.
    Counted {
        /// The text before the number.
        prefix: String,
    },
}

/// What the end of stdin does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnStdinEnd {
    /// The agent exits 0 at once.
    #[default]
    Exit,
    /// The agent lives on.
    Ignore,
}

/// What a `session/cancel` does to the running prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnCancel {
    /// The steps up to the next `waitFor` `cancel` are skipped, without one all that are left.
    #[default]
    Stop,
    /// Only a `waitFor` `cancel` notices it.
    Ignore,
}

#[cfg(test)]
mod tests;
