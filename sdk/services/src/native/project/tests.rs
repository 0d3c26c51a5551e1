//! The projection against a plain JSON reader, with blocks, parts and bounds of any size.
#![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]

use super::{Deadline, OpenFile, ServiceError, Sizes, project_in_parts};
use crate::packed::{LineKind, Rows};
use proptest::prelude::*;
use sepia_ir::Projection;
use serde_json::Value;
use std::fmt::Write;
use std::time::Instant;

const SMALL: Sizes = Sizes { block: 64, max_line: 256 << 20, one_part: 0, part: 100, max_packed: 1 << 30 };

fn query(members: &[&str]) -> Projection {
    Projection { members: members.iter().map(|&m| m.to_owned()).collect(), offset: 0, max_value: 1 << 20 }
}

fn project(bytes: &[u8], query: &Projection, sizes: Sizes, threads: usize) -> Result<Vec<Line>, ServiceError> {
    let file = OpenFile::holding(bytes).unwrap();
    let packed = project_in_parts(&file, query, Deadline::default(), sizes, threads)?;
    let rows = Rows::unpack(packed).unwrap();
    let line = |row: crate::packed::Row<'_>| {
        let text = |json: Option<&[u8]>| json.map(|json| String::from_utf8_lossy(json).into_owned());
        let values = row.values().map(|value| (value.member, value.element, text(value.json))).collect();
        (row.offset, row.length, row.kind, values)
    };
    Ok(rows.iter().map(line).collect())
}

type Found = (u8, u32, Option<String>);
type Line = (u64, u32, LineKind, Vec<Found>);

/// One line, alone in its file and with a line feed.
fn one(line: &str, members: &[&str]) -> (LineKind, Vec<Found>) {
    let mut lines = project(format!("{line}\n").as_bytes(), &query(members), SMALL, 1).unwrap();
    assert_eq!(lines.len(), 1, "{line}");
    let (offset, length, kind, values) = lines.remove(0);
    assert_eq!((offset, length as usize), (0, line.len()));
    (kind, values)
}

fn found(member: u8, element: u32, json: &str) -> Found {
    (member, element, Some(json.to_owned()))
}

// ---- the plain way -----------------------------------------------------------------------

/// All answers to a member, by the contract.
fn plainly(value: &Value, parts: &[&str], element: Option<u32>, into: &mut Vec<(u32, Value)>) {
    let Some((part, rest)) = parts.split_first() else { return into.push((element.unwrap_or(0), value.clone())) };
    if *part == "[]" {
        for (position, item) in (0..).zip(value.as_array().into_iter().flatten()) {
            plainly(item, rest, element.or(Some(position)), into);
        }
    } else if let Some(member) = value.as_object().and_then(|object| object.get(*part)) {
        plainly(member, rest, element, into);
    }
}

fn parts(member: &str) -> Vec<&str> {
    let part = |part: &'static str| part;
    let mut all = Vec::new();
    for name in member.split('.') {
        let bare = name.trim_end_matches("[]");
        all.push(bare);
        all.extend(std::iter::repeat_n(part("[]"), (name.len() - bare.len()) / 2));
    }
    all
}

/// JSON text with white space and escapes as the numbers say, taken in turn.
fn print(value: &Value, style: &mut impl Iterator<Item = u8>, out: &mut String) {
    let blank =
        |style: &mut dyn Iterator<Item = u8>| ["", "", "", " ", "\t", "  \r "][style.next().unwrap() as usize % 6];
    out.push_str(blank(style));
    match value {
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                print(item, style, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (position, (key, member)) in members.iter().enumerate() {
                out.push_str(if position > 0 { "," } else { "" });
                out.push_str(blank(style));
                string(key, style, out);
                out.push_str(blank(style));
                out.push(':');
                print(member, style, out);
            }
            out.push('}');
        }
        Value::String(text) => string(text, style, out),
        scalar => write!(out, "{scalar}").unwrap(),
    }
    out.push_str(blank(style));
}

fn string(text: &str, style: &mut impl Iterator<Item = u8>, out: &mut String) {
    if !style.next().unwrap().is_multiple_of(4) {
        return out.push_str(&serde_json::to_string(text).unwrap());
    }
    out.push('"');
    for unit in text.encode_utf16() {
        write!(out, "\\u{unit:04x}").unwrap();
    }
    out.push('"');
}

// ---- any input ---------------------------------------------------------------------------

const NAMES: [&str; 7] = ["a", "b", "id", "é🚀", "x\"\\y", "", "content"];
const MEMBERS: [&str; 12] = [
    "a",
    "b",
    "a.b",
    "a[].b",
    "a[]",
    "a[][]",
    "a[].b[].id",
    "content[].id",
    "id",
    "é🚀",
    "x\"\\y.a",
    "content.content.id",
];

fn json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        "[a-z\"\\\\{}\\[\\],:\n\u{0}-\u{20}é🚀]{0,50}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn line() -> impl Strategy<Value = (Value, String)> {
    let object = prop::collection::vec((prop::sample::select(NAMES.to_vec()), json()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()));
    (object, prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(value, style)| {
        let mut text = String::new();
        print(&value, &mut style.into_iter().cycle(), &mut text);
        (value, text)
    })
}

