//! Pauses, events, gates.

use crate::client::{Client, LIMIT, chunk, folder, stopped, updates};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{
    echo, late, no_answer, repeat, sleep_ms, text, touch, wait_for_cancel, wait_for_file,
};
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn a_pause_lasts_as_long_as_it_is_to() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([sleep_ms(30)]), folder.path());
    let start = Instant::now();
    client.prompt(&session, "x");
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[test]
fn files_are_gates_and_signs() {
    let folder = folder();
    let (gate, sign) = (folder.path().join("gate"), folder.path().join("sign"));
    let script = Script::new().on_prompt([text("a"), touch(&sign), wait_for_file(&gate), text("b")]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    assert_eq!(updates(&[client.frame()], &session), [chunk("a")]);
    let end = Instant::now() + LIMIT;
    while !sign.exists() {
        assert!(Instant::now() < end);
        std::thread::yield_now();
    }
    fs::write(gate, "").unwrap();
    let (frames, _) = client.until_answer(id);
    assert_eq!(updates(&frames, &session), [chunk("b")]);
}

#[test]
fn a_cancel_ends_every_wait_at_once() {
    let folder = folder();
    let steps = [
        vec![sleep_ms(3_600_000)],
        vec![wait_for_file("/nowhere/at/all")],
        vec![repeat(u64::MAX, [sleep_ms(1)])],
        vec![repeat(2, [sleep_ms(3_600_000)]), text("never")],
    ];
    let mut script = Script::new();
    for steps in steps.clone() {
        script = script.on_prompt([vec![text("here")], steps].concat());
    }
    let (mut client, session) = Client::open(script, folder.path());
    for _ in steps {
        let id = client.send_prompt(&session, "x");
        assert_eq!(updates(&[client.frame()], &session), [chunk("here")]);
        client.cancel(&session);
        assert_eq!(client.frame(), stopped(id, "cancelled"));
    }
}

#[test]
fn a_cancel_leads_to_where_it_is_waited_for() {
    let folder = folder();
    let script = Script::new()
        .on_prompt([text("here"), sleep_ms(3_600_000), text("skipped"), wait_for_cancel(), text("bye")])
        .on_prompt([echo()]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    client.frame();
    client.cancel(&session);
    let (frames, answer) = client.until_answer(id);
    assert_eq!(updates(&frames, &session), [chunk("bye")]);
    assert_eq!(answer, stopped(id, "cancelled"));
    assert_eq!(client.prompt(&session, "next"), (vec![chunk("next")], stopped(id + 1, "end_turn")));
}

#[test]
fn an_agent_that_ignores_a_cancel_goes_on() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new().ignoring_cancel().on_prompt([text("here"), wait_for_file(&gate), text("on")]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    client.frame();
    client.cancel(&session);
    client.wait_for(|event| event.method() == Some("session/cancel"));
    fs::write(gate, "").unwrap();
    let (frames, answer) = client.until_answer(id);
    assert_eq!(updates(&frames, &session), [chunk("on")]);
    assert_eq!(answer, stopped(id, "end_turn"));
}

#[test]
fn late_steps_come_after_the_answer_and_before_the_next_prompt() {
    let folder = folder();
    let script = Script::new()
        .on_prompt([late([text("late")]), text("early")])
        .on_prompt([no_answer(), late([text("instead of an answer")])])
        .on_prompt([text("next")]);
    let (mut client, session) = Client::open(script, folder.path());
    let first = client.send_prompt(&session, "1");
    client.send_prompt(&session, "2");
    let third = client.send_prompt(&session, "3");
    let frames: Vec<_> = (0..6).map(|_| client.frame()).collect();
    assert_eq!(updates(&frames[..1], &session), [chunk("early")]);
    assert_eq!(frames[1], stopped(first, "end_turn"));
    assert_eq!(updates(&frames[2..5], &session), ["late", "instead of an answer", "next"].map(chunk));
    assert_eq!(frames[5], stopped(third, "end_turn"));
}
