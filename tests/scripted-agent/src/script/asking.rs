//! Steps that ask the client, or tell it something that is no update.

use super::step::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A `session/request_permission`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// What is asked.
    pub permission: PermissionRequest,
}

/// What is asked, and what each answer leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionRequest {
    /// The `toolCall`; placeholders are filled.
    pub tool_call: Value,
    /// The `options`; `allow_once` and `reject_once` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Value>,
    /// Steps for an answer; none for an answer that is not listed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub then: BTreeMap<Decision, Vec<Step>>,
    /// Whether the next step waits for the answer.
    #[serde(default = "wait", skip_serializing_if = "is_default")]
    pub wait: bool,
}

/// What the client decided. In a script: `selected:<optionId>`, `cancelled`, `error` (the answer
/// is an error, or has no outcome), `default` (whatever is not listed).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Decision {
    /// This option.
    Selected(String),
    /// The outcome `cancelled`.
    Cancelled,
    /// No outcome.
    Error,
    /// Whatever is not listed.
    Default,
}

impl TryFrom<String> for Decision {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "cancelled" => Ok(Self::Cancelled),
            "error" => Ok(Self::Error),
            "default" => Ok(Self::Default),
            other => match other.strip_prefix("selected:") {
                Some(option) => Ok(Self::Selected(option.to_owned())),
                None => Err(format!(
                    "`{text}` is no outcome; they are `selected:<optionId>`, `cancelled`, `error`, `default`"
                )),
            },
        }
    }
}

impl From<Decision> for String {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Selected(option) => format!("selected:{option}"),
            Decision::Cancelled => "cancelled".to_owned(),
            Decision::Error => "error".to_owned(),
            Decision::Default => "default".to_owned(),
        }
    }
}

/// Any request to the client; the record gets the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What is asked.
    pub request: Question,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its method.
    pub method: String,
    /// Its params; placeholders are filled.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
    /// Whether the next step waits for the answer.
    #[serde(default = "wait", skip_serializing_if = "is_default")]
    pub wait: bool,
}

/// Any notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    /// What is told.
    pub notify: Notice,
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// Its method.
    pub method: String,
    /// Its params; placeholders are filled.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
}

fn wait() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_default(wait: &bool) -> bool {
    *wait
}
