//! What the server answers: the Anthropic Messages API, as far as the programs ask for it.
//!
//! A streamed answer is sent whole: its events are the same, and nothing here tests how a
//! program shows a text that is still coming.

use serde_json::{Value, json};
use std::io::Cursor;
use tiny_http::{Header, Method, Response};

/// The answer to every turn.
pub(crate) const TEXT: &str = "Understood, and noted.";

type Answer = Response<Cursor<Vec<u8>>>;

/// The answer to a request.
pub(super) fn to(method: &Method, url: &str, body: &Value) -> Answer {
    let path = url.split('?').next().unwrap_or_default().trim_end_matches('/');
    match method {
        // Asked by one program before its first turn, to see whether anybody is there.
        Method::Head => Response::from_data(Vec::new()),
        Method::Post if path.ends_with("/messages/count_tokens") => json(200, &json!({"input_tokens": 10})),
        Method::Post if path.ends_with("/messages") => turn(body),
        Method::Get if path.ends_with("/models") => json(200, &json!({"data": [], "has_more": false})),
        _ => {
            let error = json!({"type": "not_found_error", "message": format!("there is no {path}")});
            json(404, &json!({"type": "error", "error": error}))
        }
    }
}

/// A turn of the model: one text block, and the end of the turn.
fn turn(body: &Value) -> Answer {
    let message = |content: Value, stop: Value| {
        json!({
            "id": "msg_loopback",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    };
    if body["stream"] != true {
        return json(200, &message(json!([{"type": "text", "text": TEXT}]), "end_turn".into()));
    }
    let events = [
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ];
    let frame = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    let text: String = events.iter().map(frame).collect();
    typed(Response::from_data(text.into_bytes()), "text/event-stream")
}

fn json(status: u16, body: &Value) -> Answer {
    typed(Response::from_data(body.to_string().into_bytes()).with_status_code(status), "application/json")
}

fn typed(answer: Answer, kind: &str) -> Answer {
    // Only a value that is no ASCII is refused, and those here are constants.
    match Header::from_bytes("Content-Type", kind) {
        Ok(header) => answer.with_header(header),
        Err(()) => answer,
    }
}
