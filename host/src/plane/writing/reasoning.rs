//! Reasoning that moves to another agent: its text goes along, its signature stays.
//!
//! A signature is valid only where it was made: elsewhere the provider refuses the whole history, at every
//! turn.

use super::losses::Losses;
use sepia_ir::{LossKind, MessageNode};

/// Text of reasoning that is sealed.
const SEALED: &str = "[redacted]";

/// Takes foreign signatures out of nodes.
pub(super) fn unsigned(nodes: &mut [MessageNode], losses: &mut Losses) {
    for node in nodes {
        if node.thinking_signature.take().is_none() {
            continue;
        }
        if node.thinking.as_deref() == Some(SEALED) {
            node.thinking = None;
            losses.add(LossKind::Dropped, node.node_id, || {
                "sealed reasoning, which only the agent that made it can read, is left out".to_owned()
            });
        } else {
            losses.add(LossKind::Dropped, node.node_id, || {
                "the signature of reasoning, valid only where it was made, is left out".to_owned()
            });
        }
    }
}
