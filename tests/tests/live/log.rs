//! What is stored of live sessions, and following it from a place on.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{flood, text, thought, tool};
use sepia_tests::processes::wait_until;
use sepia_tests::stage::{prompt, text_of};
use sepia_tests::{Client, Stage};
use serde_json::{Value, json};

fn types(events: &Value) -> Vec<&str> {
    events.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn the_facts_of_a_turn_are_numbered_and_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new().store(folder.path().join("agent")).session_id("s").on_prompt([
        thought("hm"),
        text("one "),
        text("two"),
        tool("t", "Read a", "content"),
        text("end"),
    ]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    let nothing = client.get("sessions.events", &json!({"id": id}));
    assert_eq!((&nothing["events"], &nothing["last"]), (&json!([]), &json!(0)));
    client.get("sessions.prompt", &prompt(&id, "go"));
    let stored = client.get("sessions.events", &json!({"id": id}));
    let expected = [
        "inputMessage",
        "runStarted",
        "messageComplete",
        "messageComplete",
        "toolCallStarted",
        "toolCallEnded",
        "messageComplete",
        "runFinished",
    ];
    assert_eq!(types(&stored["events"]), expected);
    let events = stored["events"].as_array().unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=8).collect::<Vec<_>>());
    assert!(events.is_sorted_by(|a, b| a["id"].as_str() < b["id"].as_str()));
    assert_eq!(events[0]["data"]["content"], json!([{"type": "text", "text": "go"}]));
    assert_eq!((&events[3]["data"]["text"], &events[3]["data"]["role"]), (&json!("one two"), &json!("assistant")));
    assert_eq!(events[7]["data"]["stopReason"], "end_turn");
    assert!(events.iter().all(|event| event["turnId"] == events[0]["turnId"] && event["generation"] == 0));
    let page = client.get("sessions.events", &json!({"id": id, "after": 2, "limit": 2}));
    assert_eq!(types(&page["events"]), expected[2..4]);
    assert_eq!((&page["last"], &page["first"]), (&json!(8), &json!(1)));
    assert!(client.finish().status.success());

    let mut next = stage.serve();
    let again = next.get("sessions.events", &json!({"id": id}));
    assert_eq!(again, stored);
    for (params, code) in [
        (json!({"id": id, "limit": 0}), "invalid"),
        (json!({"id": id, "after": 9}), "invalid"),
        (json!({"id": "nobody"}), "not_found"),
    ] {
        assert_eq!(next.refusal("sessions.events", &params).1, code, "{params}");
    }
}

/// Sequences of the facts in a notification.
fn sequences(params: &Value) -> Vec<u64> {
    let facts = params["facts"].as_array().map_or(&[][..], Vec::as_slice);
    facts.iter().map(|fact| fact["sequence"].as_u64().unwrap()).collect()
}

/// Follows from a place on until the fact `last` was told; all sequences that were.
fn follow(client: &mut Client, id: &str, after: u64, last: u64) -> Vec<u64> {
    client.get("sessions.subscribe", &json!({"id": id, "after": after}));
    let mut told = Vec::new();
    while told.last() != Some(&last) {
        told.extend(sequences(&client.notification("session.event")));
    }
    told
}

#[test]
fn following_from_a_place_tells_each_fact_once() {
    let stage = Stage::new(Script::new().on_prompt([text("a"), tool("t", "T", "x"), text("b")]));
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    for _ in 0..3 {
        client.get("sessions.prompt", &prompt(&id, "go"));
    }
    let last = client.get("sessions.events", &json!({"id": id}))["last"].as_u64().unwrap();
    for after in [0, 1, 5, last - 1] {
        assert_eq!(follow(&mut client, &id, after, last), (after + 1..=last).collect::<Vec<_>>(), "after {after}");
    }
    let (_, code, message) = client.refusal("sessions.subscribe", &json!({"id": id, "after": last + 1}));
    assert_eq!(code, "invalid");
    assert!(message.contains("another session"), "{message}");
}

