//! Pages of a session's history.

use super::Plane;
use super::error::{ErrorKind, PlaneError};
use schemars::JsonSchema;
use sepia_ir::{
    Block, Branch, Diff, HistoryQuery, Json, Location, MessageNode, Role, SessionRef, TokenUsage, ToolCall,
    ToolCallStatus,
};
use serde::Serialize;
use std::collections::HashMap;

/// Which page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The session.
    pub id: String,
    /// Its agent, where two have the id.
    pub agent: Option<String>,
    /// Messages at most; absent: the plane's setting.
    pub limit: Option<u32>,
    /// Exclusive end of the page, counted from the oldest; absent: the newest page.
    pub before: Option<u64>,
    /// The live branch or all of them.
    pub branch: Branch,
}

/// One page, oldest message first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPage {
    /// The messages.
    pub messages: Vec<HistoryMessage>,
    /// Messages of the branch.
    pub total: u64,
    /// Position of the first message; when it is above 0, the next older page is `before: start`.
    pub start: u64,
}

/// One message of a page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryMessage {
    /// Who speaks.
    pub role: Role,
    /// Node of the session.
    pub node_id: i64,
    /// The text.
    pub content: String,
    /// All blocks, when there is more than text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Block>>")]
    pub blocks: Vec<Block>,
    /// Epoch milliseconds.
    pub created_at: f64,
    /// Tool rows: the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Signature of the reasoning, or its sealed payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Assistant rows: the tools that it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<ToolCall>>")]
    pub tool_calls: Vec<ToolCall>,
    /// Tool rows: the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_status: Option<ToolCallStatus>,
    /// Tool rows: exit code of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Tool rows: milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Tool rows: JSON text of the arguments; a string as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    /// Tool rows: files that the call concerns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Location>>")]
    pub locations: Vec<Location>,
    /// Tool rows: changes that the call made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Diff>>")]
    pub diffs: Vec<Diff>,
    /// Tool rows: the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Plane {
    /// One page of a session's history.
    pub async fn history(&self, request: &HistoryRequest) -> Result<HistoryPage, PlaneError> {
        let session = SessionRef { id: request.id.clone(), agent_id: None };
        let limit = request.limit.unwrap_or(self.config.history_limit).max(1);
        let asked = self.first_that_knows(&request.id, request.agent.as_deref(), |about, reader| {
            let index = self.page_indexes.get(&about.build, &request.id);
            let query = HistoryQuery { limit, before: request.before, branch: request.branch, index };
            reader.history(session.clone(), query)
        });
        let (about, page) = match asked.await {
            // Its store has it from its first prompt on.
            Err(error)
                if error.kind == ErrorKind::NotFound
                    && self.is_unstored_live(&request.id, request.agent.as_deref()) =>
            {
                return Ok(HistoryPage { messages: Vec::new(), total: 0, start: 0 });
            }
            asked => asked?,
        };
        if let Some(index) = page.index {
            self.page_indexes.put(&about.build, &request.id, index);
        }
        let calls: HashMap<&str, &ToolCall> = page
            .tool_call_nodes
            .iter()
            .chain(&page.nodes)
            .flat_map(|n| &n.tool_calls)
            .map(|c| (c.id.as_str(), c))
            .collect();
        let messages = page.nodes.iter().map(|node| message(node, &calls)).collect();
        Ok(HistoryPage { messages, total: page.total, start: page.start })
    }
}

fn message(node: &MessageNode, calls: &HashMap<&str, &ToolCall>) -> HistoryMessage {
    let call = match node.role {
        Role::Tool => node.tool_call_id.as_deref().and_then(|id| calls.get(id)),
        _ => None,
    };
    HistoryMessage {
        role: node.role,
        node_id: node.node_id,
        content: node.content.clone(),
        blocks: node.blocks.clone(),
        created_at: node.created_at * 1000.0,
        tool_name: node.tool_name.clone(),
        thinking: node.thinking.clone(),
        thinking_signature: node.thinking_signature.clone(),
        usage: node.usage,
        model: node.model.clone(),
        request_id: node.request_id.clone(),
        finish_reason: node.finish_reason.clone(),
        tool_calls: node.tool_calls.clone(),
        tool_status: node.tool_result.map(|result| result.status),
        exit_code: node.tool_result.and_then(|result| result.exit_code),
        duration_ms: node.tool_result.and_then(|result| result.duration_ms),
        args: call.and_then(|call| arguments_text(&call.arguments)),
        locations: call.map(|call| call.locations.clone()).unwrap_or_default(),
        diffs: call.map(|call| call.diffs.clone()).unwrap_or_default(),
        tool_call_id: node.tool_call_id.clone(),
    }
}

/// Arguments as text: a string as it is, anything else as JSON, nothing for what says nothing.
fn arguments_text(arguments: &Json) -> Option<String> {
    match arguments.trim() {
        "null" | "\"\"" | "{}" => None,
        text if text.starts_with('"') => serde_json::from_str(text).ok(),
        text => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::arguments_text;

    #[test]
    fn arguments_that_say_nothing_are_left_out() {
        let text = |json: &str| arguments_text(&json.to_owned());
        for empty in ["null", "\"\"", "{}"] {
            assert_eq!(text(empty), None, "{empty}");
        }
        assert_eq!(text(r#""ls -l\n""#).as_deref(), Some("ls -l\n"));
        assert_eq!(text(r#"{"a":1}"#).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(text("[]").as_deref(), Some("[]"));
    }
}
