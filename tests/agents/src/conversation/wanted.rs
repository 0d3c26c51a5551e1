//! What a model has to be shown of a session: the live branch, spoken by the person, the model
//! and the tools, as far as the model of the source still sees it.
//!
//! So these are no part of it: what the agent program itself says (the role `system`, and a
//! provider's error that it shows as an answer and never sends), reasoning, and what a compaction
//! has put a summary in the place of.

use super::{Part, lines};
use sepia_ir::{Block, FileBlock, MessageNode, Role, Session, chain};
use serde_json::Value;
use std::collections::HashSet;

/// A part that has to be there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// The node of the source that it is of.
    pub(crate) node: i64,
    /// What it is.
    pub(crate) part: Part,
    /// A call without a result, or a result without a call: no provider takes one, so that it
    /// may come as text, or closed.
    pub(crate) is_orphan: bool,
}

/// A message that must not be there: it is of a branch that was left. Its lines, without those
/// that are on the live branch too; there is at least one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Left(pub(crate) Vec<String>);

/// What of a session has to be there, in order, and what must not.
pub(crate) fn of_session(session: &Session) -> (Vec<Wanted>, Vec<Left>) {
    let live = chain::live(&session.nodes, session.main_chain_id);
    let chain: Vec<&MessageNode> = live.iter().filter_map(|at| session.nodes.get(*at)).collect();
    let nodes = seen(&chain);
    let called: HashSet<&str> = nodes.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
    let answered: HashSet<&str> = nodes.iter().filter_map(|node| answers(node)).collect();
    let mut wanted = Vec::new();
    for node in &nodes {
        let mut want = |part, is_orphan| wanted.push(Wanted { node: node.node_id, part, is_orphan });
        match node.role {
            Role::System => {}
            Role::User => spoken(node).for_each(|part| want(part, false)),
            Role::Assistant => {
                spoken(node).for_each(|part| want(part, false));
                for call in &node.tool_calls {
                    let arguments =
                        serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
                    let part = Part::Call { id: call.id.clone(), name: call.name.clone(), arguments };
                    want(part, !answered.contains(call.id.as_str()));
                }
            }
            Role::Tool => {
                let id = answers(node).unwrap_or_default();
                let is_orphan = !called.contains(id);
                want(Part::Result { id: id.to_owned(), text: node.content.clone() }, is_orphan);
                media(node).for_each(|part| want(part, is_orphan));
            }
        }
    }
    let left = left(session, &live.into_iter().collect(), &wanted);
    (wanted, left)
}

/// The nodes of the live branch that the model of the source sees. Drivers mark what it doesn't:
/// `compactedAway` on each such node, or a node of the kind `compact-boundary` behind them;
/// `apiError` on an error of the provider.
fn seen<'a>(chain: &[&'a MessageNode]) -> Vec<&'a MessageNode> {
    let marks: Vec<Value> = chain.iter().map(|node| serde_json::from_str(&node.metadata).unwrap_or_default()).collect();
    let boundary = marks.iter().rposition(|marks| marks["kind"] == "compact-boundary");
    let nodes = chain.iter().zip(&marks).skip(boundary.map_or(0, |at| at + 1));
    let is_seen = |marks: &Value| marks["compactedAway"] != true && marks.get("apiError").is_none();
    nodes.filter(|(_, marks)| is_seen(marks)).map(|(node, _)| *node).collect()
}

/// The call that a tool node answers.
fn answers(node: &MessageNode) -> Option<&str> {
    node.tool_call_id.as_deref().filter(|_| node.role == Role::Tool)
}

/// Texts and media of a message in their order.
fn spoken(node: &MessageNode) -> impl Iterator<Item = Part> {
    let text = |text: &str| match node.role {
        Role::User => Part::User(text.to_owned()),
        _ => Part::Assistant(text.to_owned()),
    };
    let whole = node.blocks.is_empty().then(|| text(&node.content));
    let pieces = node.blocks.iter().filter_map(move |block| match block {
        Block::Text(piece) => Some(text(&piece.text)),
        // The content of a file that was mentioned goes to the model as text.
        Block::File(FileBlock { text: Some(content), .. }) => Some(text(content)),
        other => medium(other),
    });
    whole
        .into_iter()
        .chain(pieces)
        .filter(|part| !matches!(part, Part::User(text) | Part::Assistant(text) if text.trim().is_empty()))
}

fn media(node: &MessageNode) -> impl Iterator<Item = Part> {
    node.blocks.iter().filter_map(medium)
}

/// What the block has by value; of one that is elsewhere nothing can be shown.
fn medium(block: &Block) -> Option<Part> {
    match block {
        Block::Image(image) => image.data.clone().map(Part::Media),
        Block::File(file) => file.data.clone().map(Part::Media),
        Block::Text(_) | Block::Audio(_) => None,
    }
}

