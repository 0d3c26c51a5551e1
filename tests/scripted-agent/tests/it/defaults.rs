//! What an agent does that no script told anything.

use crate::client::{Client, chunk, folder, stopped, thought, updates};
use sepia_scripted_agent::Script;
use serde_json::json;
use std::num::NonZeroUsize;

#[test]
fn it_introduces_itself() {
    let folder = folder();
    let mut client = Client::start(Script::new(), folder.path());
    let (before, answer) = client.call("initialize", &json!({"protocolVersion": 99}));
    assert_eq!(before, [] as [serde_json::Value; 0]);
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], 1);
    let capabilities = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true, "embeddedContext": true},
        "sessionCapabilities": {"list": {}, "delete": {}},
    });
    assert_eq!((&result["agentCapabilities"], &result["authMethods"]), (&capabilities, &json!([])));
    assert_eq!(client.call("authenticate", &json!({"methodId": "x"})).1["result"], json!({}));

    let folder = crate::client::folder();
    let script = Script::new().capabilities(json!({"loadSession": false})).auth_methods(json!([{"id": "login"}]));
    let mut client = Client::start(script, folder.path());
    let result = client.call("initialize", &json!({})).1["result"].clone();
    assert_eq!(result["agentCapabilities"], json!({"loadSession": false}));
    assert_eq!(result["authMethods"], json!([{"id": "login"}]));
}

#[test]
fn a_prompt_is_thought_about_and_answered() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new(), folder.path());
    assert_eq!(session, format!("scripted-1-{}", client.child.id()));
    let (updates, answer) = client.prompt(&session, "hello");
    assert_eq!(updates, [thought("I think about what was said."), chunk("You said: hello")]);
    assert_eq!(answer, stopped(2, "end_turn"));
}

#[test]
fn a_second_prompt_waits_for_the_first() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new(), folder.path());
    let first = client.send_prompt(&session, "1");
    let second = client.send_prompt(&session, "2");
    let frames: Vec<_> = (0..6).map(|_| client.frame()).collect();
    assert_eq!(updates(&frames[1..2], &session), [chunk("You said: 1")]);
    assert_eq!(frames[2], stopped(first, "end_turn"));
    assert_eq!(updates(&frames[4..5], &session), [chunk("You said: 2")]);
    assert_eq!(frames[5], stopped(second, "end_turn"));
}

#[test]
fn what_it_does_not_know_is_an_error() {
    let folder = folder();
    let mut client = Client::start(Script::new(), folder.path());
    let mut code = |method: &str, params| client.call(method, &params).1["error"]["code"].clone();
    let unknown = json!({"sessionId": "no", "prompt": [], "cwd": "/w", "mcpServers": []});
    for method in ["session/prompt", "session/load", "session/resume", "session/delete", "session/close"] {
        assert_eq!(code(method, unknown.clone()), -32002, "{method}");
        assert_eq!(code(method, json!({})), -32602, "{method}");
    }
    assert_eq!(code("session/set_mode", unknown.clone()), -32002);
    assert_eq!(code("x/unknown", json!({})), -32601);
    assert_eq!(code("session/list", json!({"cursor": "x"})), -32602);
}

#[test]
fn modes_and_options_are_set_for_a_session() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new(), folder.path());
    let (frames, answer) = client.call("session/set_mode", &json!({"sessionId": session, "modeId": "plan"}));
    let told = json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"});
    assert_eq!((updates(&frames, &session), &answer["result"]), (vec![told], &json!({})));
    let option = json!({"sessionId": session, "configId": "model", "value": "large"});
    let options = client.call("session/set_config_option", &option).1["result"]["configOptions"].clone();
    assert_eq!((&options[0]["id"], &options[0]["currentValue"]), (&json!("model"), &json!("large")));
    let loaded = client.call("session/load", &json!({"sessionId": session})).1["result"].clone();
    assert_eq!((&loaded["modes"]["currentModeId"], &loaded["configOptions"]), (&json!("plan"), &options));
}

#[test]
fn ids_and_pages_are_as_the_script_wants_them() {
    let folder = folder();
    let script = Script::new().session_id_prefix("s-").page_size(NonZeroUsize::new(2).unwrap());
    let mut client = Client::start(script, folder.path());
    let made: Vec<String> = (0..3).map(|_| client.new_session()).collect();
    assert_eq!(made, ["s-1", "s-2", "s-3"]);
    let first = client.call("session/list", &json!({})).1["result"].clone();
    let second = client.call("session/list", &json!({"cursor": first["nextCursor"]})).1["result"].clone();
    let pages = [&first, &second].map(|page| page["sessions"].as_array().unwrap().len());
    assert_eq!(pages, [2, 1]);
    assert_eq!(second.get("nextCursor"), None);
    let mut listed: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["sessions"].as_array().unwrap())
        .map(|row| row["sessionId"].as_str().unwrap())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, made);
}
