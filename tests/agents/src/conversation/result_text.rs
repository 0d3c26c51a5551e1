//! Whether the text of a tool's result is in what a program passes on: as it is, or inside the
//! JSON that some agents wrap results in.

use super::lines;
use serde_json::Value;

/// JSON in JSON is looked into so deep.
const DEPTH: usize = 3;

/// Whether every line of the text is there, in order.
pub(super) fn holds(passed_on: &str, text: &str) -> bool {
    has_lines(passed_on, text)
        || {
            let mut unwrapped = String::new();
            unwrap(passed_on, DEPTH, &mut unwrapped);
            has_lines(&unwrapped, text)
        }
        || squeezed(passed_on).contains(&squeezed(text))
}

fn has_lines(passed_on: &str, text: &str) -> bool {
    let mut there = lines(passed_on);
    lines(text).all(|line| there.any(|other| other == line))
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
        assert!(holds("anything", ""));
    }

    #[test]
    fn a_line_that_is_missing_or_moved_is_noticed() {
        assert!(!holds("a.txt\n", "a.txt\nb.txt"));
        assert!(!holds("b.txt\na.txt\n", "a.txt\nb.txt"));
        assert!(!holds("", "a.txt"));
    }
}
