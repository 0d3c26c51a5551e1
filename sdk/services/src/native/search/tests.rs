//! What a file says by any spelling is found, and what it does not say is mostly not.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::file::OpenFile;
use super::super::store::Deadline;
use super::pattern::Pattern;
use proptest::prelude::*;
use sepia_ir::{LineSpan, SearchQuery};
use std::fmt::Write;
use std::sync::Arc;

fn query(text: &str, regex: bool, ignore_case: bool) -> SearchQuery {
    SearchQuery { text: text.into(), regex, ignore_case, parts: vec![], hits: 3, context: 80 }
}

fn literal(text: &str) -> Arc<Pattern> {
    Pattern::of(&query(text, false, false)).unwrap()
}

fn regex(text: &str) -> Arc<Pattern> {
    Pattern::of(&query(text, true, false)).unwrap()
}

fn may_hold(pattern: &Pattern, bytes: impl AsRef<[u8]>, block: usize) -> bool {
    let file = OpenFile::holding(bytes.as_ref()).unwrap();
    pattern.may_be_in(&file, Deadline::default(), block).unwrap()
}

fn lines(pattern: &Pattern, bytes: &str, within: &[&str], block: usize) -> Vec<String> {
    let file = OpenFile::holding(bytes.as_bytes()).unwrap();
    let within: Vec<String> = within.iter().map(|member| (*member).to_owned()).collect();
    let mut found = Vec::new();
    let mut offset = 0;
    // One at a time, so that going on is tried as well.
    loop {
        let some = pattern.lines_of(&file, Deadline::default(), &within, offset, 1, block).unwrap();
        let text = |line: &LineSpan| {
            let from = usize::try_from(line.offset).unwrap();
            bytes[from..from + usize::try_from(line.bytes).unwrap()].to_owned()
        };
        found.extend(some.lines.iter().map(text));
        match some.next {
            Some(next) => offset = next,
            None => break,
        }
    }
    let all = pattern.lines_of(&file, Deadline::default(), &within, 0, 1_000, block).unwrap();
    assert_eq!(all.lines.len(), found.len());
    found
}

/// Each character as JSON may write it: the choice decides how.
fn spelled(text: &str, choices: &[u8]) -> String {
    let mut out = String::new();
    for (c, choice) in text.chars().zip(choices.iter().cycle()) {
        match (c, choice % 4) {
            ('"', 0) => out.push_str("\\\""),
            ('\\', 0) => out.push_str("\\\\"),
            ('\n', 0) => out.push_str("\\n"),
            ('/', 0) => out.push_str("\\/"),
            (c, 0 | 1) if !c.is_control() && !matches!(c, '"' | '\\') => out.push(c),
            (c, choice) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = if choice == 2 { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
                }
            }
        }
    }
    out
}

/// Parts of expressions, of every kind that tells or ends something.
const PIECES: &[&str] = &[
    "a",
    "ab",
    "c+",
    "(bc|cab)",
    "[bc]",
    "(?i:ab)",
    "\\.",
    "x*",
    "\\b",
    "(a|)",
    ".",
    "a{2}",
    "^",
    "(?:b|[ac]c){1,2}",
    " ",
];

