//! What a session amounts to: messages, tool calls, tokens.

use crate::draft::Prompt;
use crate::facts::{Facts, Outline};
use sepia_ir::{Role, ToolCallStatus};
use sepia_sdk::stats::Stats as Counts;
use serde::Serialize;
use std::collections::HashSet;

/// `metadata.stats` of a session: what is on its live branch, and beside it what is not.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    #[serde(flatten)]
    live: Counts,
    /// Turns that were given up, windows before a compaction, and the like. A message that has
    /// a copy counts once, and not here when it is on the live branch. Sub-agents count in
    /// their own sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_chain: Option<OffChain>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct OffChain {
    /// Rows, copies included.
    nodes: u64,
    #[serde(flatten)]
    counts: Counts,
}

/// Counts a node.
fn count(counts: &mut Counts, outline: &Outline, counted: bool, unsaid_is_typed: bool) {
    match outline.role {
        Role::User => {
            let typed = outline.prompt == Prompt::Typed || outline.prompt == Prompt::Unsaid && unsaid_is_typed;
            counts.user_prompts += u64::from(typed);
        }
        Role::Assistant => {
            counts.assistant_messages += u64::from(!outline.sums_up);
            counts.tool_calls += outline.calls.len() as u64;
        }
        Role::Tool => {
            counts.tool_results += 1;
            let failed = outline.answers.as_ref().and_then(|(_, outcome)| outcome.status);
            counts.tool_errors += u64::from(failed == Some(ToolCallStatus::Error));
        }
        Role::System => {}
    }
    if let Some(usage) = outline.usage.filter(|_| counted) {
        let (read, written) = (usage.cache_read.unwrap_or_default(), usage.cache_write.unwrap_or_default());
        counts.usage.add([usage.input, usage.output, read, written].map(whole));
    }
}

/// Rows of a writer that never says which messages were typed.
pub(crate) fn unsaid_is_typed(outlines: &[Outline]) -> bool {
    outlines.iter().all(|outline| matches!(outline.prompt, Prompt::No | Prompt::Unsaid))
}

/// Counts the nodes of a session. `elsewhere` holds the ids of those that count in the session
/// of a sub-agent.
pub(crate) fn stats(outlines: &[Outline], facts: &Facts, elsewhere: &HashSet<i64>) -> Stats {
    let typed = unsaid_is_typed(outlines);
    let (mut live, mut off) = (Counts::default(), OffChain::default());
    for (outline, fact) in outlines.iter().zip(&facts.nodes) {
        if fact.live {
            if !fact.repeats {
                count(&mut live, outline, fact.counted, typed);
            }
        } else if !elsewhere.contains(&outline.id) {
            off.nodes += 1;
            if !fact.repeats {
                count(&mut off.counts, outline, fact.counted, typed);
            }
        }
    }
    live.total();
    off.counts.total();
    Stats { live, off_chain: (off.nodes > 0).then_some(off) }
}

/// A count of tokens; what is no such number counts for nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn whole(tokens: f64) -> u64 {
    if tokens.is_finite() && (0.0..9e15).contains(&tokens) { tokens as u64 } else { 0 }
}
