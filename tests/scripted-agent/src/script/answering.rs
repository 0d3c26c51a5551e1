//! Steps about the answer to the current request, and those that hold other steps.

use super::step::Step;
use super::switch::On;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A result for the current request, now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// The `result`; placeholders are filled.
    pub respond: Value,
}

/// An error for the current request, now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fail {
    /// The `error`.
    pub error: RpcError,
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RpcError {
    /// Its number.
    pub code: i64,
    /// Its sentence.
    pub message: String,
    /// Whatever else is said; placeholders are filled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// The default answer, with the end of the process right behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RespondAndExit {
    /// The exit code.
    pub respond_and_exit: u8,
}

/// The current request gets no answer by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoAnswer {
    /// There is nothing to choose.
    pub no_answer: On,
}

/// Steps that run when the answer has been sent, before the session's next prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// The steps.
    pub late: Vec<Step>,
}

/// The same steps many times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The steps and how often.
    pub repeat: Round,
}

/// Steps and how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// How often.
    pub times: u64,
    /// The steps.
    pub steps: Vec<Step>,
}