proptest! {
    #[test]
    fn it_finds_what_a_plain_reader_finds(
        lines in prop::collection::vec(line(), 1..12),
        members in prop::sample::subsequence(MEMBERS.to_vec(), 0..MEMBERS.len()),
        (block, part, threads) in (1usize..200, 1u64..300, 1usize..4),
        ended in any::<bool>(),
    ) {
        let mut text: String = lines.iter().flat_map(|(_, line)| [line.as_str(), "\n"]).collect();
        if !ended {
            text.pop();
        }
        let sizes = Sizes { block, part, ..SMALL };
        let rows = project(text.as_bytes(), &query(&members), sizes, threads).unwrap();
        prop_assert_eq!(rows.len(), lines.len());
        let mut offset = 0;
        for (at, ((value, line), (row_offset, length, kind, values))) in lines.iter().zip(rows).enumerate() {
            let torn = !ended && at + 1 == lines.len();
            prop_assert_eq!((row_offset, length as usize), (offset, line.len()));
            prop_assert_eq!(kind, if torn { LineKind::Unterminated } else { LineKind::Object });
            offset += line.len() as u64 + 1;
            for (number, member) in (0..).zip(&members) {
                let mut expected = Vec::new();
                plainly(value, &parts(member), None, &mut expected);
                let mut got = Vec::new();
                for (_, element, json) in values.iter().filter(|found| found.0 == number) {
                    got.push((*element, serde_json::from_str::<Value>(json.as_deref().unwrap()).unwrap()));
                }
                prop_assert_eq!(got, expected, "{} of {}", member, line);
            }
        }
    }

    #[test]
    fn a_torn_object_is_none((_, line) in line(), cut in any::<prop::sample::Index>()) {
        let whole = line.trim_end();
        let mut cut = cut.index(whole.len());
        while !whole.is_char_boundary(cut) {
            cut -= 1;
        }
        let (kind, values) = one(&whole[..cut], &MEMBERS);
        prop_assert!(kind != LineKind::Object, "{}", &whole[..cut]);
        prop_assert_eq!(values, []);
    }

    #[test]
    fn any_bytes_come_back_as_the_lines_that_they_are(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\ab \n\n".to_vec())], 0..600),
        (block, max_line, part, threads) in (1usize..200, 0usize..100, 1u64..300, 1usize..4),
    ) {
        let sizes = Sizes { block, max_line, part, ..SMALL };
        let rows = project(&bytes, &query(&MEMBERS), sizes, threads).unwrap();
        let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let torn = expected.last().is_some_and(|last| !last.is_empty());
        if !torn {
            expected.pop();
        }
        let line = |row: &Line| &bytes[usize::try_from(row.0).unwrap()..][..row.1 as usize];
        let lines: Vec<_> = rows.iter().map(line).collect();
        prop_assert_eq!(lines, expected);
        for (at, (_, length, kind, values)) in rows.iter().enumerate() {
            prop_assert_eq!(*kind == LineKind::Unterminated, torn && at + 1 == rows.len());
            prop_assert!(*length as usize <= max_line || values.is_empty());
        }
    }
}

// ---- chosen input ------------------------------------------------------------------------

