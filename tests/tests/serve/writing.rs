//! Writing over the wire: what is asked for wrongly, what is held by somebody, what is changed and
//! comes back.

use sepia_tests::claude::{Records, S1};
use sepia_tests::{Machine, tree};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};

fn session() -> Value {
    json!({
        "id": "whatever", "title": "Greeting", "workingDirectory": "/p/demo", "model": "m", "createdAt": 1.0,
        "lastActivityAt": 2.0, "mainChainId": 2, "backendType": "elsewhere", "metadata": {"kept": [1, 2]},
        "nodes": [
            {"nodeId": 1, "role": "user", "content": "Hello", "createdAt": 1.0},
            {"nodeId": 2, "parentNodeId": 1, "role": "assistant", "content": "Good day", "createdAt": 2.0, "model": "m"},
        ],
    })
}

#[test]
fn an_imported_session_is_listed_read_and_resumable() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let saved = client.get("sessions.import", &json!({"agent": "claude", "session": session()}));
    assert_eq!(saved["agentId"], "claude");
    let id = saved["id"].as_str().unwrap().to_owned();
    assert_ne!(id, "whatever", "a fresh id");
    assert_eq!(saved["resume"]["workingDirectory"], "/p/demo");
    let command: Vec<&str> =
        saved["resume"]["command"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    assert!(command.contains(&id.as_str()), "{command:?}");
    let warnings = saved["warnings"].as_array().unwrap();
    assert!(warnings[0].as_str().unwrap().contains("/p/demo does not exist"), "{warnings:?}");

    let rows = client.get("sessions.list", &json!({}));
    assert_eq!(
        (&rows[0]["id"], &rows[0]["title"], &rows[0]["cwd"]),
        (&json!(id), &json!("Greeting"), &json!("/p/demo"))
    );
    let read = client.get("sessions.get", &json!({"id": id}));
    let texts: Vec<&str> = read["nodes"].as_array().unwrap().iter().map(|n| n["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Hello", "Good day"]);
    assert_eq!(read["metadata"]["kept"], json!([1, 2]));
}

#[test]
fn what_is_asked_for_wrongly_is_refused_and_leaves_nothing() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let mut refused = |method: &str, params: Value, code: &str| {
        let (_, name, message) = client.refusal(method, &params);
        assert_eq!(name, code, "{method} {params}: {message}");
    };
    let changed = |member: &str, value: Value| {
        let mut session = session();
        session[member] = value;
        session
    };
    for (agent, session, code) in [
        ("nobody", session(), "unknown_agent"),
        ("claude", json!({"id": 7}), "invalid"),
        ("claude", json!("text"), "invalid"),
        ("claude", changed("workingDirectory", json!("")), "invalid"),
        ("claude", changed("workingDirectory", json!("relative/path")), "invalid"),
        ("claude", changed("nodes", json!([])), "invalid"),
    ] {
        refused("sessions.import", json!({"agent": agent, "session": session}), code);
    }
    refused("sessions.import", json!({"agent": "claude"}), "invalid_params");
    let titled = json!({"agent": "claude", "session": session(), "title": "two\nlines"});
    refused("sessions.import", titled, "invalid");
    for id in ["../x", "/etc/passwd", "x.jsonl", "-h", "a/b", "CON", "\u{202e}x"] {
        refused("sessions.import", json!({"agent": "claude", "session": session(), "id": id}), "invalid");
    }
    for method in ["sessions.delete", "sessions.convert", "sessions.rename", "sessions.rewind", "sessions.restore"] {
        let request = json!({"confirm": true, "turns": 1, "path": "a"});
        let request = match method {
            "sessions.rewind" => json!({"confirm": true, "turns": 1}),
            "sessions.restore" => json!({"confirm": true, "path": "a"}),
            _ => request,
        };
        for id in ["../S1", "", "absent", "--dangerous", "a\u{0}b"] {
            let params = json!({"id": id, "agent": "claude", "title": "t", "request": request});
            refused(method, params, "not_found");
        }
    }
    drop(client.finish());
    assert!(!machine.claude().join("projects").exists(), "something was written");
}

#[test]
fn an_id_is_taken_once() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let mut params = json!({"agent": "claude", "session": session(), "id": S1});
    assert_eq!(client.get("sessions.import", &params)["id"], S1);
    assert_eq!(client.refusal("sessions.import", &params).1, "conflict");
    params["replace"] = json!(true);
    params["session"]["nodes"][1]["content"] = json!("Good evening");
    let saved = client.get("sessions.import", &params);
    assert!(saved["warnings"].to_string().contains("in the trash as"), "{saved}");
    let content = |client: &mut sepia_tests::Client| {
        client.get("sessions.get", &json!({"id": S1}))["nodes"][1]["content"].clone()
    };
    assert_eq!(content(&mut client), "Good evening");
    let trash = client.get("trash.list", &json!({}));
    assert_eq!((&trash[0]["why"], &trash[0]["sessionId"]), (&json!("replaced"), &json!(S1)));
    client.get("trash.restore", &json!({"entry": trash[0]["entry"]}));
    assert_eq!(content(&mut client), "Good day");
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let machine = Machine::with_samples();
    let before = tree::fingerprint(&machine.claude());
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({"topLevel": true}));
    let id = &rows[0]["id"];
    let told = client.get("sessions.convert", &json!({"id": id, "agent": "claude", "dryRun": true, "cwd": "/p/demo"}));
    assert_eq!(told["dryRun"], true);
    let told = client.get("sessions.delete", &json!({"id": id, "dryRun": true}));
    assert!(!told["removed"].as_array().unwrap().is_empty());
    let told = client.get("sessions.rewind", &json!({"id": id, "request": {"turns": 1, "dryRun": true}}));
    assert!(told["removed"].as_u64().unwrap() > 0);
    assert_eq!(tree::fingerprint(&machine.claude()), before);
    assert!(!machine.sepia_home().join("trash").exists());
}

