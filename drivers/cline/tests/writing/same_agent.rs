//! A copy of a session of the agent's own is what the agent wrote.

use crate::stand::{Stand, WRITE};
use sepia_conformance::equal_but_for;
use sepia_ir::{LossKind, Session};
use serde_json::Value;

/// The session as the host hands it over for a copy.
fn handed(stand: &Stand, id: &str) -> Session {
    let mut session = stand.read(id);
    session.id = String::new();
    session
}

fn ids(sample: &str) -> Vec<String> {
    let all = Stand::sample(sample).ids();
    // Sub-agents become sessions of their own, and are looked at apart.
    all.into_iter().filter(|id| !id.contains("__")).collect()
}

#[test]
fn each_sample_is_copied_message_by_message() {
    let mut copied = 0;
    for sample in ["store", "hub", "file-mention", "compacted"] {
        let stand = Stand::sample(sample);
        for id in ids(sample) {
            let session = handed(&stand, &id);
            let report = stand.save(&session, &WRITE).unwrap();
            let read = stand.read(&report.id);
            if let Err(what) = equal_but_for(&session, &read, &report.losses) {
                panic!("{id}: {what}");
            }
            let original: Vec<Value> = stand.messages_of(&id).into_iter().map(without_model_of_errors).collect();
            let copy: Vec<Value> = stand.messages(&report.id).into_iter().map(without_ours).collect();
            assert_eq!(copy, original, "{id}");
            copied += 1;
        }
    }
    assert_eq!(copied, 17);
}

/// An error that is shown has no model in a session.
fn without_model_of_errors(mut message: Value) -> Value {
    if message["metadata"]["displayOnly"] == Value::Bool(true) {
        message.as_object_mut().unwrap().remove("modelInfo");
    }
    message
}

/// Of a compacted session each node says that it was taken from the model, which no message does.
fn without_ours(mut message: Value) -> Value {
    message.as_object_mut().unwrap().remove("sepia");
    message
}

#[test]
fn a_copy_carries_nothing_beside_its_messages() {
    for sample in ["store", "hub", "file-mention"] {
        let stand = Stand::sample(sample);
        for id in ids(sample) {
            let report = stand.save(&handed(&stand, &id), &WRITE).unwrap();
            for message in stand.messages(&report.id) {
                assert!(message.get("sepia").is_none(), "{id}: {message}");
            }
        }
    }
}

#[test]
fn sealed_and_signed_reasoning_stays_to_the_byte() {
    let stand = Stand::new();
    let mut session = crate::stand::foreign();
    session.nodes.truncate(2);
    session.nodes[1].tool_calls.clear();
    session.main_chain_id = 2;
    let signature = "A".repeat(400);
    for (thinking, signature, form) in [
        (
            "Well.",
            Some(signature.as_str()),
            serde_json::json!({"type": "thinking", "thinking": "Well.", "signature": signature}),
        ),
        ("", Some(signature.as_str()), serde_json::json!({"type": "thinking", "thinking": "", "signature": signature})),
        ("[redacted]", Some("sealed"), serde_json::json!({"type": "redacted_thinking", "data": "sealed"})),
        ("Well.", None, serde_json::json!({"type": "thinking", "thinking": "Well."})),
    ] {
        session.nodes[1].thinking = Some(thinking.into());
        session.nodes[1].thinking_signature = signature.map(Into::into);
        let (report, read) = stand.saved(&session);
        assert_eq!(stand.messages(&report.id)[1]["content"][0], form);
        assert_eq!(read.nodes[1].thinking, session.nodes[1].thinking);
        assert_eq!(read.nodes[1].thinking_signature, session.nodes[1].thinking_signature);
    }
    session.nodes[1].thinking_signature = Some("short".into());
    session.nodes[1].thinking = Some("Well.".into());
    let (report, _) = stand.saved(&session);
    assert_eq!(
        report.losses.iter().map(|loss| (loss.kind, loss.node_id)).collect::<Vec<_>>(),
        [(LossKind::MetadataOnly, Some(2))]
    );
}

impl Stand {
    /// Messages of a sample.
    fn messages_of(&self, id: &str) -> Vec<Value> {
        self.json(&format!("sessions/{id}/{id}.messages.json"))["messages"].as_array().unwrap().clone()
    }
}