proptest! {
    #[test]
    fn a_text_is_found_however_json_spells_it(
        text in "[a-zäß日😀/\"\\\\ \n\t.k]{1,20}",
        before in "[a-z \\\\/ä]{0,30}",
        choices in proptest::collection::vec(any::<u8>(), 1..30),
        block in 8usize..64,
        ignore_case in any::<bool>(),
    ) {
        let line = format!("{{\"a\":\"{}{}\"}}", spelled(&before, &[0]), spelled(&text, &choices));
        let parsed: serde_json::Value = serde_json::from_str(&line).unwrap();
        prop_assert!(parsed["a"].as_str().unwrap().ends_with(&text));
        let wanted = if ignore_case { text.to_uppercase().to_lowercase() } else { text.clone() };
        let pattern = Pattern::of(&query(&wanted, false, ignore_case)).unwrap();
        if !pattern.find(&text, 1).is_empty() {
            let file = format!("{{}}\n{line}\n{{\"b\":1}}\n");
            prop_assert!(may_hold(&pattern, &file, block));
            prop_assert!(lines(&pattern, &file, &[], block).contains(&line));
            prop_assert!(lines(&pattern, &file, &["a"], block).contains(&line));
        }
    }

    /// Whatever the expression, a file whose plain text it matches may hold it.
    #[test]
    fn an_expression_never_rules_a_match_out(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 1..6),
        text in "[abcABC. ]{0,12}",
        block in 1usize..16,
    ) {
        let expression = pieces.concat();
        let pattern = regex(&expression);
        if !pattern.find(&text, 1).is_empty() {
            prop_assert!(may_hold(&pattern, &text, block), "{expression:?} in {text:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_ruled_out() {
    let file = r#"{"text":"the parser of größe \u0066oo C:\\dir\\file <b\/>"}"#;
    for there in ["parser", "größe", "foo", "C:\\dir", "<b/>", "the parser", "the\nparser"] {
        assert!(may_hold(&literal(there), file, 1 << 10), "{there}");
    }
    for not_there in ["Parser", "grösse", "fooo", "D:\\dir", "<i/>", "the lexer", "dirs"] {
        assert!(!may_hold(&literal(not_there), file, 1 << 10), "{not_there}");
    }
    assert!(may_hold(&Pattern::of(&query("PARSER", false, true)).unwrap(), file, 64));
    assert!(may_hold(&Pattern::of(&query("GRÖSSE", false, true)).unwrap(), "GRösSE", 64));
    assert!(may_hold(&regex("lexer|parser"), file, 64));
    assert!(!may_hold(&regex("lexer|scanner"), file, 64));
    assert!(!may_hold(&regex("par.*lexer"), file, 64));
    // Nothing is fixed in these.
    assert!(may_hold(&regex("[a-z]+"), file, 64));
    assert!(may_hold(&literal("\"\\"), "", 64));
}

#[test]
fn lines_count_where_it_is_inside_the_members_asked_for() {
    let file = concat!(
        "{\"type\":\"user\",\"message\":{\"content\":\"hello\"}}\n",
        "{\"type\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"user\"}}\n",
        "{\"type\":\"user\",\"mess\n",
        "\n",
        "{\"type\":\"user\"}"
    );
    let user = literal("user");
    let all: Vec<&str> = file.lines().collect();
    for block in [4, 16, 1 << 10] {
        assert_eq!(lines(&user, file, &[], block), [all[0], all[1], all[2], all[4]]);
        assert_eq!(lines(&user, file, &["message.content"], block), [all[1], all[2]]);
        assert_eq!(lines(&regex("[a-z]"), file, &[], block).len(), 5);
    }
}

#[test]
fn of_what_is_gone_into_only_the_inside_counts() {
    let file = concat!(
        "{\"a\":\"word\"}\n",
        "{\"a\":[{\"kind\":\"word\"},{\"b\":\"text\"}]}\n",
        "{\"a\":[{\"b\":{\"deep\":[\"word\"]}}]}\n",
        "{\"a\":{\"b\":\"word\"}}\n"
    );
    let all: Vec<&str> = file.lines().collect();
    // An object is not gone into for the elements of an array.
    assert_eq!(lines(&literal("word"), file, &["a", "a[].b"], 1 << 10), [all[0], all[2], all[3]]);
}

#[test]
fn a_line_longer_than_a_block_is_one_line() {
    let long = format!("{{\"a\":\"{} needle {}\"}}", "x".repeat(500), "y".repeat(500));
    let file = format!("{{}}\n{long}\n{{\"b\":\"needle\"}}\n");
    for block in [16, 100, 1 << 20] {
        assert_eq!(lines(&literal("needle"), &file, &[], block), [long.as_str(), "{\"b\":\"needle\"}"]);
        assert_eq!(lines(&literal("needle"), &file, &["a"], block), [long.as_str()]);
    }
}

#[test]
fn what_can_not_be_searched_for_is_said_in_a_sentence() {
    let refused = |text: &str, regex| Pattern::of(&query(text, regex, false)).unwrap_err().to_string();
    assert!(refused("", false).contains("empty"));
    assert!(refused(&"x".repeat(5_000), false).contains("4096"));
    for bomb in
        ["(", "a**{", "\\w{1000}{1000}", "((((a{100}){100}){100}){100})", "(?P<x>a)(?P<x>b)", &"(".repeat(2_000)]
    {
        let said = refused(bomb, true);
        assert!(said.starts_with("the query is no regular expression") && !said.contains('\n'), "{said}");
    }
    // As text the same is nothing special.
    assert_eq!(literal("(").find("f(x)", 9).len(), 1);
}

#[test]
fn matches_are_bytes_between_characters_and_empty_ones_do_not_count() {
    let spans = |pattern: &Pattern, text: &str, max| -> Vec<String> {
        let slice = |span: &sepia_ir::TextSpan| text[span.start as usize..span.end as usize].to_owned();
        pattern.find(text, max).iter().map(slice).collect()
    };
    assert_eq!(spans(&literal("ä"), "äbä", 9), ["ä", "ä"]);
    assert_eq!(spans(&literal("ä"), "äbä", 1), ["ä"]);
    assert_eq!(spans(&regex("b*"), "abba", 9), ["bb"]);
    assert_eq!(spans(&regex("^b.$"), "a\nbc\nbd", 9), ["bc", "bd"]);
    assert_eq!(spans(&Pattern::of(&query("STRASSE", false, true)).unwrap(), "strasse", 9), ["strasse"]);
}
