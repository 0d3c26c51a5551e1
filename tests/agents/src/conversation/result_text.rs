//! Whether the text of a tool's result is in what a program passes on: as it is, or inside the
//! JSON that some agents wrap results in.

use super::lines;
use serde_json::Value;
use std::collections::HashSet;

/// JSON in JSON is looked into so deep.
const DEPTH: usize = 3;

/// Whether every line of the text is there; in order, as far as there is one.
pub(super) fn holds(passed_on: &str, text: &str) -> bool {
    let mut there = lines(passed_on);
    lines(text).all(|line| there.any(|other| other == line))
        || squeezed(passed_on).contains(&squeezed(text))
        || is_in_json(passed_on, text)
}

/// Members of JSON have no order, and which of several things a result is of stands in one of them,
/// while a reader puts it before the text with a colon.
fn is_in_json(passed_on: &str, text: &str) -> bool {
    if !passed_on.trim_start().starts_with(['{', '[', '"']) {
        return false;
    }
    let mut unwrapped = String::new();
    unwrap(passed_on, DEPTH, &mut unwrapped);
    let there: HashSet<&str> = lines(&unwrapped).collect();
    lines(text).all(|line| there.contains(line) || line.strip_suffix(':').is_some_and(|query| there.contains(query)))
}

/// All texts in JSON, one after the other; what is no JSON as it is.
fn unwrap(text: &str, depth: usize, out: &mut String) {
    let structured = text.trim_start().starts_with(['{', '[', '"']) && depth > 0;
    let value = if structured { serde_json::from_str::<Value>(text).ok() } else { None };
    let Some(value) = value else {
        out.push_str(text);
        out.push('\n');
        return;
    };
    let mut open = vec![&value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => unwrap(text, depth - 1, out),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => open.extend(members.values().rev()),
            _ => {}
        }
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::holds;
    use serde_json::json;

    #[test]
    fn a_result_is_found_as_it_is_and_inside_json() {
        assert!(holds("a.txt\nb.txt\n", "a.txt\nb.txt"));
        assert!(holds(&json!([{"query": "ls", "result": "a.txt\nb.txt\n"}]).to_string(), "a.txt\nb.txt"));
        let twice = json!({"output": json!({"result": "say \"hi\""}).to_string()}).to_string();
        assert!(holds(&twice, "say \"hi\""));
        let several = json!([{"error": "no b", "query": "b", "result": ""}, {"query": "a", "result": "1\n2"}]);
        assert!(holds(&several.to_string(), "b:\nno b\na:\n1\n2"));
        assert!(holds("anything", ""));
    }

    #[test]
    fn a_line_that_is_missing_or_moved_is_noticed() {
        assert!(!holds("a.txt\n", "a.txt\nb.txt"));
        assert!(!holds("b.txt\na.txt\n", "a.txt\nb.txt"));
        assert!(!holds("", "a.txt"));
        assert!(!holds(&json!([{"result": "a.txt"}]).to_string(), "a.txt\nb.txt"));
    }
}
