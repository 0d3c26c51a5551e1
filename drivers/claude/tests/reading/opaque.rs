//! What the driver does not know is carried and counted, never an error.

use crate::demo::{Demo, S1, a, base, contents, lines, meta, t, text, u, warnings, with};
use sepia_driver_claude::Claude;
use sepia_ir::SessionRef;
use sepia_sdk::SessionRead;
use serde_json::json;

#[test]
fn unknown_records_are_counted_and_odd_messages_kept() {
    let records = base(2);
    let unknown = [
        json!({"type": "zz-latch", "zz": "", "sessionId": S1}),
        json!({"type": "system", "subtype": "new_thing", "content": "c", "uuid": "n1", "parentUuid": "m2", "timestamp": t(2), "sessionId": S1}),
        json!({"no_type": true}),
        json!([1, 2]),
        json!("text"),
        json!(42),
        json!(null),
    ];
    let odd = [
        a("h1", "m4", json!([{"type": "hologram", "x": 1}, {"type": "text", "text": "seen"}]), 6),
        with(u("o1", Some("h1"), "", 7), &[("message.content", json!({"odd": true}))]),
    ];
    let content = lines(&records[..2]) + &lines(&unknown) + &lines(&records[2..]) + &lines(&odd);
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), &content);
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes), ["prompt m1", "answer m2", "prompt m3", "answer m4", "seen", ""]);
    let opaque = &meta(&session.metadata)["opaque"];
    assert_eq!(opaque, &json!({"zz-latch": 1, "system/new_thing": 1, "(no type)": 1, "(no object)": 4}));
    assert_eq!(warnings(&session), [""; 0]);
    assert_eq!(meta(&session.nodes[4].metadata)["opaqueBlocks"], json!([{"type": "hologram", "x": 1}]));
    assert_eq!(meta(&session.nodes[5].metadata)["opaqueContent"], json!({"odd": true}));
    assert_eq!(meta(&demo.rows(sepia_ir::SummaryDetail::Stats)[0].metadata)["opaque"], *opaque);
    let mut copy = Claude::native(&demo.host(), &SessionRef { id: S1.into(), agent_id: None }).unwrap();
    assert_eq!(copy.next(1 << 20).unwrap(), content.as_bytes());
}

#[test]
fn a_member_of_another_shape_costs_that_member_alone() {
    let odd = [
        with(u("m1", None, "one", 1), &[("cwd", json!(7)), ("version", json!({})), ("isMeta", json!("no"))]),
        with(
            a("m2", "m1", text("two"), 2),
            &[("message.usage", json!([1])), ("message.model", json!(null)), ("requestId", json!([]))],
        ),
        with(u("m3", Some("m2"), "three", 3), &[("timestamp", json!({"at": 1})), ("toolUseResult", json!(5))]),
        with(
            a("m4", "m3", text("four"), 4),
            &[("message.content", json!([{"type": "tool_use", "id": 3, "name": null}, 17, null, "x"]))],
        ),
        with(a("m5", "m4", text("five"), 5), &[("message", json!("none"))]),
    ];
    let demo = Demo::new();
    demo.session(S1, &odd);
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes), ["one", "two", "three", "", ""]);
    assert_eq!(session.nodes[1].usage, None);
    assert_eq!(session.nodes[3].tool_calls.len(), 1);
    assert_eq!(meta(&session.nodes[3].metadata)["opaqueBlocks"], json!([17, null, "x"]));
    assert_eq!(session.working_directory, "/p/demo");
}

#[test]
fn files_that_hold_no_conversation_are_no_sessions() {
    let demo = Demo::new();
    demo.write("projects/-p-demo/empty.jsonl", "");
    demo.write("projects/-p-demo/stub.jsonl", "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"stub\"}\n");
    demo.write(
        "projects/-p-demo/utf16.jsonl",
        "{\"type\":\"user\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    );
    demo.write("projects/-p-demo/memory/note.jsonl", lines(&base(1)));
    demo.write("projects/-p-demo/notes.txt", "x");
    assert_eq!(demo.rows(sepia_ir::SummaryDetail::Row), []);
    assert_eq!(demo.rows(sepia_ir::SummaryDetail::Stats), []);
    let stub = SessionRef { id: "stub".into(), agent_id: None };
    assert_eq!(demo.try_read(&stub).unwrap_err().code, sepia_ir::ErrorCode::NotFound);
    let nowhere = Demo::new();
    assert_eq!(nowhere.rows(sepia_ir::SummaryDetail::Row), []);
}
