//! Scripts for trouble with the stream: foreign output (SC-38), big frames (SC-40), slow readers
//! (SC-48).

use crate::client::{Client, chunk, folder, stopped, updates};
use sepia_scripted_agent::script::flood_text;
use sepia_scripted_agent::steps::{flood_at, raw, raw_filled, respond, text, update};
use sepia_scripted_agent::{Script, Step};
use serde_json::json;

const FOREIGN: [&str; 9] = [
    "Welcome back\n",
    "\n",
    "\u{1b}[?25l\n",
    "\"text\"\n",
    "[1]\n",
    "7\n",
    "null\n",
    "{\"level\":\"info\",\"id\":${id},\"message\":\"x\"}\n",
    "{\"jsonrpc\":\"1.0\",\"id\":${id},\"result\":{}}\n",
];

#[test]
fn sc_38_output_that_is_none_of_the_protocol() {
    let folder = folder();
    let foreign: Vec<Step> =
        FOREIGN.iter().map(|line| if line.contains('$') { raw_filled(*line) } else { raw(*line) }).collect();
    let turn = [vec![text("a")], foreign.clone(), vec![text("b")]].concat();
    let script = Script::new().on("initialize", foreign).on_prompt(turn);
    let mut client = Client::start(script, folder.path());
    let assert_foreign = |client: &Client, id: u64| {
        for line in FOREIGN {
            assert_eq!(String::from_utf8(client.line().unwrap()).unwrap(), line.replace("${id}", &id.to_string()));
        }
    };
    let id = client.request("initialize", &json!({"protocolVersion": 1}));
    assert_foreign(&client, id);
    assert_eq!(client.frame()["result"]["protocolVersion"], 1);
    let session = client.new_session();
    let id = client.send_prompt(&session, "x");
    assert_eq!(updates(&[client.frame()], &session), [chunk("a")]);
    assert_foreign(&client, id);
    assert_eq!(updates(&[client.frame()], &session), [chunk("b")]);
    assert_eq!(client.frame(), stopped(id, "end_turn"));
}

/// (a) and (b); those without end are with the raw steps.
#[test]
fn sc_40_big_frames() {
    const RESPONSE: usize = 9 << 20;
    const UPDATE: usize = 30 << 20;
    let folder = folder();
    let image = json!({"type": "image", "mimeType": "image/png", "data": format!("${{fill:{UPDATE}}}")});
    let script = Script::new().on_prompt([
        update(json!({"sessionUpdate": "agent_message_chunk", "content": image})),
        respond(json!({"stopReason": "end_turn", "_meta": {"x": format!("${{fill:{RESPONSE}}}")}})),
    ]);
    let (mut client, session) = Client::open(script, folder.path());
    let (updates, answer) = client.prompt(&session, "x");
    let length = |value: &serde_json::Value| value.as_str().unwrap().len();
    assert_eq!(length(&updates[0]["content"]["data"]), UPDATE);
    assert_eq!(length(&answer["result"]["_meta"]["x"]), RESPONSE);
}

/// A tenth of the whole, at the same rate.
#[test]
fn sc_48_chunks_of_a_kibibyte_at_a_rate() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([flood_at(10_000, 5000, 1024)]), folder.path());
    let start = std::time::Instant::now();
    let (updates, answer) = client.prompt(&session, "x");
    assert!(start.elapsed().as_millis() >= 500, "{:?}", start.elapsed());
    assert_eq!((updates.len(), answer), (5000, stopped(2, "end_turn")));
    let mut last = Vec::new();
    flood_text(5000, 1024, &mut last);
    assert_eq!(updates[4999], chunk(&String::from_utf8(last).unwrap()));
}
