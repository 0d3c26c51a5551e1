//! Messages that are not as they should be: each costs itself alone.

use crate::demo::{Demo, answer, meta, user, warnings, with};
use sepia_ir::{Block, Role, Session};
use serde_json::json;

fn read(message: &str) -> Session {
    let demo = Demo::new();
    demo.session("s", Some(3));
    demo.node("s", 1, None, user("before"), None);
    demo.node("s", 2, Some(1), message, None);
    demo.node("s", 3, Some(2), answer("after"), None);
    assert_eq!(demo.live("s"), [1, 2, 3]);
    assert_eq!(demo.keeps_the_laws(), 1);
    demo.read("s")
}

#[test]
fn lone_halves_of_surrogate_pairs() {
    for (written, shown) in [
        (r"ok \ud83d end", "ok \u{fffd} end"),
        (r"\udc00", "\u{fffd}"),
        (r"\ud83eade9", "\u{fffd}ade9"),
        (r"\ud83d\ude00", "\u{1f600}"),
    ] {
        let session = read(&format!(r#"{{"role":"user","content":"{written}"}}"#));
        assert_eq!(session.nodes[1].content, shown);
        let told = warnings(&session.metadata);
        assert_eq!(told, if shown.contains('\u{fffd}') { vec!["lone-surrogate"] } else { Vec::new() });
        assert_eq!(warnings(&session.nodes[1].metadata), told);
    }
    let session = read(
        r#"{"role":"assistant","content":"x","tool_calls":[{"id":"c","name":"exec","arguments":{"a":"\ud83d"}}]}"#,
    );
    assert_eq!(meta(&session.nodes[1].tool_calls[0].arguments), json!({"a": "\u{fffd}"}));
}

#[test]
fn separators_inside_of_text_stay() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\r\ne\u{feff}";
    assert_eq!(read(&user(text).to_string()).nodes[1].content, text);
    assert_eq!(read(&format!(" \n{}\n", user("padded"))).nodes[1].content, "padded");
}

#[test]
fn what_is_no_message_is_an_empty_one_of_the_system() {
    for text in ["", "not json", "[1,2]", "\"text\"", "42", "null", "{\"role\":\"user\"", "{} trailing"] {
        let session = read(text);
        assert_eq!((session.nodes[1].role, session.nodes[1].content.as_str()), (Role::System, "null"), "{text}");
        assert_eq!(warnings(&session.metadata), ["broken-message"], "{text}");
    }
}

#[test]
fn members_of_an_unexpected_shape_degrade_alone() {
    let all_odd = r#"{"message_id":7,"role":"assistant","content":"text","tool_calls":{"a":1},"thinking":[1],"tool_call_id":{},
        "images":"x","metadata":{"num_tokens":"x","request_id":5,"metrics":[1],"extensions":"none","created_at":false,"generation_model":{}}}"#;
    let session = read(all_odd);
    let node = &session.nodes[1];
    assert_eq!(
        (node.role, node.content.as_str(), &node.usage, &node.thinking),
        (Role::Assistant, "text", &None, &None)
    );
    assert_eq!(warnings(&session.metadata), ["broken-call"]);
    for (message, role, code) in [
        (r#"{"role":"wizard","content":"x"}"#, Role::System, "unknown-role"),
        (r#"{"content":"x"}"#, Role::System, "unknown-role"),
        (r#"{"role":"tool","content":"x"}"#, Role::System, "result-without-call"),
        (r#"{"role":"user","content":5}"#, Role::User, "odd-content"),
        (r#"{"role":"user","content":"x","tool_calls":[{"id":"a","name":"b"}]}"#, Role::User, "misplaced-calls"),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"a"},{"name":"b"},{"id":"c","name":"d"},{"id":"c","name":"e"}]}"#,
            Role::Assistant,
            "broken-call",
        ),
    ] {
        let session = read(message);
        assert_eq!((session.nodes[1].role, warnings(&session.metadata)), (role, vec![code.to_owned()]), "{message}");
    }
    assert_eq!(read(r#"{"role":"assistant","content":null}"#).nodes[1].content, "");
    assert_eq!(read(r#"{"role":"user","content":{"b":1,"a":[]}}"#).nodes[1].content, r#"{"a":[],"b":1}"#);
}

#[test]
fn unknown_members_and_extensions_are_no_fault() {
    let session = read(
        &with(
            user("x"),
            &[("zz", json!({"a": 1})), ("metadata.extensions", json!({"new/thing": [1, 2], "zz/text": "t"}))],
        )
        .to_string(),
    );
    assert_eq!(warnings(&session.metadata), [""; 0]);
    assert_eq!(meta(&session.nodes[1].metadata)["extensions"], json!({"new/thing": [1, 2], "zz/text": "t"}));
}

#[test]
fn deep_values_are_told_by_their_size() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let session = read(&format!(
        r#"{{"role":"assistant","content":"x","tool_calls":[{{"id":"c","name":"n","arguments":{deep}}}],"zz":{deep}}}"#
    ));
    assert_eq!(meta(&session.nodes[1].tool_calls[0].arguments)["bytes"], json!(10_000));
}

#[test]
fn reasoning_is_shown_with_its_signature() {
    let thought = |thinking: serde_json::Value| {
        let session = read(&with(answer("x"), &[("thinking", thinking)]).to_string());
        (session.nodes[1].thinking.clone(), session.nodes[1].thinking_signature.clone())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(thought(json!({"thinking": "hm", "signature": "sealed.v1.x"})), (some("hm"), some("sealed.v1.x")));
    assert_eq!(thought(json!({"thinking": "", "signature": "sealed.v1.x"})), (some("[redacted]"), some("sealed.v1.x")));
    assert_eq!(thought(json!({"thinking": "hm", "signature": ""})), (some("hm"), None));
    assert_eq!(thought(json!({"thinking": ""})), (None, None));
    assert_eq!(thought(json!("plain")), (some("plain"), None));
    assert_eq!(thought(json!(null)), (None, None));
}

#[test]
fn pictures_of_an_older_writer_are_blocks() {
    let session = read(
        &with(
            user("look"),
            &[("images", json!([{"width": 1, "height": 1, "media_type": "image/png", "base64_data": "aGk="}]))],
        )
        .to_string(),
    );
    let [Block::Text(text), Block::Image(image)] = &session.nodes[1].blocks[..] else { panic!("text and a picture") };
    assert_eq!(
        (text.text.as_str(), image.data.as_deref(), image.mime_type.as_deref()),
        ("look", Some("aGk="), Some("image/png"))
    );
    let blocks = json!([{"type": "text", "text": "other words"}, {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}}, {"type": "hologram"}]);
    let session =
        read(&with(user("said"), &[("metadata.extensions", json!({"chisel/acp-content-blocks": blocks}))]).to_string());
    let [Block::Text(text), Block::Audio(_), Block::File(file)] = &session.nodes[1].blocks[..] else {
        panic!("three blocks")
    };
    // The model was told the content.
    assert_eq!((text.text.as_str(), file.text.as_deref()), ("said", Some("b")));
    assert_eq!(warnings(&session.metadata), ["unknown-block"]);
}

#[test]
fn columns_of_a_session_that_hold_something_else() {
    let demo = Demo::new();
    demo.session("s", None);
    demo.sql(
        "UPDATE sessions SET cogs_json = '{\"not\":\"a list\"}', workspace_dirs = 'torn[', metadata = '[1]', main_chain_id = 'x',
         agent_mode = '', shell_last_seen_index = 'y'",
    );
    let session = demo.read("s");
    assert_eq!((session.cogs_json.as_str(), session.workspace_dirs.as_str(), session.main_chain_id), ("[]", "[]", 0));
    assert_eq!(session.agent_mode, "accept-edits");
    assert_eq!(warnings(&session.metadata), ["broken-column"; 3]);
    assert_eq!(demo.keeps_the_laws(), 1);
    demo.sql(
        r#"UPDATE sessions SET metadata = '{"total_acu_cost":1.5,"titleSource":"forged","sepia/checkpoints":[{"ref":"abc","createdAt":1767225600000,"runCount":2,"kind":"stash"},5,{"ref":""}]}'"#,
    );
    let session = demo.read("s");
    assert_eq!(meta(&session.metadata)["total_acu_cost"], json!(1.5));
    assert_eq!(meta(&session.metadata)["titleSource"], json!("agent"));
    assert_eq!(session.checkpoints.len(), 1);
    assert_eq!((session.checkpoints[0].ref_.as_str(), session.checkpoints[0].run_count), ("abc", Some(2)));
}
