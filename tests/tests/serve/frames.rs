//! Lines that are no requests, ids of every kind, and params of every shape: each costs itself
//! alone.

use sepia_tests::Machine;
use sepia_tests::client::parts;
use serde_json::{Value, json};

#[test]
fn ids_come_back_as_they_were_written() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let ids = [
        "1",
        "0",
        "-1",
        "-0",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1.0",
        "1.50",
        "-2.5E-3",
        "null",
        "\"\"",
        "\"a\"",
        "\"\\u0041\\/\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\u{2028}\"",
        "\"ü 日本\"",
        "\"\\\"\"",
    ];
    for id in ids {
        for method in ["manifest", "no.such", "sessions.get"] {
            client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
            let frame = client.next_frame();
            // What some take for a line end is sent as an escape, which means the same.
            let expected = format!(r#""id":{},"#, id.replace('\u{2028}', "\\u2028"));
            assert!(frame.contains(&expected), "{id} became {frame:.120}");
        }
    }
    assert!(client.finish().frames.is_empty());
}

/// What a bad line is answered with: the id, the number and `data.code`.
fn answer_to(line: &[u8]) -> (Value, i64, String) {
    let machine = Machine::empty();
    let mut client = machine.serve();
    client.send_raw(line);
    client.send_raw("\n");
    let frame = client.next();
    let (number, code, _) = parts(&frame["error"]);
    // The next line is served.
    client.ping();
    let ended = client.finish();
    assert!(ended.status.success() && ended.frames.is_empty(), "{ended:?}");
    (frame["id"].clone(), number, code)
}

