//! `metadata` of a node, written straight as JSON text: most nodes have little of it and
//! there are many.

use sepia_ir::{Json, Warning};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Warnings of one session that are told one by one; of more only the number is told.
const MOST_WARNINGS: usize = 100;
/// Room for what most nodes have, bytes.
const ROOM: usize = 160;

/// A JSON object being written.
#[derive(Debug, Default)]
pub struct Members {
    text: String,
}

impl Members {
    fn key(&mut self, key: &str) {
        if self.text.is_empty() {
            self.text.reserve(ROOM);
            self.text.push('{');
        } else {
            self.text.push(',');
        }
        push_string(&mut self.text, key);
        self.text.push(':');
    }

    /// A string.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(&mut self.text, value);
    }

    /// A string, if there is one that is not empty.
    pub fn maybe(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.text(key, value);
        }
    }

    /// `true`, if it is set.
    pub fn flag(&mut self, key: &str, set: bool) {
        if set {
            self.key(key);
            self.text.push_str("true");
        }
    }

    /// A number that JSON has: a whole one, or a finite one.
    pub fn number(&mut self, key: &str, value: impl Display) {
        self.key(key);
        // Writing to a string can't fail.
        let _ = write!(self.text, "{value}");
    }

    /// As [`number`](Self::number), if there is one.
    pub fn maybe_number(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.number(key, value);
        }
    }

    /// JSON text as it stands in a record.
    pub fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.text.push_str(&clean(json));
    }

    /// A list of JSON texts; nothing when there are none.
    pub fn list(&mut self, key: &str, items: &[String]) {
        if !items.is_empty() {
            self.key(key);
            self.text.push('[');
            self.text.push_str(&items.join(","));
            self.text.push(']');
        }
    }

    /// Something that has a JSON form.
    pub fn value(&mut self, key: &str, value: &impl Serialize) {
        // Plain structs always have one.
        if let Ok(json) = serde_json::to_string(value) {
            self.key(key);
            self.text.push_str(&json);
        }
    }

    /// Warnings, if there are any.
    pub fn warnings(&mut self, warnings: &[Warning]) {
        if !warnings.is_empty() {
            self.value("warnings", &warnings);
        }
    }

    /// The JSON text; `null` when nothing was written.
    pub fn finish(mut self) -> Json {
        if self.text.is_empty() {
            return sepia_ir::json_text::null();
        }
        self.text.push('}');
        self.text
    }
}

/// At most so many warnings as somebody would read.
pub fn capped(mut warnings: Vec<Warning>) -> Vec<Warning> {
    if warnings.len() > MOST_WARNINGS {
        let more = warnings.len() - MOST_WARNINGS;
        warnings.truncate(MOST_WARNINGS);
        warnings.push(Warning::new("more-warnings", format!("{more} more warnings of this session are not listed")));
    }
    warnings
}

/// JSON text of a string.
pub fn string(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    push_string(&mut out, value);
    out
}

fn push_string(out: &mut String, value: &str) {
    out.reserve(value.len() + 2);
    crate::quoted(value, |piece| out.push_str(piece));
}

/// Deeper values are not passed on: readers of JSON give up at 128 levels, some of which are
/// around the value.
const DEEPEST: usize = 100;

/// JSON text of a record without lone halves of surrogate pairs. What is nested too deeply for
/// others to read becomes a note of its size.
pub fn clean(json: &str) -> Cow<'_, str> {
    if is_too_deep(json) {
        return Cow::Owned(format!("{{\"nestedTooDeeply\":true,\"bytes\":{}}}", json.len()));
    }
    if memchr::memmem::find(json.as_bytes(), b"\\u").is_none() {
        return Cow::Borrowed(json);
    }
    let (cleaned, replaced) = sepia_ir::json_text::replace_lone_surrogates(json.as_bytes());
    if replaced == 0 { Cow::Borrowed(json) } else { Cow::Owned(String::from_utf8_lossy(&cleaned).into_owned()) }
}

fn is_too_deep(json: &str) -> bool {
    // Nearly all texts have fewer brackets than that, in strings or out of them.
    if memchr::memchr2_iter(b'[', b'{', json.as_bytes()).nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut at) = (0usize, 0);
    let bytes = json.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => loop {
                let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at + 1..).unwrap_or_default()) else {
                    return false;
                };
                at += 1 + found;
                if bytes[at] == b'"' {
                    break;
                }
                at += 1;
            },
            b'{' | b'[' => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Members, clean};

    #[test]
    fn what_is_nested_too_deeply_is_told_by_its_size() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(clean(&deep(100)), deep(100));
        assert_eq!(clean(&deep(101)), r#"{"nestedTooDeeply":true,"bytes":202}"#);
        let quoted = format!("\"{}\\\"[\"", "[".repeat(500));
        assert_eq!(clean(&quoted), quoted);
    }

    #[test]
    fn what_is_written_is_json() {
        let mut members = Members::default();
        members.text("a\"", "x\"\n");
        members.maybe("b", Some(""));
        members.flag("c", true);
        members.raw("d", r#"["\ud83d"]"#);
        members.list("e", &["1".to_owned(), "2".to_owned()]);
        members.number("f", 7);
        members.maybe_number("g", None::<i64>);
        assert_eq!(members.finish(), r#"{"a\"":"x\"\n","c":true,"d":["\ufffd"],"e":[1,2],"f":7}"#);
        assert_eq!(Members::default().finish(), "null");
    }
}
