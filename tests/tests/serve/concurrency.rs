//! Requests run beside one another and are answered as they finish.

use sepia_tests::{Machine, processes};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_slow_request_holds_no_quick_one() {
    let machine = Machine::with_samples();
    machine.add_program("hangs");
    let mut client = machine.serve();
    // Its driver never answers, so it can't be answered while the others are.
    let slow = client.ask("sessions.list", &json!({"agent": "misbehaving"}));
    for _ in 0..20 {
        client.ping();
    }
    let rows = client.get("sessions.list", &json!({"agent": "claude"}));
    assert_eq!(rows.as_array().unwrap().len(), 13);
    drop(client);
    let _ = slow;
}

#[test]
fn a_session_of_one_agent_is_not_kept_by_another_agent_that_hangs() {
    let machine = Machine::with_samples();
    machine.add_program("hangs");
    let mut client = machine.serve();
    let session = json!({"id": "11111111-1111-4111-8111-000000000001", "agent": "claude"});
    assert_eq!(client.get("sessions.summary", &session)["title"], "hello shop");
}

#[test]
fn a_store_that_does_not_answer_is_named_and_hides_no_other() {
    let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "300");
    machine.add_program("hangs");
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let (sessions, warnings): (Vec<_>, Vec<_>) =
        rows.as_array().unwrap().iter().partition(|row| row["source"] != "warning");
    assert_eq!(sessions.len(), 13);
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(warning["agent"], "misbehaving");
    assert!(warning["title"].as_str().unwrap().contains("0.3 s"), "{warning}");
    // It is no session, so it stands behind all of them.
    assert_eq!(rows.as_array().unwrap().last(), Some(*warning));
}

#[test]
fn three_hundred_requests_at_once_are_each_answered_once() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let mut ids = Vec::new();
    for round in 0..100 {
        let id = format!("11111111-1111-4111-8111-0000000000{:02}", round % 12 + 1);
        ids.push(client.ask("sessions.get", &json!({"id": id})));
        ids.push(client.ask("sessions.list", &json!({"limit": 3})));
        ids.push(client.ask("no.such.method", &json!({})));
    }
    for id in ids {
        let answer = client.answer(id);
        assert_eq!(answer.is_err(), id % 3 == 0, "{id}: {answer:?}");
    }
    assert!(client.finish().frames.is_empty());
}

#[test]
fn a_line_of_many_megabytes_is_read_in_little_memory_while_others_are_served() {
    let machine = Machine::empty();
    // One result of 200 MiB on one line, among five ordinary records.
    let mut text = sepia_tests::claude::Records::of(sepia_tests::claude::S1)
        .user("read the big file", 1)
        .calls("t1", "Read", &json!({"file_path": "/p/demo/big"}), 2)
        .result("t1", "@", 3)
        .assistant("done", 4)
        .user("thanks", 5)
        .assistant("welcome", 6)
        .text()
        .to_owned();
    text = text.replacen("\"@\"", &format!("\"{}\"", "0123456789abcdef".repeat(200 << 16)), 1);
    machine.write(&format!("claude/projects/-p-demo/{}.jsonl", sepia_tests::claude::S1), text);
    let mut client = machine.serve();
    client.ping();
    let page = client.ask("sessions.history", &json!({"id": sepia_tests::claude::S1, "limit": 20}));
    let list = client.ask("sessions.list", &json!({}));
    for _ in 0..10 {
        let took = client.ping();
        assert!(took < Duration::from_millis(100), "{took:?}");
    }
    assert_eq!(client.answer(list).unwrap()[0]["title"], "read the big file");
    let page = client.answer(page).unwrap();
    assert_eq!(page["total"], 6);
    assert_eq!(page["messages"][5]["content"], "welcome");
    let peak = processes::peak_memory(client.pid());
    assert!(peak < 512 << 20, "a page took {} MiB", peak >> 20);

    let mut client = machine.serve();
    let whole = client.ask("sessions.export", &json!({"id": sepia_tests::claude::S1}));
    for _ in 0..10 {
        client.ping();
    }
    let whole = client.answer(whole).unwrap();
    assert_eq!(whole["session"]["nodes"].as_array().unwrap().len(), 6);
    let peak = processes::peak_memory(client.pid());
    assert!(peak < 512 << 20, "the whole session took {} MiB", peak >> 20);
}
