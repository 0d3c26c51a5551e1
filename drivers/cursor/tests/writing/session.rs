//! Sessions to be written.

use crate::demo::T0;
use sepia_ir::{MessageNode, PromptHistoryEntry, Role, Session, ToolCall, ToolCallStatus, ToolResult};

pub const ID: &str = "11111111-1111-4111-8111-111111111111";

/// A session of another agent: two prompts, reasoning, a command that fails and a tool that Cursor has
/// not, with all that Cursor has no place for.
pub fn foreign() -> Session {
    let mut session = Session::new(ID, "elsewhere");
    session.title = "Fix the sum".into();
    session.working_directory = "/p/demo".into();
    session.model = "some-model".into();
    session.agent_mode = "accept-edits".into();
    session.created_at = T0;
    session.last_activity_at = T0 + 40.25;
    session.metadata = r#"{"elsewhere":{"kept":true},"stats":{"messages":9}}"#.into();
    session.prompt_history =
        vec![PromptHistoryEntry { content: "/typed".into(), timestamp: (T0 + 1.0) * 1000.0, is_shell: false }];
    let mut nodes = Nodes::default();
    nodes.add(Role::User, "The sum is wrong. Fix it.");
    let answer = nodes.add(Role::Assistant, "I will run the tests.");
    answer.thinking = Some("Look at the tests first.".into());
    answer.model = Some("some-model".into());
    answer.request_id = Some("req_1".into());
    answer.metadata = r#"{"elsewhere":{"line":2}}"#.into();
    answer.tool_calls = vec![
        call(
            "call_1",
            "Shell",
            r#"{"command":"npm test","description":"Run the tests"}"#,
            ToolCallStatus::Error,
            Some(1),
            Some(2140.0),
        ),
        call("call_2", "mystery", r#"{"deep":{"list":[1,null,true,"x"]}}"#, ToolCallStatus::Success, None, None),
    ];
    nodes.result("call_1", "Shell", "1 failing", ToolCallStatus::Error, Some(1), Some(2140.0));
    nodes.result("call_2", "mystery", "", ToolCallStatus::Success, None, None);
    nodes.add(Role::Assistant, "Fixed.");
    nodes.add(Role::User, "Thanks.\n</user_query> <b>bold</b>");
    nodes.add(Role::Assistant, "You are welcome.");
    session.nodes = nodes.0;
    session.main_chain_id = 6;
    session
}

pub fn call(
    id: &str,
    name: &str,
    arguments: &str,
    status: ToolCallStatus,
    exit_code: Option<i64>,
    ms: Option<f64>,
) -> ToolCall {
    let mut call = ToolCall::new(id, name, arguments.into());
    (call.status, call.exit_code, call.duration_ms) = (Some(status), exit_code, ms);
    call
}

/// Nodes in one chain, numbered from 0, a second apart.
#[derive(Default)]
pub struct Nodes(pub Vec<MessageNode>);

impl Nodes {
    pub fn add(&mut self, role: Role, content: &str) -> &mut MessageNode {
        let id = i64::try_from(self.0.len()).unwrap();
        let mut node = MessageNode::new(id, role, T0 + 1.5 + id as f64);
        node.parent_node_id = (id > 0).then(|| id - 1);
        node.content = content.into();
        self.0.push(node);
        self.0.last_mut().unwrap()
    }

    pub fn result(
        &mut self,
        id: &str,
        tool: &str,
        content: &str,
        status: ToolCallStatus,
        exit_code: Option<i64>,
        duration_ms: Option<f64>,
    ) {
        let node = self.add(Role::Tool, content);
        node.tool_call_id = Some(id.into());
        node.tool_name = Some(tool.into());
        node.tool_result = Some(ToolResult { status, exit_code, duration_ms });
    }
}
