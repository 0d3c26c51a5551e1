//! What a person said, and what the agent said in a person's name.

use crate::demo::{Demo, S1, a, contents, meta, text, u, user};
use sepia_ir::Role;
use serde_json::{Value, json};

fn marked(text_: &str, metadata: Value) -> Value {
    let mut message = user("s", text(text_), 3);
    message["metadata"] = metadata;
    message
}

#[test]
fn what_the_agent_said_counts_as_no_prompt() {
    let demo = Demo::new();
    demo.manifest(S1, &[("prompt", Value::Null), ("metadata", json!({}))]);
    demo.messages(
        S1,
        &[
            marked("<hook_context source=\"TaskStart\">x</hook_context>", json!({"displayRole": "system"})),
            marked("Your previous response was cut off", json!({"userRunSpan": 0})),
            u("m1", "What I want", 4),
            marked("and this", json!({"userRunSpan": 1, "custom": {"a": 1}})),
            a("m2", text("done"), 5),
        ],
    );
    let session = demo.read(S1);
    assert_eq!(session.nodes.len(), 5);
    let hidden: Vec<bool> = session.nodes.iter().map(|node| meta(&node.metadata)["hidden"] == json!(true)).collect();
    assert_eq!(hidden, [true, true, false, false, false]);
    assert_eq!(
        session.prompt_history.iter().map(|prompt| prompt.content.as_str()).collect::<Vec<_>>(),
        ["What I want", "and this"]
    );
    assert_eq!(session.prompt_history[0].timestamp, 1_767_225_604_000.0);
    assert_eq!(session.title, "What I want");
    assert_eq!(meta(&session.metadata)["titleSource"], json!("first-prompt"));
    assert_eq!(meta(&session.nodes[3].metadata)["messageMetadata"]["custom"], json!({"a": 1}));
    assert_eq!(demo.stats(S1)["userPrompts"], json!(2));
}

#[test]
fn commands_and_notices_are_shown_as_typed() {
    let demo = Demo::new();
    let said = "<mode_notice>now act</mode_notice>\n<user_command slash=\"fix\">the tests</user_command>";
    demo.session(S1, &[u("m1", said, 1), u("m2", "a </user_input> b", 2)]);
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["/fix the tests", "a </user_input> b"]);
    let original = meta(&session.nodes[0].metadata)["originalTexts"][0].clone();
    assert_eq!(original, json!(format!("<user_input mode=\"act\">{said}</user_input>")));
}

#[test]
fn a_model_that_talks_of_tags_is_not_unwrapped() {
    let demo = Demo::new();
    let said = "<user_input mode=\"act\">is how it is stored</user_input>";
    demo.session(S1, &[user("m1", json!("a plain string"), 1), a("m2", text(said), 2)]);
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["a plain string", said]);
}

#[test]
fn other_roles_and_blocks_are_carried_and_counted() {
    let demo = Demo::new();
    let blocks = json!([{"type": "hologram", "x": [1]}, 5, null, {"type": "text"}, {"type": "text", "text": "seen"}]);
    demo.session(
        S1,
        &[
            json!({"role": "system", "content": "be good"}),
            json!({"role": "tool", "content": "hm", "id": "t"}),
            user("m1", blocks, 1),
            user("m2", json!({"a": 1}), 2),
            json!({"content": []}),
            json!("not a message"),
            json!([1]),
            json!(7),
        ],
    );
    let session = demo.read(S1);
    let roles: Vec<Role> = session.nodes.iter().map(|node| node.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::User, Role::User, Role::User]);
    assert_eq!(contents(&session), ["be good", "hm", "seen", "", ""]);
    assert_eq!(meta(&session.nodes[1].metadata)["role"], json!("tool"));
    let opaque = meta(&session.nodes[2].metadata)["opaque"].clone();
    assert_eq!(opaque, json!([{"type": "hologram", "x": [1]}, 5, null, {"type": "text"}]));
    assert_eq!(meta(&session.nodes[3].metadata)["opaque"], json!([{"a": 1}]));
    let counted = &meta(&session.metadata)["opaque"];
    assert_eq!(counted, &json!({"content": 1, "hologram": 1, "message": 3, "none": 2, "text": 1}));
}
