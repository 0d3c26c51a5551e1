//! Sessions of any kind, as the host hands them to a driver to be written.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sepia_ir::{
    Block, Diff, ImageBlock, Location, MessageNode, PromptHistoryEntry, Role, Session, TextBlock, TokenUsage, ToolCall,
    ToolCallStatus, ToolResult,
};

/// What sessions may hold.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Branches that were left.
    pub branches: bool,
    /// System nodes.
    pub system: bool,
}

/// A turn, before its nodes are numbered.
#[derive(Debug, Clone)]
enum Turn {
    System(String),
    User(String, bool),
    Assistant {
        text: String,
        thinking: Option<String>,
        calls: Vec<(String, String, String, bool)>,
        usage: Option<TokenUsage>,
    },
}

/// Text as people and models write it, and worse.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-zA-Z0-9 .,]{1,40}",
        2 => "\\PC{1,30}",
        1 => Just("a\nb\r\n\u{2028}\u{85}c\t\"\\ <x>&amp; {\"sepia\":1}".to_owned()),
        1 => Just("😀 é e\u{301} \u{202e}rtl".to_owned()),
    ]
}

fn turn(kind: Kind) -> impl Strategy<Value = Turn> {
    let call = ("[a-z_]{3,12}", text(), text(), any::<bool>());
    let assistant = (text(), option::of(text()), vec(call, 0..3), option::of((0u32..10_000, 0u32..10_000))).prop_map(
        |(text, thinking, calls, usage)| Turn::Assistant {
            text,
            thinking,
            calls,
            usage: usage.map(|(input, output)| TokenUsage {
                input: f64::from(input),
                output: f64::from(output),
                ..TokenUsage::default()
            }),
        },
    );
    prop_oneof![
        u32::from(kind.system) => text().prop_map(Turn::System),
        5 => (text(), prop::bool::weighted(0.1)).prop_map(|(text, image)| Turn::User(text, image)),
        6 => assistant,
    ]
}

/// Sessions with paired calls and results, rising times, and no signatures.
pub fn sessions(kind: Kind) -> impl Strategy<Value = Session> {
    (vec((turn(kind), any::<prop::sample::Index>(), prop::bool::weighted(0.15)), 1..14), text(), vec(text(), 0..3))
        .prop_map(move |(turns, title, prompts)| build(kind, turns, &title, prompts))
}

fn build(kind: Kind, turns: Vec<(Turn, prop::sample::Index, bool)>, title: &str, prompts: Vec<String>) -> Session {
    let mut session = Session::new("", "elsewhere");
    session.title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    session.title.retain(|c| !c.is_control());
    if session.title.is_empty() {
        session.title = "A session".into();
    }
    session.working_directory = "/p/demo".into();
    session.model = "some-model".into();
    session.created_at = 1_767_225_600.0;
    session.metadata = r#"{"elsewhere":{"kept":[1,"two",null]}}"#.into();
    session.prompt_history = prompts
        .into_iter()
        .enumerate()
        .map(|(at, content)| PromptHistoryEntry {
            content,
            timestamp: 1_767_225_600_000.0 + number(at),
            is_shell: at % 2 == 1,
        })
        .collect();
    let mut nodes: Vec<MessageNode> = Vec::new();
    let mut tip: Option<i64> = None;
    // A session begins with what the person asked.
    add(&mut nodes, &mut tip, MessageNode { content: "Begin.".into(), ..MessageNode::new(0, Role::User, 0.0) });
    // Where a branch may start: not between a call and its result.
    let mut rests = vec![0];
    for (turn, from, leaves) in turns {
        if kind.branches && leaves {
            tip = Some(*from.get(&rests));
        }
        match turn {
            Turn::System(text) => {
                add(&mut nodes, &mut tip, MessageNode { content: text, ..MessageNode::new(0, Role::System, 0.0) });
            }
            Turn::User(text, image) => add(&mut nodes, &mut tip, user(text, image)),
            Turn::Assistant { text, thinking, calls, usage } => {
                assistant(&mut nodes, &mut tip, text, thinking, calls, usage);
            }
        }
        rests.extend(tip);
    }
    session.main_chain_id = tip.unwrap_or_default();
    session.last_activity_at = nodes.iter().map(|n| n.created_at).fold(session.created_at, f64::max);
    session.nodes = nodes;
    session
}

fn user(text: String, image: bool) -> MessageNode {
    let mut node = MessageNode::new(0, Role::User, 0.0);
    if image {
        node.blocks = vec![
            Block::Text(TextBlock { text: text.clone() }),
            Block::Image(ImageBlock {
                data: Some("iVBORw0KGgo=".into()),
                mime_type: Some("image/png".into()),
                uri: None,
            }),
        ];
    }
    node.content = text;
    node
}

fn assistant(
    nodes: &mut Vec<MessageNode>,
    tip: &mut Option<i64>,
    text: String,
    thinking: Option<String>,
    calls: Vec<(String, String, String, bool)>,
    usage: Option<TokenUsage>,
) {
    let first = nodes.len();
    let mut node = MessageNode::new(0, Role::Assistant, 0.0);
    node.content = text;
    node.thinking = thinking;
    node.usage = usage;
    node.model = Some("some-model".into());
    node.request_id = Some(format!("req_{first}"));
    node.finish_reason = Some(if calls.is_empty() { "stop" } else { "tool_calls" }.into());
    node.metadata = format!(r#"{{"elsewhere":{{"number":{first}}}}}"#);
    for (index, (name, argument, _, ok)) in calls.iter().enumerate() {
        let path = "/p/demo/a.txt".to_owned();
        node.tool_calls.push(ToolCall {
            id: format!("call_{first}_{index}"),
            name: name.clone(),
            arguments: serde_json::json!({ "value": argument, "list": [1, { "deep": true }] }).to_string(),
            index: i64::try_from(index).unwrap_or(0),
            kind: "function".into(),
            status: Some(if *ok { ToolCallStatus::Success } else { ToolCallStatus::Error }),
            exit_code: (!ok).then_some(2),
            duration_ms: ok.then_some(12.5),
            locations: vec![Location { path: path.clone(), line: ok.then_some(3) }],
            diffs: if *ok { vec![Diff { path, old_text: None, new_text: Some(argument.clone()) }] } else { Vec::new() },
        });
    }
    add(nodes, tip, node);
    for (index, (name, _, result, ok)) in calls.into_iter().enumerate() {
        let mut node = MessageNode::new(0, Role::Tool, 0.0);
        node.content = result;
        node.tool_call_id = Some(format!("call_{first}_{index}"));
        node.tool_name = Some(name);
        node.tool_result = Some(ToolResult {
            status: if ok { ToolCallStatus::Success } else { ToolCallStatus::Error },
            exit_code: (!ok).then_some(2),
            duration_ms: ok.then_some(12.5),
        });
        add(nodes, tip, node);
    }
}

/// Numbers a node, hangs it under the tip, and makes it the tip.
fn add(nodes: &mut Vec<MessageNode>, tip: &mut Option<i64>, mut node: MessageNode) {
    node.node_id = i64::try_from(nodes.len()).unwrap_or(0);
    node.parent_node_id = *tip;
    node.created_at = 1_767_225_600.0 + number(nodes.len());
    *tip = Some(node.node_id);
    nodes.push(node);
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(0.0, f64::from)
}
