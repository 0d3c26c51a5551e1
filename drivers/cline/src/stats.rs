//! What a session amounts to: messages, tool calls, tokens.

use sepia_ir::{MessageNode, Role, ToolCallStatus};
use serde::Serialize;

/// `metadata.stats` of a session. Tokens are counted once per message; sub-agents are sessions
/// of their own and not in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    /// Typed prompts, model messages and tool results.
    pub(crate) messages: u64,
    pub(crate) user_prompts: u64,
    pub(crate) assistant_messages: u64,
    /// Errors that the agent shows in the model's name.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) synthetic_messages: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tool_results: u64,
    pub(crate) tool_errors: u64,
    pub(crate) usage: Tokens,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens: what was read anew, written, read from the cache, written to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

impl Stats {
    /// Counts a complete node; `typed`: a person typed it.
    pub(crate) fn count(&mut self, node: &MessageNode, typed: bool, error: bool) {
        match node.role {
            Role::User => self.user_prompts += u64::from(typed),
            Role::Assistant => self.assistant_messages += 1,
            Role::Tool => {
                self.tool_results += 1;
                let failed = node.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error);
                self.tool_errors += u64::from(failed);
            }
            Role::System => self.synthetic_messages += u64::from(error),
        }
        self.tool_calls += node.tool_calls.len() as u64;
        if let Some(usage) = node.usage {
            self.usage.input += whole(Some(usage.input));
            self.usage.output += whole(Some(usage.output));
            self.usage.cache_read += whole(usage.cache_read);
            self.usage.cache_write += whole(usage.cache_write);
        }
        self.messages = self.user_prompts + self.assistant_messages + self.tool_results;
    }
}

/// A count of tokens; a float becomes the nearest whole number, at most what a sum can hold.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(tokens: Option<f64>) -> u64 {
    (tokens.unwrap_or_default() as u64).min(1 << 40)
}
