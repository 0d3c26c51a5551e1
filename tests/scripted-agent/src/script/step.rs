//! A step: an object with one field that names its kind, and the fields of that kind beside it.

use super::{
    CloseStdin, CloseStdout, Echo, Exit, Fail, Flood, IgnoreSignals, Kill, Late, NoAnswer, Notify, Permission, Raw,
    RawRepeat, Remember, Repeat, Replay, Request, Respond, RespondAndExit, Sleep, SpawnStubborn, Stderr, Text, Thought,
    Tool, Touch, Update, WaitFor, WaitForFile,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

macro_rules! steps {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// One step of a script.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Step {
            $($(#[$doc])* $variant($variant),)*
        }

        $(impl From<$variant> for Step {
            fn from(step: $variant) -> Self {
                Self::$variant(step)
            }
        })*

        impl<'de> Deserialize<'de> for Step {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let fields = Map::deserialize(deserializer)?;
                $(if fields.contains_key($name) {
                    return serde_json::from_value(Value::Object(fields))
                        .map(Self::$variant)
                        .map_err(|e| D::Error::custom(format_args!("in a step `{}`: {e}", $name)));
                })*
                let names: Vec<&str> = fields.keys().map(String::as_str).collect();
                Err(D::Error::custom(format_args!(
                    "no step has the fields `{}`; the kinds are {}",
                    names.join("`, `"),
                    [$($name),*].join(", "),
                )))
            }
        }
    };
}

steps! {
    /// A `session/update` as given.
    Update = "update",
    /// Text of the agent.
    Text = "text",
    /// A thought of the agent.
    Thought = "thought",
    /// Many numbered chunks.
    Flood = "flood",
    /// A tool call from its start to its end.
    Tool = "tool",
    /// The text of the prompt.
    Echo = "echo",
    /// All texts of the user in this session.
    Remember = "remember",
    /// What the store has of the session.
    Replay = "replay",
    /// A request for permission.
    Permission = "permission",
    /// Any request to the client.
    Request = "request",
    /// Any notification.
    Notify = "notify",
    /// Bytes that need be no frame.
    Raw = "raw",
    /// The same bytes many times.
    RawRepeat = "rawRepeat",
    /// Text on stderr.
    Stderr = "stderr",
    /// A pause.
    Sleep = "sleepMs",
    /// Waits for an event.
    WaitFor = "waitFor",
    /// Waits for a file.
    WaitForFile = "waitForFile",
    /// Makes a file.
    Touch = "touch",
    /// The end of the process.
    Exit = "exit",
    /// The end of the process by a signal.
    Kill = "kill",
    /// The end of stdout.
    CloseStdout = "closeStdout",
    /// The end of stdin's reader.
    CloseStdin = "closeStdin",
    /// Processes that do not end.
    SpawnStubborn = "spawnStubborn",
    /// Signals that do nothing.
    IgnoreSignals = "ignoreSignals",
    /// A result for the current request.
    Respond = "respond",
    /// An error for the current request.
    Fail = "error",
    /// A result and the end of the process.
    RespondAndExit = "respondAndExit",
    /// No answer at all.
    NoAnswer = "noAnswer",
    /// Steps after the answer.
    Late = "late",
    /// Steps many times.
    Repeat = "repeat",
}

impl Step {
    /// The steps inside this one.
    pub fn inner(&self) -> Vec<&[Self]> {
        match self {
            Self::Repeat(repeat) => vec![repeat.repeat.steps.as_slice()],
            Self::Late(late) => vec![late.late.as_slice()],
            Self::Permission(permission) => permission.permission.then.values().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }
}
