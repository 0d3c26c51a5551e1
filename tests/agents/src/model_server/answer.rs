//! What the server answers: the Anthropic Messages API, as far as the programs ask for it.
//!
//! A streamed answer is sent whole: its events are the same, and nothing here tests how a
//! program shows a text that is still coming.

use super::rule::Answer;
use serde_json::{Value, json};
use std::io::Cursor;
use tiny_http::{Header, Method, Response};

type Sent = Response<Cursor<Vec<u8>>>;

/// Whether a turn of the model is asked for.
pub(super) fn is_turn(method: &Method, url: &str) -> bool {
    *method == Method::Post && path(url).ends_with("/messages")
}

/// The answer to a request; `said` is what the model says when a turn is asked for. No two have
/// one `number`: a program takes messages with the same id for pieces of one.
pub(super) fn to(method: &Method, url: &str, body: &Value, said: &Answer, number: u64) -> Sent {
    let path = path(url);
    match method {
        // Asked by one program before its first turn, to see whether anybody is there.
        Method::Head => Response::from_data(Vec::new()),
        Method::Post if path.ends_with("/messages/count_tokens") => json(200, &json!({"input_tokens": 10})),
        Method::Post if path.ends_with("/messages") => turn(body, said, number),
        Method::Get if path.ends_with("/models") => json(200, &json!({"data": [], "has_more": false})),
        _ => {
            let error = json!({"type": "not_found_error", "message": format!("there is no {path}")});
            json(404, &json!({"type": "error", "error": error}))
        }
    }
}

fn path(url: &str) -> &str {
    url.split('?').next().unwrap_or_default().trim_end_matches('/')
}

/// A turn of the model: one block, and why it stops there.
fn turn(body: &Value, said: &Answer, number: u64) -> Sent {
    let message = |content: Value, stop: Value| {
        json!({
            "id": format!("msg_loopback_{number}"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    };
    let (whole, begun, delta, stop) = match said {
        Answer::Text(text) => (
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Answer::Call { id, tool, input, .. } => (
            json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
            json!({"type": "tool_use", "id": id, "name": tool, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            "tool_use",
        ),
    };
    if body["stream"] != true {
        return json(200, &message(json!([whole]), stop.into()));
    }
    let events = [
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": begun}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ];
    let frame = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    let text: String = events.iter().map(frame).collect();
    typed(Response::from_data(text.into_bytes()), "text/event-stream")
}

fn json(status: u16, body: &Value) -> Sent {
    typed(Response::from_data(body.to_string().into_bytes()).with_status_code(status), "application/json")
}

fn typed(answer: Sent, kind: &str) -> Sent {
    // Only a value that is no ASCII is refused, and those here are constants.
    match Header::from_bytes("Content-Type", kind) {
        Ok(header) => answer.with_header(header),
        Err(()) => answer,
    }
}
