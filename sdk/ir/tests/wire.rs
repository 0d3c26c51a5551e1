//! The JSON form of the IR: every known field survives, defaults are those of the wire, what has
//! no value is left out, and what nobody knows is passed over.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sepia_ir::{AgentConfig, MessageNode, Session};
use serde_json::{Map, Value, json};

/// Text with everything that JSON has to escape, and characters outside the basic plane.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,12}", any::<String>(), Just("a\"b\\c\n\t\u{0}\u{2028}\u{2029}\u{85}😀".to_owned()),]
}

/// A number that JSON text keeps exactly.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u32..u32::MAX).prop_map(|n| json!(f64::from(n))),
        (0u32..1_000_000).prop_map(|n| json!(f64::from(n) / 8.0)),
    ]
}

fn integer() -> impl Strategy<Value = Value> {
    any::<i64>().prop_map(|n| json!(n))
}

/// Any JSON value, three levels deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), integer(), text().prop_map(Value::from),];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn string() -> impl Strategy<Value = Value> {
    text().prop_map(Value::from)
}

/// An object of these members; `None` leaves one out.
fn object(members: Vec<(&'static str, BoxedStrategy<Option<Value>>)>) -> impl Strategy<Value = Value> {
    let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    values.prop_map(move |values| {
        let members = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Value::Object(members.collect::<Map<_, _>>())
    })
}

fn always(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Option<Value>> {
    value.prop_map(Some).boxed()
}

fn maybe(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Option<Value>> {
    option::of(value).boxed()
}

fn list(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Option<Value>> {
    always(vec(value, 0..3).prop_map(Value::from))
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(words).prop_map(Value::from)
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        object(vec![("type", always(Just(json!("text")))), ("text", always(string()))]),
        object(vec![
            ("type", always(Just(json!("image")))),
            ("data", maybe(string())),
            ("mimeType", maybe(string())),
            ("uri", maybe(string())),
        ]),
        object(vec![("type", always(Just(json!("audio")))), ("data", maybe(string())), ("mimeType", maybe(string())),]),
        object(vec![
            ("type", always(Just(json!("file")))),
            ("uri", maybe(string())),
            ("name", maybe(string())),
            ("mimeType", maybe(string())),
            ("size", maybe(number())),
            ("text", maybe(string())),
            ("data", maybe(string())),
        ]),
    ]
}

const STATUS: &[&str] = &["pending", "success", "error"];

fn tool_call() -> impl Strategy<Value = Value> {
    let location = object(vec![("path", always(string())), ("line", maybe(integer()))]);
    let diff = object(vec![("path", always(string())), ("oldText", maybe(string())), ("newText", maybe(string()))]);
    object(vec![
        ("id", always(string())),
        ("name", always(string())),
        ("arguments", always(anything())),
        ("index", always(integer())),
        ("kind", always(string())),
        ("status", maybe(one_of(STATUS))),
        ("exitCode", maybe(integer())),
        ("durationMs", maybe(number())),
        ("locations", list(location)),
        ("diffs", list(diff)),
    ])
}

fn node() -> impl Strategy<Value = Value> {
    let usage = object(vec![
        ("input", always(number())),
        ("output", always(number())),
        ("cacheRead", maybe(number())),
        ("cacheWrite", maybe(number())),
        ("thinking", maybe(number())),
        ("cost", maybe(number())),
    ]);
    let result = object(vec![
        ("status", always(one_of(STATUS))),
        ("exitCode", maybe(integer())),
        ("durationMs", maybe(number())),
    ]);
    object(vec![
        ("nodeId", always(integer())),
        ("parentNodeId", maybe(integer())),
        ("role", always(one_of(&["system", "user", "assistant", "tool"]))),
        ("content", always(string())),
        ("blocks", list(block())),
        ("toolCalls", list(tool_call())),
        ("toolCallId", maybe(string())),
        ("toolName", maybe(string())),
        ("thinking", maybe(string())),
        ("thinkingSignature", maybe(string())),
        ("usage", maybe(usage)),
        ("model", maybe(string())),
        ("requestId", maybe(string())),
        ("finishReason", maybe(string())),
        ("toolResult", maybe(result)),
        ("createdAt", always(number())),
        ("metadata", always(anything())),
    ])
}

fn session() -> impl Strategy<Value = Value> {
    let checkpoint = object(vec![
        ("ref", always(string())),
        ("createdAt", always(number())),
        ("runCount", maybe(integer())),
        ("kind", maybe(string())),
    ]);
    let prompt = object(vec![
        ("content", always(string())),
        ("timestamp", always(number())),
        ("isShell", always(any::<bool>().prop_map(Value::from))),
    ]);
    object(vec![
        ("id", always(string())),
        ("title", always(string())),
        ("workingDirectory", always(string())),
        ("backendType", always(string())),
        ("agentMode", always(string())),
        ("model", always(string())),
        ("createdAt", always(number())),
        ("lastActivityAt", always(number())),
        ("mainChainId", always(integer())),
        ("shellLastSeenIndex", always(integer())),
        ("cogsJson", always(string())),
        ("workspaceDirs", always(string())),
        ("hidden", always((0..2i64).prop_map(|n| json!(n)))),
        ("parentSessionId", maybe(string())),
        ("agentId", maybe(string())),
        ("checkpoints", list(checkpoint)),
        ("metadata", always(anything())),
        ("nodes", list(node())),
        ("promptHistory", list(prompt)),
    ])
}

fn config() -> impl Strategy<Value = Value> {
    let flag = || any::<bool>().prop_map(Value::from);
    let words = || list(string());
    let file = object(vec![("path", always(string())), ("content", always(string()))]);
    let skill = object(vec![
        ("name", always(string())),
        ("description", maybe(string())),
        ("body", always(string())),
        ("files", list(file)),
        ("metadata", always(anything())),
    ]);
    let rule = object(vec![
        ("name", always(string())),
        ("description", maybe(string())),
        ("body", always(string())),
        ("globs", words()),
        ("alwaysApply", always(flag())),
        ("kind", always(one_of(&["rule", "instructions"]))),
        ("metadata", always(anything())),
    ]);
    let command = object(vec![
        ("name", always(string())),
        ("description", maybe(string())),
        ("body", always(string())),
        ("argumentHint", maybe(string())),
        ("allowedTools", words()),
        ("model", maybe(string())),
        ("metadata", always(anything())),
    ]);
    let hook = object(vec![
        ("event", always(string())),
        ("matcher", maybe(string())),
        ("type", always(one_of(&["command", "prompt"]))),
        ("command", maybe(string())),
        ("prompt", maybe(string())),
        ("timeoutSec", maybe(number())),
        ("failClosed", maybe(flag())),
        ("loopLimit", maybe(integer())),
        ("metadata", always(anything())),
    ]);
    let agent = object(vec![
        ("name", always(string())),
        ("description", maybe(string())),
        ("body", always(string())),
        ("tools", words()),
        ("model", maybe(string())),
        ("metadata", always(anything())),
    ]);
    object(vec![
        ("skills", list(skill)),
        ("rules", list(rule)),
        ("commands", list(command)),
        ("hooks", list(hook)),
        ("agents", list(agent)),
        ("mcpServers", always(anything())),
        ("metadata", always(anything())),
    ])
}

/// Adds a member that nobody knows to every object of the IR's own.
fn with_unknown(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = |name: &str| matches!(name, "metadata" | "arguments" | "mcpServers");
            let mut all: Map<String, Value> = members
                .iter()
                .map(|(name, value)| (name.clone(), if known(name) { value.clone() } else { with_unknown(value) }))
                .collect();
            all.insert("zzUnknown".into(), json!({ "deep": [1, null] }));
            Value::Object(all)
        }
        Value::Array(items) => items.iter().map(with_unknown).collect(),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_field_of_a_session_survives(value in session()) {
        let read: Session = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), value.clone());
        let read_again: Session = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        prop_assert_eq!(&read_again, &read);
        let with_more: Session = serde_json::from_value(with_unknown(&value)).unwrap();
        prop_assert_eq!(serde_json::to_value(&with_more).unwrap(), value);
    }

    #[test]
    fn every_field_of_a_configuration_survives(value in config()) {
        let read: AgentConfig = serde_json::from_value(value.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), value.clone());
        let with_more: AgentConfig = serde_json::from_value(with_unknown(&value)).unwrap();
        prop_assert_eq!(serde_json::to_value(&with_more).unwrap(), value);
    }
}

