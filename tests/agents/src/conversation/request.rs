//! What a request of the Anthropic Messages API shows to the model.
//!
//! `messages[]` hold `role` and `content`, a text or a list of blocks (`text`, `image`, `document`,
//! `tool_use`, `tool_result`). Messages of the role `system`, which one program slips in, are no
//! part of the conversation, and neither is reasoning.

use super::Part;
use serde_json::Value;

/// The conversation in a request's body, in order. What has another shape is passed over.
pub(crate) fn parts(body: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for message in items(&body["messages"]) {
        let of_user = match message["role"].as_str() {
            Some("user") => true,
            Some("assistant") => false,
            _ => continue,
        };
        let content = &message["content"];
        let spoken = |text: &str| if of_user { Part::User(text.to_owned()) } else { Part::Assistant(text.to_owned()) };
        if let Some(text) = content.as_str() {
            parts.push(spoken(text));
        }
        for block in items(content) {
            match block["type"].as_str() {
                Some("text") => parts.push(spoken(text_of(&block["text"]))),
                Some("image" | "document") => parts.extend(media(block)),
                Some("tool_use") => parts.push(Part::Call {
                    id: text_of(&block["id"]).to_owned(),
                    name: text_of(&block["name"]).to_owned(),
                    arguments: block["input"].clone(),
                }),
                Some("tool_result") => result(block, &mut parts),
                _ => {}
            }
        }
    }
    parts
}

/// Whether the person asks this in the request, with all else that may be around it.
pub(crate) fn asks(body: &Value, prompt: &str) -> bool {
    parts(body).iter().any(|part| matches!(part, Part::User(text) if text.contains(prompt)))
}

fn result(block: &Value, parts: &mut Vec<Part>) {
    let content = &block["content"];
    let texts: Vec<&str> = match content.as_str() {
        Some(text) => vec![text],
        None => items(content).iter().filter_map(|item| item["text"].as_str()).collect(),
    };
    parts.push(Part::Result { id: text_of(&block["tool_use_id"]).to_owned(), text: texts.join("\n") });
    parts.extend(items(content).iter().filter_map(media));
}

/// A picture or document by value: base64 in `source.data`, or the text of a plain document.
fn media(block: &Value) -> Option<Part> {
    Some(Part::Media(block["source"]["data"].as_str()?.to_owned()))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_block_is_read_in_its_place() {
        let body = json!({"messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look."},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [
                    {"type": "text", "text": "a.txt"},
                    {"type": "image", "source": {"data": "R0lG"}}]},
                {"type": "text", "text": "Next."}]},
            {"role": "system", "content": "You may use tools."},
            {"role": "assistant", "content": "Done."}]});
        let expected = [
            Part::User("Look.".into()),
            Part::Media("iVBO".into()),
            Part::Assistant("I look.".into()),
            Part::Call { id: "t1".into(), name: "Bash".into(), arguments: json!({"command": "ls"}) },
            Part::Result { id: "t1".into(), text: "a.txt".into() },
            Part::Media("R0lG".into()),
            Part::User("Next.".into()),
            Part::Assistant("Done.".into()),
        ];
        assert_eq!(parts(&body), expected);
        assert!(asks(&body, "Next."));
        assert!(!asks(&body, "Done."), "said by the model");
    }

    #[test]
    fn a_body_of_another_shape_holds_nothing() {
        for body in [json!(null), json!([]), json!({"messages": 1}), json!({"messages": [1, {"role": "user"}]})] {
            assert_eq!(parts(&body), []);
        }
    }
}
