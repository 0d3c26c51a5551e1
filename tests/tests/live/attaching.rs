//! Sessions go live and are let go.

use rustix::process::{Pid, Signal, kill_process};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{sleep_ms, text, wait_for_file};
use sepia_tests::Stage;
use sepia_tests::stage::{STORED, loading, prompt};
use serde_json::json;
use std::process::{Child, Command};

/// A running program that holds the stored session, as an agent's own marker says.
fn holder(stage: &Stage) -> Child {
    let child = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let marker = json!({"pid": pid, "sessionId": STORED, "cwd": stage.cwd(), "startedAt": 1, "procStart": start,
        "version": "2.1.197", "kind": "interactive", "entrypoint": "cli"});
    stage.machine.write(&format!("claude/sessions/{pid}.json"), marker.to_string());
    child
}

#[test]
fn those_who_attach_at_once_share_one_agent() {
    let stage = Stage::new(Script::new().on("session/load", [sleep_ms(200)])).with_stored();
    let mut client = stage.serve();
    client.get("events.subscribe", &json!({}));
    let asked: Vec<u64> = (0..5).map(|_| client.ask("sessions.attach", &json!({"id": STORED}))).collect();
    for id in asked {
        let attached = client.answer(id).unwrap();
        assert_eq!((&attached["attached"], &attached["agentId"]), (&json!(true), &json!("claude")));
    }
    let again = client.get("sessions.attach", &json!({"id": STORED, "model": "other", "takeover": true}));
    assert_eq!(again["attached"], true);
    assert_eq!(sepia_scripted_agent::received(&stage.record(), "initialize").len(), 1);
    assert_eq!(client.notification("node.event")["type"], "attached");
    let other = json!({"id": STORED, "agent": "devin"});
    assert_eq!(client.refusal("sessions.attach", &other).1, "conflict");
    let row = client.get("sessions.list", &json!({"cwd": stage.cwd()}))[0].clone();
    assert_eq!(row["spans"].as_array().unwrap().len(), 1, "{row}");
}

#[test]
fn a_session_that_another_program_holds_is_read_only_until_it_is_taken_over() {
    let stage = Stage::new(loading()).with_stored();
    let mut held = holder(&stage);
    let mut client = stage.serve();
    client.get("events.subscribe", &json!({}));
    let attached = client.get("sessions.attach", &json!({"id": STORED}));
    assert_eq!((&attached["attached"], &attached["readOnly"]), (&json!(false), &json!(true)));
    assert_eq!(attached["lockHolderPid"], held.id());
    assert_eq!(client.refusal("sessions.prompt", &prompt(STORED, "x")).1, "invalid");
    // The marker's process ends when it is asked to; who waits for it is this test.
    let takeover = client.ask("sessions.attach", &json!({"id": STORED, "takeover": true}));
    assert!(!held.wait().unwrap().success());
    assert_eq!(client.answer(takeover).unwrap()["attached"], true);
    let markers: Vec<_> = client.pending().into_iter().filter(|frame| frame["method"] == "node.event").collect();
    assert_eq!(markers.len(), 1, "a read-only attach tells nothing: {markers:?}");
}

