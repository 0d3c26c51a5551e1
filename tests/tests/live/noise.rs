//! SC-38: what an agent writes between its frames ends nothing and reaches nobody.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{raw, raw_filled, raw_repeat, text, wait_for_cancel};
use sepia_tests::Stage;
use sepia_tests::stage::{kinds, prompt, text_of};
use serde_json::json;

const NOISE: [&str; 8] = [
    "Welcome back\n",
    "\n",
    "\u{1b}[?25l\n",
    "\"text\"\n",
    "[1]\n",
    "7\n",
    "null\n",
    "{\"level\":\"info\",\"id\":0,\"message\":\"x\"}\n",
];

#[test]
fn noise_before_and_between_frames_is_counted_and_passed_over() {
    let noise =
        || NOISE.map(raw).into_iter().chain([raw_filled("{\"jsonrpc\":\"1.0\",\"id\":\"${id}\",\"result\":{}}\n")]);
    let script = Script::new()
        .on("initialize", noise())
        .on_prompt([text("one ")].into_iter().chain(noise()).chain([text("two")]).collect::<Vec<_>>());
    let stage = Stage::new(script).with("SEPIA_LOG", "info");
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    let events = client.turn_events();
    assert_eq!(text_of(&events), "one two");
    assert_eq!(kinds(&events).len(), 6, "{events:?}");
    client.get("sessions.detach", &json!({"id": id}));
    let ended = client.finish();
    // Of nine lines each, one is blank and none at all.
    assert!(ended.stderr.contains("wrote 16 lines to its stdout that were no messages"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_never_speaks_the_protocol_fails_with_its_first_words() {
    let script =
        Script::new().on("initialize", [raw("\u{1b}[31mUsage: agent\n"), raw_repeat("no such command\n", 2_000)]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let error = client.call("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude"})).unwrap_err();
    assert_eq!(error["data"]["code"], "internal");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`Usage: agent`") && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn a_question_that_is_none_is_answered_as_such() {
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"q7\",\"method\":5}\n";
    let stage = Stage::new(Script::new().on("initialize", [raw(line)]).on_prompt([raw(line), text("done")]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert_eq!(text_of(&client.turn_events()), "done");
    client.get("sessions.detach", &json!({"id": id}));
    let answers: Vec<_> = stage
        .record()
        .iter()
        .filter_map(|record| record.event.frame().filter(|frame| frame["id"] == "q7"))
        .map(|frame| frame["error"]["code"].clone())
        .collect();
    assert_eq!(answers, [json!(-32600), json!(-32600)]);
}

#[test]
fn an_answer_that_is_not_whole_ends_its_turn_at_once() {
    for (line, why) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":${id}}\n", "`method`, `result` or `error`"),
        ("{\"jsonrpc\":\"2.0\",\"id\":${id},\"error\":\"boom\"}\n", "`code` and `message`"),
        ("{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}\n", "not both"),
    ] {
        // Without it the turn would wait for ever: nothing else ends it.
        let stage = Stage::new(Script::new().on_prompt([raw_filled(line), wait_for_cancel()]));
        let mut client = stage.serve();
        let id = stage.followed(&mut client);
        let error = client.call("sessions.prompt", &prompt(&id, "go")).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("its answer is none") && message.contains(why), "{message}");
        assert_eq!(client.turn_events().last().unwrap()["type"], "runFinished");
    }
}
