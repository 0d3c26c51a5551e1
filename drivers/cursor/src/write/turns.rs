//! The turns that a person sees of a session that is written: prompts, each with the steps that
//! answer it.

use super::wire::Wire;
use crate::blobs::hex;
use sepia_ir::MessageNode;

/// What a node is among the turns.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// A prompt: the blob of its message, and the id of its request.
    Prompt { message: [u8; 32], request: String },
    /// Steps of an answer.
    Steps(Vec<[u8; 32]>),
    /// Nothing of its own.
    Nothing,
}

/// A prompt as a person sees it. `at` is epoch milliseconds.
pub(crate) fn prompt(text: &str, message_id: &str, simulated: bool, at: Option<u64>) -> Vec<u8> {
    // Mode 1 is that of the agent.
    let message = Wire::default().text(1, text).text(2, message_id).number(4, 1);
    message.number(5, u64::from(simulated)).number(25, at.unwrap_or_default()).finish()
}

/// Reasoning and text of an answer as steps, before its calls.
pub(crate) fn told(node: &MessageNode) -> Vec<Vec<u8>> {
    let mut steps = Vec::new();
    if let Some(thinking) = &node.thinking {
        // Sealed reasoning is shown as a thought without words.
        let words = if thinking == "[redacted]" { "" } else { super::tool_step::cut(thinking) };
        steps.push(Wire::default().message(3, Wire::default().text(1, words)).finish());
    }
    if !node.content.is_empty() {
        steps.push(Wire::default().message(1, Wire::default().text(1, &node.content)).finish());
    }
    steps
}

/// A prompt, if there is one, with its request; and the steps that answer it.
type Answered<'a> = (Option<([u8; 32], &'a str)>, Vec<[u8; 32]>);

/// The turns of these nodes, each as a message.
pub(crate) fn turns<'a>(nodes: impl Iterator<Item = &'a Shown>) -> Vec<Vec<u8>> {
    let mut turns: Vec<Answered<'_>> = Vec::new();
    for node in nodes {
        match node {
            Shown::Prompt { message, request } => turns.push((Some((*message, request)), Vec::new())),
            Shown::Steps(steps) => match turns.last_mut() {
                Some((_, told)) => told.extend(steps),
                None => turns.push((None, steps.clone())),
            },
            Shown::Nothing => {}
        }
    }
    let turn = |(prompt, steps): Answered<'_>| {
        let mut turn = Wire::default();
        if let Some((message, _)) = &prompt {
            turn = turn.bytes(1, message);
        }
        turn = steps.iter().fold(turn, |turn, step| turn.bytes(2, step));
        if let Some((_, request)) = prompt {
            turn = turn.text(3, request);
        }
        Wire::default().message(1, turn).finish()
    };
    // An answer that nobody asked for has no turn that the agent could show.
    turns.into_iter().filter(|(prompt, _)| prompt.is_some()).map(turn).collect()
}

/// A random id in the form in which the agent gives them.
pub(crate) fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A random name of a generation of rows.
pub(crate) fn generation() -> String {
    hex(&uuid::Uuid::new_v4().as_bytes()[..4])
}
