//! What a compaction left the model, and what belongs to another state of the session.

use crate::demo::{Demo, S1, meta, pretty, talk, text, user, warnings};
use sepia_ir::{Session, SummaryDetail};
use serde_json::{Value, json};

fn sidecar(count: Value, last: &str, kept: &[Value]) -> String {
    let mut messages = vec![json!({
        "role": "user", "content": [{"type": "text", "text": "Context summary:\n\nAll well."}],
        "metadata": {"kind": "compaction_summary", "displayRole": "system"},
    })];
    messages.extend_from_slice(kept);
    pretty(&json!({
        "version": 1, "updated_at": "2026-01-01T00:00:10.000Z", "conversation_id": S1, "source_message_count": count,
        "source_prefix_hash": "sha256:0", "source_last_message_key": last, "messages": messages,
    }))
}

fn read(sidecar: &str) -> Session {
    let demo = Demo::new();
    demo.session(S1, &talk(3));
    demo.write(&format!("sessions/{S1}/{S1}.compaction.json"), sidecar);
    // A page says the same of its nodes as the session.
    let (session, page) = (demo.read(S1), demo.page(S1, 100, None, None));
    assert_eq!(page.nodes, session.nodes);
    assert_eq!(demo.page(S1, 100, None, page.index).nodes, session.nodes);
    assert_eq!(demo.rows(SummaryDetail::Stats).len(), 1);
    session
}

fn away(session: &Session) -> Vec<i64> {
    let gone = |node: &&sepia_ir::MessageNode| meta(&node.metadata)["compactedAway"] == json!(true);
    session.nodes.iter().filter(gone).map(|node| node.node_id).collect()
}

#[test]
fn what_was_kept_and_what_came_later_is_still_seen() {
    let session = read(&sidecar(json!(4), "id:m4", &[talk(3)[3].clone()]));
    assert_eq!(away(&session), [1, 2, 3]);
    let compaction = &meta(&session.metadata)["compaction"];
    assert_eq!(
        (&compaction["summary"], &compaction["at"]),
        (&json!("Context summary:\n\nAll well."), &json!(1_767_225_610.0))
    );
    assert_eq!(session.prompt_history.len(), 3);
    assert_eq!(warnings(&session), [""; 0]);
}

#[test]
fn one_of_other_messages_is_passed_over_as_the_agent_does() {
    for other in [sidecar(json!(4), "id:m3", &[]), sidecar(json!(40), "id:m6", &[]), sidecar(json!(0), "id:m1", &[])] {
        let session = read(&other);
        assert_eq!(away(&session), [0i64; 0]);
        assert_eq!(meta(&session.metadata)["compaction"]["stale"], json!(true));
        assert_eq!(session.nodes.len(), 6);
    }
}

#[test]
fn one_that_can_not_be_read_is_a_warning() {
    for odd in
        ["", "[]", "{}", "{\"source_message_count\":\"x\",\"messages\":[]}", "\u{0}", "{\"messages\":[1,{\"id\":7}]}"]
    {
        let session = read(odd);
        assert_eq!((away(&session), session.nodes.len()), (vec![], 6));
        assert_eq!(warnings(&session), ["unreadable-compaction"], "{odd:?}");
    }
    let cut = sidecar(json!(4), "id:m4", &[user("m9", text("x"), 1)]);
    assert_eq!(away(&read(&cut[..cut.len() - 20])), [1, 2, 3, 4]);
}