#[test]
fn whoever_begins_at_any_moment_has_neither_hole_nor_repeat() {
    const TURNS: u64 = 30;
    let stage = Stage::new(Script::new().on_prompt([text("a"), tool("t", "T", "x"), flood(50, 20)]));
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    let turns: Vec<u64> = (0..TURNS)
        .map(|_| {
            let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
            // A subscription in the middle of it.
            client.get("sessions.subscribe", &json!({"id": id, "after": 0}));
            client.answer(turn).unwrap();
            turn
        })
        .collect();
    assert_eq!(turns.len() as u64, TURNS);
    let last = client.get("sessions.events", &json!({"id": id}))["last"].as_u64().unwrap();
    client.get("sessions.detach", &json!({"id": id}));
    // All subscriptions share the stream of this client: each tells every fact once.
    let mut times = vec![0_u64; usize::try_from(last).unwrap() + 1];
    for frame in client.finish().frames {
        for sequence in sequences(&frame["params"]) {
            times[usize::try_from(sequence).unwrap()] += 1;
        }
    }
    assert!(times[1..].iter().all(|count| *count == TURNS), "{times:?}");
}

#[test]
fn with_a_place_the_pieces_come_too() {
    let stage = Stage::new(Script::new().on_prompt([text("a"), text("b")]));
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    client.get("sessions.subscribe", &json!({"id": id, "after": 0}));
    client.get("sessions.prompt", &prompt(&id, "go"));
    let events = client.turn_events();
    assert_eq!(text_of(&events), "ab");
}

#[test]
fn facts_that_are_no_longer_kept_are_a_gap() {
    let script = Script::new().on_prompt([text("x".repeat(200 << 10))]);
    let stage = Stage::new(script).with("SEPIA_EVENTS_MAX_MB", "1");
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    wait_until("facts are gone", || {
        client.get("sessions.prompt", &prompt(&id, "go"));
        client.get("sessions.events", &json!({"id": id, "limit": 1}))["first"].as_u64().unwrap() > 1
    });
    client.get("sessions.subscribe", &json!({"id": id, "after": 0}));
    let told = client.notification("session.event");
    let to = told["gap"]["to"].as_u64().unwrap();
    assert_eq!((&told["gap"]["from"], &told["events"]), (&json!(1), &json!([])));
    let page = client.get("sessions.events", &json!({"id": id, "after": to}));
    let last = page["last"].as_u64().unwrap();
    let mut rest = Vec::new();
    while rest.last() != Some(&last) {
        let next = client.notification("session.event");
        assert!(next.get("gap").is_none(), "{next}");
        rest.extend(sequences(&next));
    }
    assert_eq!(rest, (to + 1..=last).collect::<Vec<_>>());
    // What is read from before them begins with the oldest that is kept.
    let all = client.get("sessions.events", &json!({"id": id}));
    assert_eq!(all["events"][0]["sequence"], all["first"]);
}

#[test]
fn a_full_disk_ends_no_turn_and_takes_nothing_that_was_stored() {
    let script =
        Script::new().on_prompt_with("large", [text("x".repeat(900 << 10))]).on_prompt_with("small", [text("a")]);
    let stage = Stage::new(script);
    // The log and what goes into it next are files of at most some 4 MB.
    let mut client = stage.machine.serve_on_full_disk(8_000);
    let id = stage.followed(&mut client);
    let mut turns = 0;
    wait_until("the log is full", || {
        turns += 1;
        assert_eq!(client.get("sessions.prompt", &prompt(&id, "large"))["stopReason"], "end_turn");
        let events = client.turn_events();
        assert_eq!(text_of(&events).len(), 900 << 10);
        events.iter().any(|event| event["name"] == "sepia:log_failed")
    });
    assert!(turns > 2, "{turns}");
    let stored = client.get("sessions.events", &json!({"id": id}));
    // There is room again.
    let limit = rustix::process::Rlimit { current: None, maximum: None };
    let pid = rustix::process::Pid::from_raw(client.pid().cast_signed());
    rustix::process::prlimit(pid, rustix::process::Resource::Fsize, limit).unwrap();
    client.get("sessions.prompt", &prompt(&id, "small"));
    let after = client.get("sessions.events", &json!({"id": id, "limit": 1000}));
    let before = stored["events"].as_array().unwrap();
    let events = after["events"].as_array().unwrap();
    assert_eq!(&events[..before.len()], before.as_slice());
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        types(&after["events"])[events.len() - 4..],
        ["inputMessage", "runStarted", "messageComplete", "runFinished"]
    );
    // Every turn of which the beginning is stored has an end.
    let count = |kind| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(count("runStarted"), count("runFinished"));
}
