//! Sessions of any kind: what is written is read again.

use crate::demo::{Demo, by_id};
use crate::store::{NEW, save};
use proptest::prelude::*;
use sepia_conformance::arbitrary::{Kind, sessions};
use sepia_conformance::equal_but_for;
use sepia_ir::{MessageNode, Role, Session, ToolCall};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_session_comes_back(session in sessions(Kind { branches: true, system: true })) {
        let demo = Demo::new();
        let report = save(&demo, &session, &NEW).unwrap();
        let read = demo.try_read(&by_id(&report.id)).unwrap();
        prop_assert_eq!(equal_but_for(&session, &read, &report.losses), Ok(()));
        // Numbers and links of the nodes are theirs, too.
        prop_assert_eq!(&read.nodes, &session.nodes);
        // And the row says what the session says.
        prop_assert_eq!(demo.keeps_the_laws(), 1);
    }

    #[test]
    fn there_and_back_again_loses_nothing(session in sessions(Kind { branches: true, system: true })) {
        let (first, second) = (Demo::new(), Demo::sample("old-schema"));
        let report = save(&first, &session, &NEW).unwrap();
        let once = first.try_read(&by_id(&report.id)).unwrap();
        let report = save(&second, &once, &NEW).unwrap();
        let twice = second.try_read(&by_id(&report.id)).unwrap();
        prop_assert_eq!(&once.nodes, &twice.nodes);
    }
}

/// Members of a node that no driver fills so, each alone.
fn odd(number: usize) -> Option<fn(&mut MessageNode)> {
    let all: [fn(&mut MessageNode); 12] = [
        |node| node.created_at = 0.0,
        |node| node.created_at = 1_767_225_600.000_7,
        |node| node.model = Some("m".into()),
        |node| node.finish_reason = Some(String::new()),
        |node| node.thinking = Some(String::new()),
        |node| node.usage = Some(sepia_ir::TokenUsage { input: 1.5, thinking: Some(2.0), ..Default::default() }),
        |node| node.metadata = r#"{"messageId":"0f8fad5b-d9cb-469f-a165-70867728950e","twin":3,"writtenAt":5}"#.into(),
        |node| node.metadata = "[1]".into(),
        |node| node.content = "Conversation to summarize: x".into(),
        |node| node.content = "null\0\u{feff}".into(),
        |node| node.request_id = Some("0f8fad5b-d9cb-469f-a165-70867728950e".into()),
        |node| node.tool_name = Some("named".into()),
    ];
    all.get(number).copied()
}

#[test]
fn odd_members_come_back_on_nodes_of_every_role() {
    let mut at = 0;
    while let Some(change) = odd(at) {
        let demo = Demo::new();
        let mut session = crate::store::foreign();
        session.nodes.push(MessageNode {
            parent_node_id: Some(4),
            content: "said by nobody".into(),
            ..MessageNode::new(5, Role::System, 1_767_225_700.0)
        });
        session.nodes.iter_mut().for_each(change);
        let report = save(&demo, &session, &NEW).unwrap();
        let read = demo.try_read(&by_id(&report.id)).unwrap();
        assert_eq!(read.nodes, session.nodes, "change {at}");
        demo.keeps_the_laws();
        at += 1;
    }
}

#[test]
fn arguments_that_are_no_object_are_put_into_one_for_the_agent() {
    for (arguments, written) in
        [("null", "{}"), ("[1, 2]", r#"{"input":[1,2]}"#), (r#""x""#, r#"{"input":"x"}"#), ("{}", "{}")]
    {
        let demo = Demo::new();
        let mut session: Session = crate::store::foreign();
        session.nodes[1].tool_calls[0].arguments = arguments.into();
        let report = save(&demo, &session, &NEW).unwrap();
        let stored = crate::store::rows(
            &demo,
            "SELECT json_extract(chat_message, '$.tool_calls[0].arguments') FROM message_nodes WHERE node_id = 2",
        );
        assert_eq!(stored[0][0], rusqlite::types::Value::Text(written.into()));
        assert_eq!(demo.try_read(&by_id(&report.id)).unwrap().nodes, session.nodes);
    }
}

#[test]
fn calls_that_no_message_can_hold_are_kept_beside_it() {
    let demo = Demo::new();
    let mut session = crate::store::foreign();
    let mut again = session.nodes[1].tool_calls[0].clone();
    again.diffs = vec![sepia_ir::Diff { path: "/p/gone".into(), old_text: Some("was".into()), new_text: None }];
    again.id = "toolu_2".into();
    session.nodes[1].tool_calls.push(again);
    // Calls of a prompt, which no agent makes.
    session.nodes[0].tool_calls = vec![ToolCall::new("p_1", "exec", r#"{"command":"ls"}"#.into())];
    let report = save(&demo, &session, &NEW).unwrap();
    assert_eq!(demo.try_read(&by_id(&report.id)).unwrap().nodes, session.nodes);
    assert!(report.losses.iter().any(|loss| loss.node_id == Some(1)));
}