/// Field case SC-33: a marker of a process that runs, of one that is gone, and of a number that was given again.
#[test]
fn a_session_that_is_held_is_left_alone() {
    for (ticks, pid, held) in [(None, None, true), (None, Some(4_194_303), false), (Some("1"), None, false)] {
        let machine = Machine::empty();
        let records = Records::of(S1).user("Hello", 1).assistant("Good day", 2);
        machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), records.text());
        let mut agent = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", agent.id())).unwrap();
        let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
        let pid = pid.unwrap_or(agent.id());
        let marker = json!({"pid": pid, "sessionId": S1, "cwd": "/p/demo", "procStart": ticks.unwrap_or(&started)});
        machine.write(&format!("claude/sessions/{pid}.json"), marker.to_string());
        let mut client = machine.serve();
        let rewind = json!({"id": S1, "request": {"confirm": true, "turns": 1}});
        if held {
            let (_, code, message) = client.refusal("sessions.delete", &json!({"id": S1}));
            assert_eq!(code, "locked");
            assert!(message.contains(&format!("process {pid}")), "{message}");
            assert_eq!(client.refusal("sessions.rewind", &rewind).1, "locked");
            client.get("sessions.delete", &json!({"id": S1, "force": true}));
        } else {
            client.get("sessions.delete", &json!({"id": S1}));
        }
        assert_eq!(client.get("sessions.list", &json!({})), json!([]));
        agent.kill().unwrap();
        agent.wait().unwrap();
    }
}

#[test]
fn a_session_is_cut_back_by_turns_and_by_node() {
    let machine = Machine::empty();
    let records = Records::of(S1).user("one", 1).assistant("1", 2).user("two", 3).assistant("2", 4).user("three", 5);
    machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), records.text());
    let mut client = machine.serve();
    let history = |client: &mut sepia_tests::Client| -> Vec<String> {
        let page = client.get("sessions.history", &json!({"id": S1}));
        page["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap().to_owned()).collect()
    };
    for wrong in [
        json!({"turns": 1}),
        json!({"confirm": true}),
        json!({"confirm": true, "turns": 1, "nodeId": 1}),
        json!({"confirm": true, "turns": 0}),
        json!({"confirm": true, "nodeId": 999}),
        json!({"confirm": true, "checkpoint": "absent"}),
    ] {
        assert_eq!(client.refusal("sessions.rewind", &json!({"id": S1, "request": wrong})).1, "invalid", "{wrong}");
    }
    assert_eq!(history(&mut client), ["one", "1", "two", "2", "three"]);
    let done = client.get("sessions.rewind", &json!({"id": S1, "request": {"confirm": true, "turns": 2}}));
    assert_eq!((&done["kept"], &done["removed"]), (&json!(2), &json!(3)));
    assert_eq!(history(&mut client), ["one", "1"]);
    let nodes = client.get("sessions.get", &json!({"id": S1}));
    let first = &nodes["nodes"][0]["nodeId"];
    client.get("sessions.rewind", &json!({"id": S1, "request": {"confirm": true, "nodeId": first}}));
    assert_eq!(history(&mut client), ["one"]);
}

