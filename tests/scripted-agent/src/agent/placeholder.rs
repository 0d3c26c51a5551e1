//! Strings of a script that stand for something known only later, or too long to be written.

use serde_json::{Map, Value};

/// What is known of a call.
pub(crate) struct Known<'a> {
    pub(crate) id: Option<&'a Value>,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) prompt: &'a str,
}

impl Known<'_> {
    /// The value with each string that is nothing but a placeholder replaced: `${id}`,
    /// `${sessionId}`, `${prompt}`, `${fill:<n>}` (`A`, n times: base64 when n is a multiple of 4).
    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.replacement(text).unwrap_or_else(|| value.clone()),
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect::<Map<_, _>>(),
            ),
            other => other.clone(),
        }
    }

    /// The text with `${id}` and `${sessionId}` replaced wherever they are.
    pub(crate) fn fill_text(&self, text: &str) -> String {
        let id = self.id.map_or_else(|| "null".to_owned(), Value::to_string);
        text.replace("${id}", &id).replace("${sessionId}", self.session_id.unwrap_or_default())
    }

    fn replacement(&self, text: &str) -> Option<Value> {
        match text.strip_prefix("${")?.strip_suffix('}')? {
            "id" => Some(self.id.cloned().unwrap_or_default()),
            "sessionId" => Some(self.session_id.into()),
            "prompt" => Some(self.prompt.into()),
            name => Some("A".repeat(name.strip_prefix("fill:")?.parse().ok()?).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Known;
    use serde_json::json;

    #[test]
    fn only_whole_strings_are_placeholders() {
        let id = json!(7);
        let known = Known { id: Some(&id), session_id: Some("s"), prompt: "p" };
        let value = json!({"a": ["${id}", "${sessionId}", "${prompt}", "${fill:3}", "${fill:x}", "x${id}", "${x}", 1]});
        assert_eq!(known.fill(&value), json!({"a": [7, "s", "p", "AAA", "${fill:x}", "x${id}", "${x}", 1]}));
        assert_eq!(known.fill_text("<${id},${sessionId}>"), "<7,s>");
        let unknown = Known { id: None, session_id: None, prompt: "" };
        assert_eq!(unknown.fill(&json!(["${id}", "${sessionId}"])), json!([null, null]));
    }
}
