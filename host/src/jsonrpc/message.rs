//! What a line is: request, notification, response, or none of them and why.

use super::error_object::{ErrorObject, code};
use super::fragment::{Fragment, range_in};
use super::id::Id;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A line, told apart.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers a request.
    Response(Response),
    /// An array; not taken, since no peer of ours sends one.
    Batch,
    /// Nothing of these.
    Invalid(Invalid),
}

/// Wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Goes back with the answer.
    pub id: Id,
    /// What is wanted.
    pub method: String,
    /// With what; absent is not the same as `null`.
    pub params: Option<Fragment>,
}

/// Wants no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// What happened.
    pub method: String,
    /// With what.
    pub params: Option<Fragment>,
}

/// Answers a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Of the request.
    pub id: Id,
    /// Result, or why there is none.
    pub outcome: Result<Fragment, ErrorObject>,
}

/// A line that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What kind of wrong.
    pub kind: InvalidKind,
    /// Its id, when one could be read.
    pub id: Option<Id>,
    /// One sentence.
    pub reason: String,
}

/// Kinds of [`Invalid`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvalidKind {
    /// Not JSON.
    NotJson,
    /// JSON, but not an object.
    NotObject,
    /// An object without the member `"jsonrpc": "2.0"`.
    NotVersioned,
    /// It would be a request or a notification, and is not whole.
    Request,
    /// It would be the answer to a request, and is not whole.
    Response,
    /// An object of another shape.
    Shape,
}

impl Invalid {
    /// The error to answer with, when the line asked for one.
    pub fn to_error(&self) -> ErrorObject {
        let code = if self.kind == InvalidKind::NotJson { code::PARSE } else { code::INVALID_REQUEST };
        ErrorObject::new(code, self.reason.clone())
    }
}

/// Whether a message must say `"jsonrpc": "2.0"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// It must: a log line in JSON is then no message.
    Required,
    /// Whatever it says, or nothing.
    Unchecked,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// `null` is a value here: an id of `null` is not the same as no id.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// A message whose payload is still a place in the line.
enum Shape {
    Request(Id, String, Option<Range<usize>>),
    Notification(String, Option<Range<usize>>),
    Result(Id, Range<usize>),
    Error(Id, ErrorObject),
}

impl Message {
    /// Tells what a line is. Never fails: what is wrong is [`Message::Invalid`].
    pub fn parse(line: String, version: Version) -> Self {
        let first = line.bytes().find(|byte| !byte.is_ascii_whitespace());
        if first != Some(b'{') {
            return match serde_json::from_str::<&RawValue>(&line) {
                Err(e) => invalid(InvalidKind::NotJson, None, not_json(&e)),
                Ok(_) if first == Some(b'[') => Self::Batch,
                Ok(_) => invalid(InvalidKind::NotObject, None, "a message is a JSON object; this is another value"),
            };
        }
        let envelope: Envelope<'_> = match serde_json::from_str(&line) {
            Ok(envelope) => envelope,
            Err(e) if e.is_data() => {
                return invalid(InvalidKind::Shape, None, format!("a message has each member once: {e}"));
            }
            Err(e) => return invalid(InvalidKind::NotJson, None, not_json(&e)),
        };
        match shape(&line, &envelope, version) {
            Err(wrong) => Self::Invalid(wrong),
            Ok(Shape::Request(id, method, params)) => {
                Self::Request(Request { id, method, params: params.map(|range| Fragment::new(line, range)) })
            }
            Ok(Shape::Notification(method, params)) => {
                Self::Notification(Notification { method, params: params.map(|range| Fragment::new(line, range)) })
            }
            Ok(Shape::Result(id, range)) => Self::Response(Response { id, outcome: Ok(Fragment::new(line, range)) }),
            Ok(Shape::Error(id, error)) => Self::Response(Response { id, outcome: Err(error) }),
        }
    }
}

fn shape(line: &str, envelope: &Envelope<'_>, version: Version) -> Result<Shape, Invalid> {
    let id = envelope.id.map(Id::from_raw);
    let known_id = id.clone().flatten();
    let wrong = |kind, reason: Cow<'static, str>| Invalid { kind, id: known_id.clone(), reason: reason.into_owned() };
    let spoken = envelope.jsonrpc.is_some_and(|raw| raw.get() == "\"2.0\"");
    if version == Version::Required && !spoken {
        return Err(wrong(InvalidKind::NotVersioned, "a message says \"jsonrpc\": \"2.0\"".into()));
    }
    if id == Some(None) {
        return Err(wrong(InvalidKind::Shape, "`id` is a number, a string or null".into()));
    }
    let params = envelope.params.map(|raw| range_in(line, raw));
    // Many peers fill the one that does not apply with null.
    let error = envelope.error.filter(|raw| raw.get() != "null");
    let result = envelope.result.filter(|raw| error.is_none() || raw.get() != "null");
    match (envelope.method, id.flatten(), result, error) {
        (Some(method), id, None, None) => {
            let method: String = serde_json::from_str(method.get())
                .map_err(|_| wrong(InvalidKind::Request, "`method` is a string".into()))?;
            Ok(match id {
                Some(id) => Shape::Request(id, method, params),
                None => Shape::Notification(method, params),
            })
        }
        (None, Some(id), Some(result), None) => Ok(Shape::Result(id, range_in(line, result))),
        (None, Some(id), None, Some(error)) => {
            let error = serde_json::from_str(error.get()).map_err(|e| {
                wrong(InvalidKind::Response, format!("`error` is an object with `code` and `message`: {e}").into())
            })?;
            Ok(Shape::Error(id, error))
        }
        (Some(_), ..) => Err(wrong(InvalidKind::Request, "a message has `method` or an outcome, not both".into())),
        (None, _, Some(_), Some(_)) => {
            Err(wrong(InvalidKind::Response, "a response has `result` or `error`, not both".into()))
        }
        (None, None, ..) => Err(wrong(InvalidKind::Shape, "a message has `method`, or the `id` of a request".into())),
        (None, Some(_), None, None) => {
            Err(wrong(InvalidKind::Response, "a message with an `id` has `method`, `result` or `error`".into()))
        }
    }
}