/// What the person and the model said off the live branch.
fn left(session: &Session, live: &HashSet<usize>, wanted: &[Wanted]) -> Vec<Left> {
    let kept: HashSet<&str> = wanted
        .iter()
        .filter_map(|wanted| match &wanted.part {
            Part::User(text) | Part::Assistant(text) | Part::Result { text, .. } => Some(text.as_str()),
            Part::Call { .. } | Part::Media(_) => None,
        })
        .flat_map(lines)
        .collect();
    let off = session.nodes.iter().enumerate().filter(|(at, _)| !live.contains(at)).map(|(_, node)| node);
    let spoken = off.filter(|node| matches!(node.role, Role::User | Role::Assistant));
    let own = |node: &MessageNode| -> Vec<String> {
        lines(&node.content).filter(|line| !kept.contains(line)).map(str::to_owned).collect()
    };
    spoken.map(own).filter(|lines| !lines.is_empty()).map(Left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepia_ir::{ImageBlock, TextBlock, ToolCall};
    use serde_json::json;

    fn node(id: i64, parent: Option<i64>, role: Role, content: &str) -> MessageNode {
        MessageNode { parent_node_id: parent, content: content.into(), ..MessageNode::new(id, role, 0.0) }
    }

    #[test]
    fn the_live_branch_is_wanted_and_the_other_is_not() {
        let mut session = Session::new("s", "b");
        let mut calling = node(2, Some(1), Role::Assistant, "I look.");
        calling.tool_calls = vec![
            ToolCall::new("t1", "run", json!({"command": "ls"}).to_string()),
            ToolCall::new("t2", "run", "no JSON".to_owned()),
        ];
        let mut result = node(3, Some(2), Role::Tool, "a.txt");
        result.tool_call_id = Some("t1".into());
        session.nodes = vec![
            node(0, None, Role::System, "You are an agent."),
            node(1, Some(0), Role::User, "Look."),
            calling,
            result,
            node(4, Some(3), Role::Assistant, "Left behind.\nLook."),
            node(5, Some(3), Role::Assistant, "Kept."),
        ];
        session.main_chain_id = 5;
        let (wanted, left) = of_session(&session);
        let call = |id: &str, arguments| Part::Call { id: id.into(), name: "run".into(), arguments };
        let expected = [
            (1, Part::User("Look.".into()), false),
            (2, Part::Assistant("I look.".into()), false),
            (2, call("t1", json!({"command": "ls"})), false),
            (2, call("t2", json!("no JSON")), true),
            (3, Part::Result { id: "t1".into(), text: "a.txt".into() }, false),
            (5, Part::Assistant("Kept.".into()), false),
        ];
        assert_eq!(wanted, expected.map(|(node, part, is_orphan)| Wanted { node, part, is_orphan }));
        assert_eq!(left, [Left(vec!["Left behind.".into()])]);
    }

    #[test]
    fn what_the_model_of_the_source_does_not_see_is_not_wanted() {
        let marked = |id: i64, role, content: &str, marks: Value| MessageNode {
            metadata: marks.to_string(),
            ..node(id, id.checked_sub(1).filter(|parent| *parent > 0), role, content)
        };
        let mut session = Session::new("s", "b");
        session.nodes = vec![
            marked(1, Role::User, "Before.", Value::Null),
            marked(2, Role::System, "Compacted.", json!({"kind": "compact-boundary"})),
            marked(3, Role::User, "Summary.", Value::Null),
            marked(4, Role::User, "Also before.", json!({"compactedAway": true})),
            marked(5, Role::Assistant, "Overloaded.", json!({"apiError": {"status": 529}})),
            marked(6, Role::User, "After.", Value::Null),
        ];
        session.main_chain_id = 6;
        let (wanted, left) = of_session(&session);
        let parts: Vec<Part> = wanted.into_iter().map(|wanted| wanted.part).collect();
        assert_eq!(parts, [Part::User("Summary.".into()), Part::User("After.".into())]);
        assert!(left.is_empty(), "none of it is on another branch");
    }

    #[test]
    fn pictures_keep_their_place_among_the_texts() {
        let mut session = Session::new("s", "b");
        let mut message = node(1, None, Role::User, "before\nafter");
        let text = |text: &str| Block::Text(TextBlock { text: text.into() });
        let image = Block::Image(ImageBlock { data: Some("iVBO".into()), mime_type: None, uri: None });
        message.blocks = vec![text("before"), image, text("after")];
        session.nodes = vec![message];
        session.main_chain_id = 1;
        let parts: Vec<Part> = of_session(&session).0.into_iter().map(|wanted| wanted.part).collect();
        assert_eq!(parts, [Part::User("before".into()), Part::Media("iVBO".into()), Part::User("after".into())]);
    }
}
