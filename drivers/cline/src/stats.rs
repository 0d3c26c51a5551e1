//! What a session amounts to. Tokens are counted once per message; sub-agents are sessions of their
//! own and not in it.

use sepia_ir::{MessageNode, Role, ToolCallStatus};
use sepia_sdk::stats::Stats;

/// Counts a complete node. `typed`: a person typed it. `error`: the agent shows it in the model's name.
pub(crate) fn count(stats: &mut Stats, node: &MessageNode, typed: bool, error: bool) {
    match node.role {
        Role::User => stats.user_prompts += u64::from(typed),
        Role::Assistant => stats.assistant_messages += 1,
        Role::Tool => {
            stats.tool_results += 1;
            let failed = node.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error);
            stats.tool_errors += u64::from(failed);
        }
        Role::System => stats.synthetic_messages += u64::from(error),
    }
    stats.tool_calls += node.tool_calls.len() as u64;
    if let Some(usage) = node.usage {
        let tokens = [Some(usage.input), Some(usage.output), usage.cache_read, usage.cache_write];
        stats.usage.add(tokens.map(whole));
    }
    stats.total();
}

/// A count of tokens; a float becomes the nearest whole number, at most what a sum can hold.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(tokens: Option<f64>) -> u64 {
    (tokens.unwrap_or_default() as u64).min(1 << 40)
}