fn not_json(e: &serde_json::Error) -> String {
    format!("the line is not JSON: {e}")
}

fn invalid(kind: InvalidKind, id: Option<Id>, reason: impl Into<String>) -> Message {
    Message::Invalid(Invalid { kind, id, reason: reason.into() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::{InvalidKind, Message, Version};

    fn parse(line: &str) -> Message {
        Message::parse(line.to_owned(), Version::Required)
    }

    #[test]
    fn an_id_comes_back_as_it_was_written() {
        for id in ["0", "-7", "1.0", "1e3", "123456789012345678901234567890", r#""a\u0041""#, "\"\u{2028}\"", "null"] {
            let Message::Request(request) = parse(&format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"m"}}"#)) else {
                panic!("{id}");
            };
            assert_eq!(request.id.get(), id);
            assert_eq!(serde_json::to_string(&request.id).unwrap(), id);
            assert!(request.params.is_none());
        }
    }

    #[test]
    fn a_request_without_an_id_is_a_notification_and_null_is_an_id() {
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","method":"m","params":null}"#),
            Message::Notification(n) if n.method == "m" && n.params.as_ref().unwrap().get() == "null"));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","method":"m","id":null}"#),
            Message::Request(r) if r.id.is_null()));
    }

    #[test]
    fn a_payload_is_the_text_that_came() {
        let line = r#" {"jsonrpc":"2.0", "id":1, "params": {"a" : [1, 2.50]} , "method":"m\u006f"} "#;
        let Message::Request(request) = parse(line) else { panic!() };
        assert_eq!(request.params.unwrap().get(), r#"{"a" : [1, 2.50]}"#);
        assert_eq!(request.method, "mo");
    }

    #[test]
    fn outcomes() {
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"result":null}"#),
            Message::Response(r) if r.outcome.as_ref().unwrap().get() == "null"));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"result":3,"error":null}"#),
            Message::Response(r) if r.outcome.as_ref().unwrap().get() == "3"));
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"},"result":null}"#),
            Message::Response(r) if r.outcome.as_ref().unwrap_err().code == -32001));
    }

    #[test]
    fn what_is_no_message_says_why_and_keeps_its_id() {
        let cases = [
            ("{", InvalidKind::NotJson, None),
            ("x", InvalidKind::NotJson, None),
            ("[1", InvalidKind::NotJson, None),
            ("7", InvalidKind::NotObject, None),
            ("null", InvalidKind::NotObject, None),
            ("\"text\"", InvalidKind::NotObject, None),
            ("{}", InvalidKind::NotVersioned, None),
            (r#"{"level":"info","id":0,"message":"x"}"#, InvalidKind::NotVersioned, Some("0")),
            (r#"{"jsonrpc":"1.0","id":0,"result":{}}"#, InvalidKind::NotVersioned, Some("0")),
            (r#"{"jsonrpc":2.0,"id":0,"result":{}}"#, InvalidKind::NotVersioned, Some("0")),
            (r#"{"jsonrpc":"2.0"}"#, InvalidKind::Shape, None),
            (r#"{"jsonrpc":"2.0","id":4}"#, InvalidKind::Response, Some("4")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, InvalidKind::Shape, None),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, InvalidKind::Shape, None),
            (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, InvalidKind::Request, Some("4")),
            (r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"m"}"#, InvalidKind::Shape, None),
            (r#"{"jsonrpc":"2.0","id":4,"method":"m","result":1}"#, InvalidKind::Request, Some("4")),
            (
                r#"{"jsonrpc":"2.0","id":4,"result":1,"error":{"code":1,"message":""}}"#,
                InvalidKind::Response,
                Some("4"),
            ),
            (r#"{"jsonrpc":"2.0","id":4,"error":"boom"}"#, InvalidKind::Response, Some("4")),
            (r#"{"jsonrpc":"2.0","result":1}"#, InvalidKind::Shape, None),
        ];
        for (line, kind, id) in cases {
            let Message::Invalid(invalid) = parse(line) else { panic!("{line} passed") };
            assert_eq!(invalid.kind, kind, "{line}");
            assert_eq!(invalid.id.as_ref().map(|id| id.get().to_owned()).as_deref(), id, "{line}");
            assert!(!invalid.reason.is_empty());
        }
        assert_eq!(parse("[]"), Message::Batch);
        assert_eq!(parse(r#" [{"jsonrpc":"2.0","id":1,"method":"m"}]"#), Message::Batch);
    }

    #[test]
    fn an_unversioned_request_passes_where_nobody_checks() {
        let message = Message::parse(r#"{"id":1,"method":"m"}"#.to_owned(), Version::Unchecked);
        assert!(matches!(message, Message::Request(_)));
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}1{}}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(matches!(parse(&deep), Message::Request(_)));
    }
}
