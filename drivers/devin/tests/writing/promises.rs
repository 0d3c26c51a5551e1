//! What a row is written for and later rows decide otherwise.

use crate::demo::{Demo, by_id};
use crate::store::{NEW, foreign, save};
use sepia_ir::{MessageNode, Role, Session, ToolCallStatus, ToolResult};

fn comes_back(session: &Session) {
    let demo = Demo::new();
    let report = save(&demo, session, &NEW).unwrap();
    assert_eq!(demo.try_read(&by_id(&report.id)).unwrap().nodes, session.nodes);
    demo.keeps_the_laws();
}

#[test]
fn a_result_that_tells_something_else_than_its_call() {
    let mut session = foreign();
    session.nodes[2].tool_result =
        Some(ToolResult { status: ToolCallStatus::Success, exit_code: Some(7), duration_ms: None });
    comes_back(&session);
    session.nodes[2].tool_result = None;
    session.nodes[2].tool_name = Some("other".into());
    comes_back(&session);
    session.nodes[2].tool_name = None;
    comes_back(&session);
}

#[test]
fn a_call_of_which_nothing_is_known_though_there_is_a_result() {
    let mut session = foreign();
    let call = &mut session.nodes[1].tool_calls[0];
    (call.status, call.exit_code, call.duration_ms) = (None, None, None);
    comes_back(&session);
    session.nodes[1].tool_calls[0].status = Some(ToolCallStatus::Pending);
    comes_back(&session);
    session.nodes[2].tool_result =
        Some(ToolResult { status: ToolCallStatus::Pending, exit_code: None, duration_ms: None });
    comes_back(&session);
}

#[test]
fn two_results_of_one_call_and_two_calls_of_one_id() {
    let mut session = foreign();
    let mut second = session.nodes[2].clone();
    second.node_id = 5;
    second.content = "2 failed".into();
    second.tool_result = Some(ToolResult { status: ToolCallStatus::Success, exit_code: None, duration_ms: Some(1.0) });
    second.parent_node_id = Some(4);
    session.nodes.push(second);
    let mut again = session.nodes[1].clone();
    again.node_id = 6;
    again.parent_node_id = Some(5);
    again.metadata = "null".into();
    again.tool_calls[0].name = "grep".into();
    again.tool_calls[0].status = Some(ToolCallStatus::Success);
    session.nodes.push(again);
    comes_back(&session);
}

#[test]
fn a_tip_that_is_no_node_is_the_last_one() {
    let demo = Demo::new();
    let mut session = foreign();
    session.main_chain_id = 99;
    let report = save(&demo, &session, &NEW).unwrap();
    assert_eq!(demo.read(&report.id).main_chain_id, 4);
}

#[test]
fn a_session_that_begins_with_node_zero() {
    let mut session = foreign();
    for node in &mut session.nodes {
        node.node_id -= 1;
        node.parent_node_id = node.parent_node_id.map(|parent| parent - 1);
    }
    session.main_chain_id = 3;
    comes_back(&session);
    session.nodes.truncate(1);
    session.nodes[0] = MessageNode { content: "Only this.".into(), ..MessageNode::new(0, Role::User, 1_767_225_601.0) };
    session.main_chain_id = 0;
    comes_back(&session);
}