#[test]
fn recorded_changes_are_undone_inside_of_the_working_directory() {
    let machine = Machine::empty();
    let cwd = machine.place("work");
    fs::create_dir(&cwd).unwrap();
    fs::write(cwd.join("a.txt"), "two\n").unwrap();
    fs::write(machine.place("outside.txt"), "keep").unwrap();
    let mut session = session();
    session["workingDirectory"] = json!(cwd);
    let diff = |path: &str, old: &str, new: &str| json!({"path": path, "oldText": old, "newText": new});
    session["nodes"][1]["toolCalls"] = json!([{
        "id": "call_1", "name": "Edit", "arguments": {"file_path": "a.txt"}, "status": "success",
        "diffs": [diff("a.txt", "one\n", "two\n"), diff("../outside.txt", "gone", "keep")],
    }]);
    session["nodes"].as_array_mut().unwrap().push(json!({
        "nodeId": 3, "parentNodeId": 2, "role": "tool", "content": "done", "toolCallId": "call_1", "toolName": "Edit",
        "createdAt": 3.0, "toolResult": {"status": "success"},
    }));
    session["mainChainId"] = json!(3);
    let mut client = machine.serve();
    let id = client.get("sessions.import", &json!({"agent": "claude", "session": session}))["id"].clone();
    let mut restore = |request: Value| client.call("sessions.restore", &json!({"id": id, "request": request}));
    let code = |answer: Result<Value, Value>| answer.unwrap_err()["data"]["code"].clone();
    assert_eq!(code(restore(json!({"path": "a.txt"}))), "invalid");
    assert_eq!(code(restore(json!({"confirm": true, "path": "../outside.txt"}))), "invalid");
    assert_eq!(code(restore(json!({"confirm": true, "path": "/etc/passwd"}))), "invalid");
    let told = restore(json!({"path": "a.txt", "dryRun": true})).unwrap();
    assert_eq!(told["restored"][0]["action"], "written");
    assert_eq!(fs::read_to_string(cwd.join("a.txt")).unwrap(), "two\n");
    let done = restore(json!({"confirm": true, "path": "a.txt"})).unwrap();
    let file = cwd.canonicalize().unwrap().join("a.txt");
    assert_eq!(done["restored"], json!([{"path": file, "action": "written", "bytes": 4}]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    let again = restore(json!({"confirm": true, "path": "a.txt"})).unwrap();
    assert_eq!((&again["restored"], again["skipped"][0]["path"].as_str()), (&json!([]), Some("a.txt")));
    assert_eq!(fs::read_to_string(machine.place("outside.txt")).unwrap(), "keep");
}

/// A program of the first version of the wire has no trash, and tells no parts.
#[test]
fn a_program_without_the_extension_deletes_for_good_when_that_is_asked_for() {
    let machine = Machine::empty();
    machine.add_program("deletes");
    let mut client = machine.serve();
    let ids = |client: &mut sepia_tests::Client| {
        let rows = client.get("sessions.list", &json!({"agent": "misbehaving"}));
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let before = ids(&mut client);
    assert_eq!(before.len(), 2);
    let (_, code, message) = client.refusal("sessions.delete", &json!({"id": "s0"}));
    assert_eq!(code, "unsupported");
    assert!(message.contains("`permanently`"), "{message}");
    assert_eq!(ids(&mut client), before, "nothing was deleted");
    let done = client.get("sessions.delete", &json!({"id": "s0", "permanently": true}));
    assert_eq!((&done["removed"], &done["failed"], done.get("trash")), (&json!([]), &json!([]), None));
    assert_eq!(ids(&mut client), ["s1"]);
    assert_eq!(client.refusal("sessions.delete", &json!({"id": "s0", "permanently": true})).1, "not_found");
    assert_eq!(client.get("trash.list", &json!({})), json!([]));
}

#[test]
fn what_a_program_says_of_a_deletion_is_looked_at() {
    let machine = Machine::empty();
    machine.add_program("pretends-to-delete");
    let mut client = machine.serve();
    let (_, code, message) = client.refusal("sessions.delete", &json!({"id": "s0", "permanently": true}));
    assert_eq!(code, "internal");
    assert!(message.contains("still there"), "{message}");
}

#[test]
fn what_is_imported_has_its_span_when_the_program_ends() {
    let machine = Machine::empty();
    let file = machine.write("session.json", session().to_string());
    let spans = || -> Value {
        let meta = fs::read(machine.sepia_home().join("meta.json")).unwrap();
        serde_json::from_slice::<Value>(&meta).unwrap()["sessions"].take()
    };
    let told = machine.run(&["import", &file.display().to_string(), "--to", "claude", "--json"]).ok();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(spans()[told["id"].as_str().unwrap()]["spans"][0]["agent"], "claude");
    let mut client = machine.serve();
    let second = client.get("sessions.import", &json!({"agent": "claude", "session": session()}))["id"].take();
    assert!(client.finish().status.success());
    assert_eq!(spans()[second.as_str().unwrap()]["spans"][0]["agent"], "claude");
}

#[test]
fn an_imported_session_has_a_span_and_a_converted_one_has_none_yet() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let node = client.get("manifest", &json!({}))["node"]["id"].take();
    let mut import = json!({"agent": "claude", "session": session(), "id": S1, "dryRun": true});
    client.get("sessions.import", &import);
    let meta = || fs::read_to_string(machine.sepia_home().join("meta.json")).unwrap_or_default();
    assert!(!meta().contains("spans"), "a dry run notes nothing");
    import["dryRun"] = json!(false);
    client.get("sessions.import", &import);
    import["replace"] = json!(true);
    client.get("sessions.import", &import);
    let copy = client.get("sessions.convert", &json!({"id": S1, "agent": "cline"}));
    let rows = client.get("sessions.list", &json!({}));
    let row = |id: &Value| rows.as_array().unwrap().iter().find(|row| row["id"] == *id).unwrap();
    let spans = row(&json!(S1))["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 1, "one that goes on is not noted again: {spans:?}");
    assert_eq!((&spans[0]["agent"], &spans[0]["node"]), (&json!("claude"), &node));
    assert!(spans[0]["at"].as_i64().unwrap() > 1_700_000_000_000, "epoch milliseconds: {spans:?}");
    assert_eq!(row(&copy["sessionId"])["spans"], json!([]));
}
