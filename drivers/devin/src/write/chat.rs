//! `chat_message` as the agent writes it, member by member.

use serde::Serialize;
use serde_json::value::RawValue;

/// A message.
#[derive(Debug, Serialize)]
pub(crate) struct Chat<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
    /// Answers of the model only, a list even when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<Vec<Call<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Sealed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) metadata: About<'a>,
}

/// A tool call.
#[derive(Debug, Serialize)]
pub(crate) struct Call<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a RawValue,
    pub(crate) index: i64,
    pub(crate) kind: &'a str,
}

/// Reasoning, which the agent sends back to its model sealed.
#[derive(Debug, Serialize)]
pub(crate) struct Sealed<'a> {
    pub(crate) thinking: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) signature_type: &'static str,
}

/// `metadata` of a message. Members that are not known are `null`, as the agent writes them.
#[derive(Debug, Serialize)]
pub(crate) struct About<'a> {
    pub(crate) num_tokens: Option<u64>,
    pub(crate) is_user_input: Option<bool>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) metrics: Option<Metrics>,
    pub(crate) finish_reason: Option<&'a str>,
    pub(crate) extensions: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generation_model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) committed_acu_cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<&'a str>,
    pub(crate) telemetry: Telemetry<'a>,
}

/// What a model call took. How fast it was is told of no other agent's calls: 0 is a number
/// whatever kind of number the agent wants there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Metrics {
    pub(crate) ttft_ms: u64,
    pub(crate) total_time_ms: u64,
    /// Without what was read from the cache.
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_tokens: Option<u64>,
    pub(crate) cache_creation_tokens: Option<u64>,
    pub(crate) tpot_ms: u64,
    pub(crate) tokens_per_sec: u64,
}

/// Where a message comes from.
#[derive(Debug, Serialize)]
pub(crate) struct Telemetry<'a> {
    pub(crate) source: &'static str,
    pub(crate) operation: &'a str,
}