#[test]
fn what_a_session_leaves_out_has_the_defaults_of_the_wire() {
    let least = json!({
        "id": "s", "title": "t", "workingDirectory": "/d", "model": "m",
        "createdAt": 1, "lastActivityAt": 2, "mainChainId": 3,
    });
    let read: Session = serde_json::from_value(least.clone()).unwrap();
    let mut expected = least;
    for (name, value) in json!({
        "backendType": "windsurf", "agentMode": "accept-edits", "shellLastSeenIndex": 0, "cogsJson": "[]",
        "workspaceDirs": "[]", "hidden": 0, "checkpoints": [], "metadata": null, "nodes": [], "promptHistory": [],
        "createdAt": 1.0, "lastActivityAt": 2.0,
    })
    .as_object()
    .unwrap()
    {
        expected[name] = value.clone();
    }
    assert_eq!(serde_json::to_value(&read).unwrap(), expected);
}

#[test]
fn what_a_node_leaves_out_has_the_defaults_of_the_wire() {
    let least = json!({
        "nodeId": 1, "role": "tool", "content": "", "createdAt": 0.5, "toolCalls": [{ "id": "c", "name": "n" }],
    });
    let read: MessageNode = serde_json::from_value(least).unwrap();
    let expected = json!({
        "nodeId": 1, "role": "tool", "content": "", "blocks": [], "createdAt": 0.5, "metadata": null,
        "toolCalls": [{
            "id": "c", "name": "n", "arguments": null, "index": 0, "kind": "function", "locations": [], "diffs": [],
        }],
    });
    assert_eq!(serde_json::to_value(&read).unwrap(), expected);
}

#[test]
fn what_a_session_must_have() {
    let whole = json!({
        "id": "s", "title": "t", "workingDirectory": "/d", "model": "m",
        "createdAt": 1, "lastActivityAt": 2, "mainChainId": 3,
    });
    for name in ["id", "title", "workingDirectory", "model", "createdAt", "lastActivityAt", "mainChainId"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(name);
        let error = serde_json::from_value::<Session>(without).unwrap_err().to_string();
        assert!(error.contains(name), "{name}: {error}");
    }
}

#[test]
fn free_form_json_is_kept_as_it_was_written() {
    let text = r#"{"nodeId":1,"role":"user","content":"","createdAt":1,"metadata":{"b":1.0,"a" : [1e3, "\u0041"]}}"#;
    let node: MessageNode = serde_json::from_str(text).unwrap();
    assert_eq!(node.metadata, r#"{"b":1.0,"a" : [1e3, "\u0041"]}"#);
    assert!(serde_json::to_string(&node).unwrap().contains(r#""metadata":{"b":1.0,"a" : [1e3, "\u0041"]}"#));
}

#[test]
fn free_form_text_that_is_no_json_is_not_written() {
    let node = MessageNode { metadata: "{".into(), ..MessageNode::new(1, sepia_ir::Role::User, 0.0) };
    assert!(serde_json::to_string(&node).is_err());
}