#[test]
fn lines_that_are_no_requests_are_answered_and_passed() {
    let parse = |line: &[u8]| assert_eq!(answer_to(line), (Value::Null, -32700, "parse_error".into()), "{line:?}");
    parse(b"{");
    parse(b"hello");
    parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"manifest\"} x");
    parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mani\xfffest\"}");
    parse(b"\xff\xfe");
    parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"manifest\",}");
    let invalid = |line: &str, id: Value| {
        assert_eq!(answer_to(line.as_bytes()), (id, -32600, "invalid_request".into()), "{line}");
    };
    invalid("7", Value::Null);
    invalid("null", Value::Null);
    invalid("\"manifest\"", Value::Null);
    invalid("[]", Value::Null);
    invalid(r#"[{"jsonrpc":"2.0","id":1,"method":"manifest"}]"#, Value::Null);
    invalid(r#"{"id":1,"method":"manifest"}"#, json!(1));
    invalid(r#"{"jsonrpc":"1.0","id":2,"method":"manifest"}"#, json!(2));
    invalid(r#"{"jsonrpc":2.0,"id":"c","method":"manifest"}"#, json!("c"));
    invalid(r#"{"jsonrpc":"2.0","id":4}"#, json!(4));
    invalid(r#"{"jsonrpc":"2.0","id":4,"method":7}"#, json!(4));
    invalid(r#"{"jsonrpc":"2.0","id":4,"method":null}"#, json!(4));
    invalid(r#"{"jsonrpc":"2.0","id":{},"method":"manifest"}"#, Value::Null);
    invalid(r#"{"jsonrpc":"2.0","id":true,"method":"manifest"}"#, Value::Null);
}

#[test]
fn a_frame_over_the_limit_costs_itself_alone() {
    let machine = Machine::empty().with("SEPIA_MAX_FRAME_MB", "1");
    let mut client = machine.serve();
    let frame_of = |bytes: usize| {
        let empty = r#"{"jsonrpc":"2.0","id":1,"method":"manifest","params":{"x":""}}"#;
        empty.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - empty.len())))
    };
    client.send(&frame_of(1 << 20));
    assert!(client.next()["result"].is_object(), "a frame at the limit");
    for bytes in [(1 << 20) + 1, 5 << 20] {
        client.send(&frame_of(bytes));
        let frame = client.next();
        let (number, code, message) = parts(&frame["error"]);
        assert_eq!((number, code.as_str()), (-32700, "parse_error"));
        assert!(message.contains(&bytes.to_string()) && message.contains("SEPIA_MAX_FRAME_MB"), "{message}");
        client.ping();
    }
    assert!(client.finish().status.success());
}

#[test]
fn only_the_line_feed_ends_a_frame() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let frame = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"manifest"}}"#);
    client.send_raw(format!("\u{feff}{}\r\n\n\r\n   \n\t\n{}\n", frame(1), frame(2)));
    client.send_raw("{\"jsonrpc\":\"2.0\",\"id\":\"\u{2028}\u{85}\",\r\"method\":\"manifest\"}\n");
    // Without a line feed, at the end of the input.
    client.send_raw(frame(4));
    let ended = client.finish();
    let mut ids: Vec<_> = ended.frames.iter().map(|frame| frame["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"\u{2028}\u{85}\"", "1", "2", "4"]);
    assert!(ended.frames.iter().all(|frame| frame["result"].is_object()));
}

#[test]
fn a_frame_may_come_in_pieces() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for byte in format!("{}\n", r#"{"jsonrpc":"2.0","id":"ü","method":"manifest"}"#).bytes() {
        client.send_raw([byte]);
    }
    assert_eq!(client.next()["id"], "ü");
}

#[test]
fn params_may_be_absent_and_have_to_be_an_object() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let mut ask = |params: &str| {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"sessions.list"{params}}}"#));
        client.next()
    };
    for fine in ["", r#","params":null"#, r#","params":{}"#, r#", "params" : { "unheardOf": [1] } "#] {
        assert!(ask(fine)["result"].is_array(), "{fine}");
    }
    for wrong in [
        "[]",
        "[{}]",
        "7",
        "\"x\"",
        "false",
        r#"{"limit":-1}"#,
        r#"{"limit":1.5}"#,
        r#"{"limit":"2"}"#,
        r#"{"since":"yesterday"}"#,
        r#"{"since":[]}"#,
        r#"{"agent":7}"#,
        r#"{"cwd":{}}"#,
        r#"{"withLocks":"yes"}"#,
        r#"{"limit":99999999999999999999}"#,
        r#"{"limit":1,"limit":2}"#,
    ] {
        let frame = ask(&format!(r#","params":{wrong}"#));
        let (number, code, message) = parts(&frame["error"]);
        assert_eq!((number, code.as_str()), (-32602, "invalid_params"), "{wrong}");
        assert!(message.contains("sessions.list"), "{message}");
    }
}

#[test]
fn every_method_says_which_of_its_params_is_wrong() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for method in ["sessions.get", "sessions.summary", "sessions.export", "sessions.history"] {
        for (params, named) in
            [(json!({}), "id"), (json!({"id": 7}), "string"), (json!({"id": "x", "agent": 1}), "string")]
        {
            let (number, code, message) = client.refusal(method, &params);
            assert_eq!((number, code.as_str()), (-32602, "invalid_params"), "{method} {params}");
            assert!(message.contains(named), "{message}");
        }
    }
    for params in [
        json!({"id": "x", "limit": -1}),
        json!({"id": "x", "before": -1}),
        json!({"id": "x", "before": 0.5}),
        json!({"id": "x", "branch": "dead"}),
    ] {
        assert_eq!(client.refusal("sessions.history", &params).1, "invalid_params", "{params}");
    }
}

#[test]
fn depth_breaks_nothing() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"sessions.list","params":{{"agent":{deep}}}}}"#));
        assert_eq!(parts(&client.next()["error"]).1, "invalid_params");
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"sessions.list","params":{deep}}}"#));
        let answer = client.next();
        assert!(answer["id"] == 2 && (answer["error"].is_object() || answer["result"].is_array()));
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"sessions.list"}}"#));
        assert_eq!(client.next()["id"], Value::Null);
    }
    client.ping();
    assert!(client.finish().status.success());
}

#[test]
fn notifications_and_responses_get_no_answer() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    client.send(r#"{"jsonrpc":"2.0","method":"sessions.list"}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"no.such","params":[]}"#);
    client.send(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":6,"error":{"code":1,"message":"x"}}"#);
    client.ping();
    assert!(client.finish().frames.is_empty());
}
