//! A JSON frame as a person can read it: members in their order, long things cut, and no line
//! wider than the screen unless a single value is.

use crate::console::{clean, cut};
use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Characters that are shown of a string.
const STRING: usize = 72;
/// Items that are shown of a list of objects or lists.
const STRUCTURED_ITEMS: usize = 2;
/// Items that are shown of a list of plain values.
const PLAIN_ITEMS: usize = 30;
/// Lines that are shown of a frame.
const LINES: usize = 32;

/// The lines of a frame, each at most `width` characters where that can be.
pub(super) fn lines(frame: &str, width: usize) -> Vec<String> {
    let Ok(node) = serde_json::from_str::<Node>(frame) else {
        return vec![cut(&clean(frame), width)];
    };
    let mut lines = Vec::new();
    node.lay_out("", 0, "", width, &mut lines);
    if lines.len() > LINES {
        let left = lines.len() - LINES + 1;
        lines.truncate(LINES - 1);
        lines.push(format!("… {left} more lines"));
    }
    lines
}

/// A JSON value with what will not be shown already left out.
enum Node {
    Plain(String),
    List { items: Vec<Node>, left_out: usize },
    Object(Vec<(String, Node)>),
}

impl Node {
    fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// On one line.
    fn compact(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::List { items, left_out } => {
                let mut parts: Vec<String> = items.iter().map(Self::compact).collect();
                parts.extend(more(*left_out));
                format!("[{}]", parts.join(", "))
            }
            Self::Object(members) => {
                let parts: Vec<String> =
                    members.iter().map(|(name, value)| format!("{name}: {}", value.compact())).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    fn lay_out(&self, label: &str, depth: usize, tail: &str, width: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        let compact = format!("{indent}{label}{}{tail}", self.compact());
        if self.is_plain() || compact.chars().count() <= width {
            lines.push(compact);
            return;
        }
        match self {
            Self::Plain(_) => {}
            Self::List { items, left_out } if items.iter().all(Self::is_plain) => {
                lines.push(format!("{indent}{label}["));
                let words: Vec<String> = items.iter().map(Self::compact).chain(more(*left_out)).collect();
                fill(&words, &"  ".repeat(depth + 1), "", width, lines);
                lines.push(format!("{indent}]{tail}"));
            }
            Self::List { items, left_out } => {
                lines.push(format!("{indent}{label}["));
                for (at, item) in items.iter().enumerate() {
                    let tail = if at + 1 < items.len() || *left_out > 0 { "," } else { "" };
                    item.lay_out("", depth + 1, tail, width, lines);
                }
                lines.extend(more(*left_out).map(|text| format!("{indent}  {text}")));
                lines.push(format!("{indent}]{tail}"));
            }
            Self::Object(members) => {
                lines.push(format!("{indent}{label}{{"));
                lay_out_members(members, depth + 1, width, lines);
                lines.push(format!("{indent}}}{tail}"));
            }
        }
    }
}

/// Members that fit share lines, so that a row of many small ones stays small.
fn lay_out_members(members: &[(String, Node)], depth: usize, width: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let room = width.saturating_sub(indent.chars().count());
    let mut together: Vec<String> = Vec::new();
    for (at, (name, value)) in members.iter().enumerate() {
        let compact = format!("{name}: {}", value.compact());
        if value.is_plain() || compact.chars().count() < room {
            together.push(compact);
        } else {
            fill(&together, &indent, ",", width, lines);
            together.clear();
            let tail = if at + 1 < members.len() { "," } else { "" };
            value.lay_out(&format!("{name}: "), depth, tail, width, lines);
        }
    }
    fill(&together, &indent, "", width, lines);
}

/// Parts with commas between, in as few lines as hold them, and `tail` after the last.
fn fill(parts: &[String], indent: &str, tail: &str, width: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && indent.chars().count() + line.chars().count() + 2 + part.chars().count() > width {
            lines.push(format!("{indent}{line},"));
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(part);
    }
    if !line.is_empty() {
        lines.push(format!("{indent}{line}{tail}"));
    }
}

fn more(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| format!("… {left_out} more"))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Plain(value.to_string()))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Plain("null".to_owned()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Plain(format!("\"{}\"", cut(&clean(value), STRING))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let (mut items, mut left_out) = (Vec::new(), 0);
        while let Some(item) = list.next_element::<Node>()? {
            let most = if item.is_plain() { PLAIN_ITEMS } else { STRUCTURED_ITEMS };
            if items.len() < most {
                items.push(item);
            } else {
                left_out += 1;
            }
        }
        Ok(Node::List { items, left_out })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = object.next_entry::<String, Node>()? {
            members.push((cut(&clean(&name), STRING), value));
        }
        Ok(Node::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_frame_stays_on_one_line_in_its_own_order() {
        assert_eq!(lines(r#"{"b":1,"a":[true,null]}"#, 80), ["{b: 1, a: [true, null]}"]);
    }

    #[test]
    fn a_wide_frame_is_broken_at_its_members() {
        let frame = r#"{"id":1,"result":[{"x":1,"y":"aaaaaaaaaaaa"},{"x":2},{"x":3},{"x":4}]}"#;
        let expected = [
            "{",
            "  id: 1,",
            "  result: [",
            "    {x: 1, y: \"aaaaaaaaaaaa\"},",
            "    {x: 2},",
            "    … 2 more",
            "  ]",
            "}",
        ];
        assert_eq!(lines(frame, 40), expected);
    }

    #[test]
    fn nothing_of_a_store_reaches_the_terminal_raw() {
        assert_eq!(lines(r#""\u001b[2J\u009b""#, 80), ["\"\u{fffd}[2J\u{fffd}\""]);
        assert_eq!(lines("no \u{1b} json", 80), ["no \u{fffd} json"]);
    }
}
