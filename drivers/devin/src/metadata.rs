//! `metadata`, written straight as JSON text: most nodes have little of it and there are many.

use sepia_ir::{Json, Warning};
use std::borrow::Cow;
use std::fmt::Write;

/// A JSON object being written.
#[derive(Debug, Default)]
pub(crate) struct Object {
    text: String,
}

impl Object {
    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        push_string(&mut self.text, key);
        self.text.push(':');
    }

    /// A string.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(&mut self.text, value);
    }

    /// A string, if there is one that is not empty.
    pub(crate) fn maybe(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.text(key, value);
        }
    }

    pub(crate) fn flag(&mut self, key: &str, set: bool) {
        if set {
            self.key(key);
            self.text.push_str("true");
        }
    }

    /// A number that JSON has, if there is one.
    pub(crate) fn number(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.key(key);
            // Writing to a string can't fail.
            let _ = write!(self.text, "{value}");
        }
    }

    /// JSON text as it stands in a record.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key);
        self.text.push_str(&clean(json));
    }

    /// Something that has a JSON form.
    pub(crate) fn value(&mut self, key: &str, value: &impl serde::Serialize) {
        // Plain structs always have one.
        if let Ok(json) = serde_json::to_string(value) {
            self.key(key);
            self.text.push_str(&json);
        }
    }

    /// Warnings, if there are any.
    pub(crate) fn warnings(&mut self, warnings: &[Warning]) {
        if !warnings.is_empty() {
            self.value("warnings", &warnings);
        }
    }

    /// The JSON text; `null` when nothing was written.
    pub(crate) fn finish(mut self) -> Json {
        if self.text.is_empty() {
            return sepia_ir::json_text::null();
        }
        self.text.push('}');
        self.text
    }
}

fn push_string(out: &mut String, value: &str) {
    if value.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(value);
        out.push('"');
        return;
    }
    // A string always has a JSON form.
    out.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "\"\"".to_owned()));
}

/// Deeper values are not passed on: readers of JSON give up at 128 levels, some of which are
/// around the value.
const DEEPEST: usize = 100;

/// JSON text of a record without lone halves of surrogate pairs. What is nested too deeply for
/// others to read becomes a note of its size.
pub(crate) fn clean(json: &str) -> Cow<'_, str> {
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
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    json.bytes().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

#[cfg(test)]
mod tests {
    use super::{Object, clean};

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
        let mut object = Object::default();
        object.text("a\"", "x\"\n");
        object.maybe("b", Some(""));
        object.flag("c", true);
        object.raw("d", r#"["\ud83d"]"#);
        object.number("f", Some(7));
        object.number("g", None::<i64>);
        assert_eq!(object.finish(), r#"{"a\"":"x\"\n","c":true,"d":["\ufffd"],"f":7}"#);
        assert_eq!(Object::default().finish(), "null");
    }
}