#[test]
fn values_come_in_the_order_of_the_line_with_the_element_that_they_are_of() {
    let line = r#"{"type":"x","message":{"content":[{"type":"text","text":"a\"]}"},7,{"id":"t1","type":"use"}],"id":"m"},"n":-1.5e3}"#;
    let members = ["type", "message.id", "message.content[].type", "message.content[].id", "n", "absent"];
    let expected = vec![
        found(0, 0, r#""x""#),
        found(2, 0, r#""text""#),
        found(3, 2, r#""t1""#),
        found(2, 2, r#""use""#),
        found(1, 0, r#""m""#),
        found(4, 0, "-1.5e3"),
    ];
    assert_eq!(one(line, &members), (LineKind::Object, expected));
}

#[test]
fn a_container_and_what_is_in_it_are_given_both() {
    let (_, values) = one(r#"{"a":{"b":[1,2]}}"#, &["a", "a.b", "a.b[]"]);
    let expected = [found(0, 0, r#"{"b":[1,2]}"#), found(1, 0, "[1,2]"), found(2, 0, "1"), found(2, 1, "2")];
    assert_eq!(values, expected);
}

#[test]
fn of_several_arrays_the_outermost_counts() {
    let (_, values) = one(r#"{"a":[{"b":[]},{"b":[{"c":1},{"c":2}]}]}"#, &["a[].b[].c"]);
    assert_eq!(values, [found(0, 1, "1"), found(0, 1, "2")]);
}

#[test]
fn a_repeated_key_and_a_repeated_member_are_given_each_time() {
    let (_, values) = one(r#"{"a":1,"\u0061":2}"#, &["a", "a"]);
    assert_eq!(values, [found(0, 0, "1"), found(1, 0, "1"), found(0, 0, "2"), found(1, 0, "2")]);
}

#[test]
fn a_key_with_a_backslash_in_its_text_is_compared_unescaped() {
    assert_eq!(one(r#"{"a\b":1,"a\\b":2}"#, &["a\\b"]).1, [found(0, 0, "2")]);
    assert_eq!(one(r#"{"\ud83d\ude80":1,"\ud83d":2,"\u12":3,"\q":4}"#, &["🚀", "q"]).1, [found(0, 0, "1")]);
}

#[test]
fn a_value_that_is_too_long_is_marked() {
    let query = Projection { max_value: 5, ..query(&["a", "b"]) };
    let lines = project(b"{\"a\":\"123\",\"b\":\"1234\"}\n", &query, SMALL, 1).unwrap();
    assert_eq!(lines[0].3, [found(0, 0, "\"123\""), (1, 0, None)]);
}

#[test]
fn what_is_no_object_is_other_and_gives_nothing() {
    let lines = [
        "[1]",
        "7",
        "null",
        "\"{}\"",
        "x",
        "{",
        "{\"a\":1",
        "{\"a\":1}}",
        "{\"a\":1} {\"a\":2}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":\"1}",
        "{\"a\":[1}",
        "{\"a\":\"\\",
        "{\"a\\\":1}",
        "\u{feff}7",
        "{\"a\":1}\0",
        "{\"a\":[1 2]}",
    ];
    for line in lines {
        assert_eq!(one(line, &["a", "a[]"]), (LineKind::Other, vec![]), "{line}");
    }
    for line in ["", " ", "\t\r", "\r"] {
        assert_eq!(one(line, &["a"]), (LineKind::Empty, vec![]), "{line:?}");
    }
    assert_eq!(one("{\"a\":1}\r", &["a"]), (LineKind::Object, vec![found(0, 0, "1")]));
    assert_eq!(one("\u{feff}{\"a\":1}", &["a"]), (LineKind::Object, vec![found(0, 0, "1")]));
}

#[test]
fn depth_costs_no_stack() {
    let deep = 1_000_000;
    let line = format!("{{\"x\":{}1{},\"a\":2}}", "[".repeat(deep), "]".repeat(deep));
    assert_eq!(one(&line, &["a"]), (LineKind::Object, vec![found(0, 0, "2")]));
    let line = format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep));
    let member = ["a"; 32].join(".");
    assert_eq!(one(&line, &["b", "a.a.b", &member]), (LineKind::Object, vec![(2, 0, None)]));
    let (kind, values) = one(&"[".repeat(deep), &["a"]);
    assert_eq!((kind, values), (LineKind::Other, vec![]));
}

#[test]
fn a_line_that_is_too_long_is_passed_over_alone() {
    let text = format!("{{\"a\":1}}\n{{\"a\":\"{}\"}}\n{{\"a\":3}}\n", "x".repeat(5000));
    for (block, threads) in [(64, 1), (64, 2), (10_000, 1)] {
        let sizes = Sizes { block, max_line: 1000, ..SMALL };
        let lines = project(text.as_bytes(), &query(&["a"]), sizes, threads).unwrap();
        let shape: Vec<_> = lines.iter().map(|line| (line.0, line.1, line.2, line.3.len())).collect();
        let expected = [(0, 7, LineKind::Object, 1), (8, 5008, LineKind::Other, 0), (5017, 7, LineKind::Object, 1)];
        assert_eq!(shape, expected);
    }
}

#[test]
fn an_offset_is_where_a_line_begins_or_an_error() {
    let bytes = b"{\"a\":1}\n{\"a\":2}\n";
    let from = |offset| project(bytes, &Projection { offset, ..query(&["a"]) }, SMALL, 1);
    let second: Line = (8, 7, LineKind::Object, vec![found(0, 0, "2")]);
    assert_eq!(from(8).unwrap(), [second]);
    assert_eq!(from(16).unwrap(), []);
    assert_eq!(from(u64::MAX).unwrap(), []);
    assert!(matches!(from(9), Err(ServiceError::Query(why)) if why.contains('9')));
}

#[test]
fn bounds_are_errors_that_name_them() {
    let failure = |query: &Projection, sizes| project(b"{\"a\":1}\n{\"a\":1}\n", query, sizes, 1).unwrap_err();
    for member in ["", ".", "a.", "a..b", "[]", "a.[]"] {
        assert!(matches!(failure(&query(&[member]), SMALL), ServiceError::Query(_)), "{member}");
    }
    assert!(matches!(failure(&query(&["a"; 33]), SMALL), ServiceError::Query(why) if why.contains("32")));
    assert!(matches!(failure(&query(&[&["a"; 33].join(".")]), SMALL), ServiceError::Query(_)));
    assert!(matches!(failure(&query(&["a"]), Sizes { max_packed: 30, ..SMALL }), ServiceError::Query(_)));
}

#[test]
fn it_stops_when_the_time_is_over() {
    let file = OpenFile::holding(b"{}\n").unwrap();
    for threads in [1, 2] {
        let result = project_in_parts(&file, &query(&["a"]), Deadline::at(Instant::now()), SMALL, threads);
        assert!(matches!(result, Err(ServiceError::Time(path)) if path == "test"));
    }
}
