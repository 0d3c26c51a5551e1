//! What the methods of live sessions take.

use crate::plane::{AttachRequest, CreateRequest, PromptPart, PromptRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// `sessions.attach`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct AttachParams {
    /// The session, by its id in the list.
    id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    agent: Option<String>,
    /// Ask whoever holds it to let go.
    #[serde(default)]
    takeover: Option<bool>,
    /// Model that its agent is to use; absent: the one in its overlay, if any.
    #[serde(default)]
    model: Option<String>,
    /// Models to use when that one refuses, for agents that know such a thing.
    #[serde(default, deserialize_with = "list")]
    #[schemars(with = "Option<Vec<String>>")]
    fallbacks: Vec<String>,
}

impl From<AttachParams> for AttachRequest {
    fn from(params: AttachParams) -> Self {
        let AttachParams { id, agent, takeover, model, fallbacks } = params;
        Self { id, agent, takeover: takeover.unwrap_or_default(), model: filled(model), fallbacks }
    }
}

/// `sessions.create`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct CreateParams {
    /// Where it works, absolute.
    cwd: String,
    /// The agent; absent: the first whose program is installed.
    #[serde(default)]
    agent: Option<String>,
    /// Title until it has one of its own, 1 to 200 characters in one line.
    #[serde(default)]
    title: Option<String>,
    /// Model that its agent is to use.
    #[serde(default)]
    model: Option<String>,
    /// Models to use when that one refuses, for agents that know such a thing.
    #[serde(default, deserialize_with = "list")]
    #[schemars(with = "Option<Vec<String>>")]
    fallbacks: Vec<String>,
}

impl From<CreateParams> for CreateRequest {
    fn from(params: CreateParams) -> Self {
        let CreateParams { cwd, agent, title, model, fallbacks } = params;
        Self { cwd, agent, title: filled(title), model: filled(model), fallbacks }
    }
}

/// `sessions.prompt`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct PromptParams {
    /// The session; it is live.
    id: String,
    /// What is said, in the content blocks of the Agent Client Protocol; at least one.
    parts: Vec<PromptPart>,
    /// Its agent.
    #[serde(default)]
    agent: Option<String>,
}

impl From<PromptParams> for PromptRequest {
    fn from(params: PromptParams) -> Self {
        let PromptParams { id, parts, agent } = params;
        Self { id, agent, parts, queue: false, command: None }
    }
}

/// `sessions.permission`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct PermissionParams {
    /// The session; it is live.
    pub(in crate::wire::serve) id: String,
    /// The request, by its `requestId`.
    pub(in crate::wire::serve) request: String,
    /// One of its options, by `optionId`; absent or `null`: none, the agent is to give it up.
    #[serde(default)]
    pub(in crate::wire::serve) option: Option<String>,
    /// Its agent.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
}

/// `sessions.subscribe`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct SubscribeParams {
    /// The session; it is live.
    pub(in crate::wire::serve) id: String,
    /// Its agent.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// Sequence of the last fact that is known: those after it come first, and every notification
    /// then carries what is stored of it. Absent: from now on, without facts.
    #[serde(default)]
    pub(in crate::wire::serve) after: Option<u64>,
}

/// `sessions.events`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct EventsParams {
    /// The session; it need not be live.
    pub(in crate::wire::serve) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// Facts after this sequence; absent: from the first.
    #[serde(default)]
    pub(in crate::wire::serve) after: Option<u64>,
    /// Facts at most, 1 to 10,000; absent: 1,000. Fewer come when they are large.
    #[serde(default)]
    pub(in crate::wire::serve) limit: Option<u32>,
}

fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default())
}

/// Text that is not blank.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
