//! Going back.

use crate::demo::{Demo, S1, a, base, contents, live, text, u};
use crate::written::{Ground, by_id};
use sepia_driver_claude::Claude;
use sepia_ir::{ErrorCode, RewindPlan, Session};
use sepia_sdk::SessionWrite;
use serde_json::{Value, json};

fn id(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// Prompts and answers with ids of the agent's form.
fn talk(demo: &Demo) -> std::path::PathBuf {
    demo.session(
        S1,
        &[
            u(&id(1), None, "one", 1),
            a(&id(2), &id(1), text("two"), 2),
            u(&id(3), Some(&id(2)), "three", 3),
            a(&id(4), &id(3), text("four"), 4),
            json!({"type": "last-prompt", "lastPrompt": "three", "leafUuid": id(4), "sessionId": S1}),
        ],
    )
}

fn plan(kept: &[i64], removed: &[i64]) -> RewindPlan {
    RewindPlan { kept: kept.to_vec(), removed: removed.to_vec(), removed_tool_call_ids: Vec::new() }
}

fn header(tip: i64) -> Session {
    Session { main_chain_id: tip, ..Session::new(S1, "claude") }
}

#[test]
fn a_record_says_where_the_conversation_stands_and_nothing_is_lost() {
    let ground = Ground::new();
    let path = talk(&ground.demo);
    let before = std::fs::read_to_string(&path).unwrap();
    Claude::rewind(&ground.host(), &by_id(S1), &plan(&[1, 2], &[3, 4]), header(2)).unwrap();
    let after = std::fs::read_to_string(&path).unwrap();
    let added = after.strip_prefix(&before).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(added).unwrap(),
        json!({"type": "last-prompt", "lastPrompt": "one", "leafUuid": id(2), "explicit": true, "sessionId": S1})
    );
    let read = ground.demo.read(S1);
    assert_eq!((read.main_chain_id, read.nodes.len()), (2, 4));
    assert_eq!(contents(live(&read)), ["one", "two"]);
    // What is said next goes on from there.
    std::fs::write(&path, after + &format!("{}\n", u(&id(5), Some(&id(2)), "five", 5))).unwrap();
    assert_eq!(contents(live(&ground.demo.read(S1))), ["one", "two", "five"]);
}

#[test]
fn the_agent_may_note_the_same_place_again() {
    let ground = Ground::new();
    let path = talk(&ground.demo);
    Claude::rewind(&ground.host(), &by_id(S1), &plan(&[1, 2], &[3, 4]), header(2)).unwrap();
    let noted = json!({"type": "last-prompt", "leafUuid": id(2), "sessionId": S1});
    let text = std::fs::read_to_string(&path).unwrap() + &format!("{noted}\n");
    std::fs::write(&path, text).unwrap();
    assert_eq!(ground.demo.read(S1).main_chain_id, 2);
}

#[test]
fn a_header_without_a_tip_goes_back_to_the_last_that_stays() {
    let ground = Ground::new();
    talk(&ground.demo);
    Claude::rewind(&ground.host(), &by_id(S1), &plan(&[1, 2, 3], &[4]), header(0)).unwrap();
    assert_eq!(ground.demo.read(S1).main_chain_id, 3);
}

#[test]
fn a_plan_of_another_session_is_refused() {
    let ground = Ground::new();
    talk(&ground.demo);
    let before = ground.demo.bytes();
    for plan in [plan(&[1, 2], &[3]), plan(&[1, 2], &[3, 4, 5]), plan(&[0, 1], &[2, 3]), plan(&[-1, 2], &[3, 4])] {
        let error = Claude::rewind(&ground.host(), &by_id(S1), &plan, header(2)).unwrap_err();
        assert_eq!(error.code, ErrorCode::Conflict);
    }
    let error = Claude::rewind(&ground.host(), &by_id(S1), &plan(&[1, 3], &[2, 4]), header(3)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid, "what stays would follow what goes");
    let error = Claude::rewind(&ground.host(), &by_id(S1), &plan(&[], &[1, 2, 3, 4]), header(0)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
    assert_eq!(ground.demo.bytes(), before);
}

#[test]
fn a_message_without_an_id_of_the_agents_form_can_not_be_gone_back_to() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(2));
    let error = Claude::rewind(&ground.host(), &by_id(S1), &plan(&[1, 2], &[3, 4]), header(2)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
}
