//! Requests from lines.

use sepia_ir::driver_wire::code;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, BufRead, Read};

/// A request larger than this is refused; the largest real one lists keys.
const MAX_LINE: u64 = 64 << 20;

/// A line of the host.
pub(super) enum Line {
    /// To be answered.
    Request(Request),
    /// Blank, a notification, or a response.
    Ignored,
    /// To be answered with an error of id 0, since its own is not known.
    Wrong {
        /// JSON-RPC code.
        code: i64,
        /// One sentence.
        message: String,
    },
}

/// A call of a method.
pub(super) struct Request {
    /// Goes back with the answer.
    pub(super) id: u64,
    /// What is wanted.
    pub(super) method: String,
    /// JSON text; `null` when absent.
    pub(super) params: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Value,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// The next line; `None` at the end.
pub(super) fn next(input: &mut dyn BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() as u64 > MAX_LINE {
        input.skip_until(b'\n')?;
        let message = format!("a request has at most {MAX_LINE} bytes; this line has more");
        return Ok(Some(Line::Wrong { code: code::INVALID_REQUEST, message }));
    }
    Ok(Some(parse(line.trim_ascii())))
}

fn parse(line: &[u8]) -> Line {
    if line.is_empty() {
        return Line::Ignored;
    }
    let invalid = |message: &str| Line::Wrong { code: code::INVALID_REQUEST, message: message.to_owned() };
    let envelope: Envelope<'_> = match serde_json::from_slice(line) {
        Ok(envelope) if line.starts_with(b"{") => envelope,
        Err(e) if !e.is_data() => {
            return Line::Wrong { code: code::PARSE, message: format!("the line is not JSON: {e}") };
        }
        _ => return invalid("a request is a JSON object with each member once"),
    };
    let method = match envelope.method {
        Value::String(method) => Some(method),
        _ => None,
    };
    match (envelope.id.as_u64(), method) {
        (Some(id), Some(method)) => {
            let params = envelope.params.map_or_else(|| "null".to_owned(), |raw| raw.get().to_owned());
            Line::Request(Request { id, method, params })
        }
        // A notification; a response.
        (None, Some(_)) | (Some(_), None) => Line::Ignored,
        (None, None) => invalid("a request has an `id`, a whole number that is not negative, and a `method`"),
    }
}
