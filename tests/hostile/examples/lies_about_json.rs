//! Says that something is JSON that is not, or not quite.

use sepia_hostile::{Guest, Lines, Misdeed, node};
use sepia_ir::{DriverError, MessageNode, ToolCall};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    /// The id of the session says which.
    fn open(_host: &Host, session: &str) -> Result<Lines, DriverError> {
        Ok(Lines { id: session.to_owned(), lines: vec![], at: 0 })
    }

    fn next(lines: &mut Lines, _max: usize) -> Result<Vec<MessageNode>, DriverError> {
        if std::mem::replace(&mut lines.at, 1) > 0 {
            return Ok(vec![]);
        }
        let mut node = node(1, "text");
        match lines.id.as_str() {
            "deep" => node.metadata = "[".repeat(100_000) + &"]".repeat(100_000),
            "broken" => node.metadata = r#"{"a":"#.into(),
            "two" => node.metadata = "1 2".into(),
            "empty" => node.metadata = String::new(),
            "surrogate" => node.metadata = r#"{"a":"\ud800 \udc00x"}"#.into(),
            "odd" => node.metadata = r#"{"a":1,"a":2,"b":1e999}"#.into(),
            "arguments" => node.tool_calls = vec![ToolCall::new("c", "t", "{'a':1}".into())],
            "number" => node.created_at = f64::NAN,
            _ => {}
        }
        Ok(vec![node])
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
