//! A chat that is cut back is one that the agent resumes at the cut.

use crate::demo::{Demo, contents, meta, of};
use crate::session::{ID, foreign};
use crate::store::{Chat, SAVE, read, save, writer};
use sepia_driver_cursor::Cursor;
use sepia_ir::{ErrorCode, RewindPlan, Session};
use sepia_sdk::SessionWrite;

const A: &str = "3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11";
const B: &str = "7c2d9b10-4e8a-4b61-8f35-0c1d2e3f4a22";
const SHOP: &str = ".cursor/chats/11e9fe063b91149eb10c6daf331adfaa";

/// Cuts a session after this node.
fn cut(demo: &Demo, id: &str, last: i64) -> Session {
    let session = read(demo, id);
    let (kept, removed): (Vec<i64>, Vec<i64>) =
        session.nodes.iter().map(|node| node.node_id).partition(|id| *id <= last);
    let mut header = Session { nodes: vec![], ..session.clone() };
    header.last_activity_at = session.nodes[usize::try_from(last - 1).unwrap()].created_at;
    header.prompt_history.truncate(1);
    Cursor::rewind(&writer(demo), &of(id), &RewindPlan { kept, removed, removed_tool_call_ids: vec![] }, header)
        .unwrap();
    let after = read(demo, id);
    assert_eq!(after.nodes.len(), usize::try_from(last).unwrap());
    for (before, after) in session.nodes.iter().zip(&after.nodes) {
        assert_eq!((&before.content, before.role, before.node_id), (&after.content, after.role, after.node_id));
    }
    after
}

#[test]
fn the_root_before_names_what_stays_and_all_else_is_as_it_was() {
    let demo = Demo::samples();
    let before = Chat::at(&demo, &format!("{SHOP}/{A}"));
    let session = demo.read(A);
    // After the first turn, which is 13 messages.
    let after = cut(&demo, A, 13);
    let chat = Chat::at(&demo, &format!("{SHOP}/{A}"));
    chat.is_sound();
    let (old, new) = (before.root(), chat.root());
    assert_eq!(new.messages, old.messages[..13]);
    assert_eq!(new.turns, old.turns[..1]);
    assert_eq!((new.timings.len(), new.todos.len(), &new.workspaces, new.mode), (1, 2, &old.workspaces, 1));
    assert_eq!(chat.settings()["name"], before.settings()["name"]);
    assert_eq!(after.nodes, session.nodes[..13]);
    assert_eq!(after.prompt_history.len(), 1);
    assert_eq!(after.last_activity_at, session.nodes[12].created_at);
    // Nothing is lost: what was there before is there still, behind its root.
    let root = before.settings()["latestRootBlobId"].as_str().unwrap().to_owned();
    let count: i64 =
        chat.database.query_row("SELECT count(*) FROM blobs WHERE id = ?", [root], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_cut_inside_a_turn_leaves_the_steps_before_it() {
    let demo = Demo::samples();
    // Up to the result of the failed command: reasoning, text, two calls; text, call.
    cut(&demo, A, 8);
    let chat = Chat::at(&demo, &format!("{SHOP}/{A}"));
    assert_eq!(chat.root().messages.len(), 8);
    let turns = chat.turns();
    assert_eq!((turns.len(), turns[0].1.len()), (1, 6));
    assert_eq!(turns[0].1[5].call.as_ref().unwrap().id, "tool_a_sh1");
}

#[test]
fn a_cut_before_a_compaction_undoes_it_and_one_after_it_keeps_it() {
    let demo = Demo::samples();
    let session = demo.read(B);
    let chat = Chat::at(&demo, &format!("{SHOP}/{B}"));
    let old = chat.root();
    // system, 7 archived, summary, prompt, answer, result, answer
    assert_eq!(session.nodes.len(), 13);
    cut(&demo, B, 11);
    let new = Chat::at(&demo, &format!("{SHOP}/{B}")).root();
    assert_eq!(new.messages, old.messages[..5]);
    assert_eq!((new.archives, new.compactions), (old.archives.clone(), 1));
    let after = cut(&demo, B, 4);
    let new = Chat::at(&demo, &format!("{SHOP}/{B}")).root();
    assert_eq!((new.messages.len(), new.archives.len(), new.compactions, new.turns.len()), (4, 0, 0, 1));
    assert_eq!(
        contents(&after)[2..],
        ["Plan the checkout page.", "The checkout needs an address form, a payment step and a review step."]
    );
    Chat::at(&demo, &format!("{SHOP}/{B}")).is_sound();
}

#[test]
fn what_rode_along_stays_with_what_stays() {
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    let before = read(&demo, ID);
    let after = cut(&demo, ID, 5);
    assert_eq!(after.nodes, before.nodes[..5]);
    assert_eq!((after.model.as_str(), after.title.as_str()), ("some-model", "Fix the sum"));
    assert_eq!(meta(&after.metadata)["elsewhere"], meta(&before.metadata)["elsewhere"]);
    assert_eq!(after.last_activity_at, before.nodes[4].created_at);
    let chat = Chat::of(&demo, ID);
    assert_eq!((chat.turns().len(), chat.turns()[0].1.len()), (1, 5));
    let again = cut(&demo, ID, 2);
    assert_eq!(again.nodes[..1], before.nodes[..1]);
    assert_eq!(again.nodes[1].metadata, before.nodes[1].metadata);
}

#[test]
fn nodes_that_lie_beside_the_chat_are_cut_too() {
    use sepia_ir::{MessageNode, Role};
    let demo = Demo::new();
    let mut session = foreign();
    let left = |id, parent| MessageNode {
        content: format!("Left {id}."),
        parent_node_id: Some(parent),
        ..MessageNode::new(id, Role::User, 6.0)
    };
    session.nodes.push(left(7, 1));
    session.nodes.push(left(8, 5));
    save(&demo, &session, &SAVE).unwrap();
    let before = read(&demo, ID);
    let plan = RewindPlan { kept: vec![1, 2, 3, 4, 5, 8], removed: vec![6, 7, 9], removed_tool_call_ids: vec![] };
    let header = Session { nodes: vec![], main_chain_id: 5, ..before.clone() };
    Cursor::rewind(&writer(&demo), &of(ID), &plan, header).unwrap();
    let after = read(&demo, ID);
    assert_eq!(contents(&after)[5..], ["Left 7."]);
    assert_eq!((after.main_chain_id, after.nodes[5].parent_node_id), (5, Some(2)));
    let _ = before;
}

#[test]
fn a_plan_of_another_state_is_refused() {
    let demo = Demo::samples();
    let before = crate::store::hash(&demo);
    let plan = RewindPlan { kept: vec![1, 99], removed: vec![], removed_tool_call_ids: vec![] };
    let refused = Cursor::rewind(&writer(&demo), &of(A), &plan, demo.read(A)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Conflict);
    // The state that it names is not there: the agent would show an empty chat.
    let broken = "c0ffee00-1111-4222-8333-444455556666";
    let plan = RewindPlan { kept: vec![1], removed: vec![2, 3, 4], removed_tool_call_ids: vec![] };
    assert_eq!(
        Cursor::rewind(&writer(&demo), &of(broken), &plan, demo.read(broken)).unwrap_err().code,
        ErrorCode::Conflict
    );
    assert_eq!(crate::store::hash(&demo), before);
}