#[test]
fn a_holder_that_does_not_let_go_is_named() {
    let stage = Stage::new(loading()).with_stored();
    let mut child = Command::new("sh").args(["-c", "trap '' TERM; exec sleep 600"]).spawn().unwrap();
    let pid = child.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let marker = json!({"pid": pid, "sessionId": STORED, "cwd": "/", "startedAt": 1, "procStart": start});
    stage.machine.write(&format!("claude/sessions/{pid}.json"), marker.to_string());
    let mut client = stage.serve();
    let (number, code, message) = client.refusal("sessions.attach", &json!({"id": STORED, "takeover": true}));
    assert_eq!((number, code.as_str()), (-32003, "locked"));
    assert!(message.contains(&pid.to_string()), "{message}");
    assert!(sepia_tests::processes::is_alive(pid), "it is asked, never killed");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[test]
fn a_session_that_is_live_in_one_sepia_is_read_only_in_another() {
    let stage = Stage::new(loading()).with_stored();
    let (mut one, mut two) = (stage.serve(), stage.serve());
    one.get("sessions.attach", &json!({"id": STORED}));
    assert_eq!(two.get("sessions.attach", &json!({"id": STORED}))["readOnly"], true);
    let (_, code, message) = two.refusal("sessions.attach", &json!({"id": STORED, "takeover": true}));
    assert_eq!(code, "locked");
    assert!(message.contains("another sepia"), "{message}");
    one.get("sessions.detach", &json!({"id": STORED}));
    assert_eq!(two.get("sessions.attach", &json!({"id": STORED}))["attached"], true);
}

#[test]
fn what_can_not_go_live_says_why() {
    let stage = Stage::new(Script::new());
    let mut client = stage.serve();
    assert_eq!(client.refusal("sessions.attach", &json!({"id": "nothing"})).1, "not_found");
    // Its directory is on no machine.
    let (_, code, message) = client.refusal("sessions.attach", &json!({"id": STORED}));
    assert_eq!(code, "invalid");
    assert!(message.contains("/home/dev/shop"), "{message}");
    for method in ["sessions.cancel", "sessions.subscribe"] {
        assert_eq!(client.refusal(method, &json!({"id": STORED})).1, "invalid", "{method}");
    }
    let permission = json!({"id": STORED, "request": "x"});
    assert_eq!(client.refusal("sessions.permission", &permission).1, "invalid");
}

#[test]
fn a_session_that_nobody_uses_is_let_go_and_one_that_is_followed_is_not() {
    let stage = Stage::new(Script::new()).with("SEPIA_IDLE_TTL_MS", "300").with("SEPIA_SWEEP_MS", "50");
    let mut client = stage.serve();
    client.get("events.subscribe", &json!({}));
    let followed = stage.followed(&mut client);
    let unused = stage.create(&mut client);
    loop {
        let event = client.notification("node.event");
        if event["type"] == "detached" {
            assert_eq!((&event["sessionId"], &event["reason"]), (&json!(unused), &json!("idle")));
            break;
        }
    }
    assert_eq!(client.get("events.subscribe", &json!({}))["live"], json!([followed]));
}

#[test]
fn a_model_is_chosen_in_the_session_where_the_program_takes_none() {
    let stage = Stage::new(loading()).with_stored();
    let mut client = stage.serve();
    client.get("sessions.patch_meta", &json!({"id": STORED, "patch": {"model": "preferred"}}));
    client.get("sessions.attach", &json!({"id": STORED}));
    let record = stage.record();
    let chosen = sepia_scripted_agent::received(&record, "session/set_config_option");
    assert_eq!(chosen[0]["params"]["value"], "preferred", "{chosen:?}");
}

#[test]
fn an_agent_gets_its_own_environment_and_the_directory_of_its_session() {
    let stage = Stage::new(Script::new()).with("AWS_SECRET_ACCESS_KEY", "s").with("XDG_DATA_HOME", "/nowhere");
    let mut client = stage.serve();
    stage.create(&mut client);
    let record = stage.record();
    let sepia_scripted_agent::Event::Started { environment, cwd, .. } = &record[0].event else { panic!() };
    assert_eq!(cwd.display().to_string(), stage.cwd());
    let has = |name: &str| environment.iter().any(|known| known == name);
    assert!(has("HOME") && has("PATH") && has("XDG_DATA_HOME"), "{environment:?}");
    assert!(has("CLAUDE_CONFIG_DIR"), "its store was moved, and it is told where to");
    assert!(!has("AWS_SECRET_ACCESS_KEY") && !has("SEPIA_HOME"), "{environment:?}");
}

#[test]
fn a_live_session_is_deleted_with_all_that_is_known_of_it() {
    let stage = Stage::new(loading().on_prompt([text("a")])).with_stored();
    let mut client = stage.serve();
    client.get("events.subscribe", &json!({}));
    client.get("sessions.attach", &json!({"id": STORED}));
    let id = stage.create(&mut client);
    for session in [STORED, id.as_str()] {
        client.get("sessions.prompt", &prompt(session, "go"));
        client.get("sessions.delete", &json!({"id": session}));
        let mut told = Vec::new();
        while told.len() < 2 {
            let event = client.notification("node.event");
            if event["sessionId"] == session && (event["type"] == "detached" || event["type"] == "deleted") {
                told.push(event);
            }
        }
        assert_eq!((&told[0]["type"], &told[0]["reason"]), (&json!("detached"), &json!("deleted")));
        assert_eq!(told[1]["type"], "deleted");
        assert_eq!(client.refusal("sessions.events", &json!({"id": session})).1, "not_found");
    }
    let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
    assert_eq!(rows, json!([]));
}

#[test]
fn a_session_at_work_is_not_written_and_an_idle_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let stage = Stage::new(loading().on_prompt([text("a"), wait_for_file(&gate)])).with_stored();
    let mut client = stage.serve();
    client.get("events.subscribe", &json!({}));
    client.get("sessions.attach", &json!({"id": STORED}));
    client.get("sessions.subscribe", &json!({"id": STORED}));
    let turn = client.ask("sessions.prompt", &prompt(STORED, "go"));
    client.events_until(|event| event["type"] == "textMessageContent");
    let rename = json!({"id": STORED, "title": "Another"});
    let first = client.get("sessions.history", &json!({"id": STORED}))["messages"][0]["nodeId"].clone();
    let rewind = json!({"id": STORED, "request": {"confirm": true, "nodeId": first}});
    assert_eq!(client.refusal("sessions.rename", &rename).1, "busy");
    assert_eq!(client.refusal("sessions.rewind", &rewind).1, "busy");
    std::fs::write(&gate, b"").unwrap();
    client.answer(turn).unwrap();
    client.get("sessions.rename", &rename);
    assert_eq!(client.get("events.subscribe", &json!({}))["live"], json!([STORED]), "it is live still");
    client.get("sessions.rewind", &rewind);
    loop {
        let event = client.notification("node.event");
        if event["type"] == "detached" {
            assert_eq!(event["reason"], "rewind");
            break;
        }
    }
    let stored = client.get("sessions.events", &json!({"id": STORED}));
    let last = stored["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["generation"]), (&json!("rewound"), &json!(1)));
}
