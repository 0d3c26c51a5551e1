//! Lies about what it found, each time in another way.

use sepia_hostile::{Guest, Misdeed, row};
use sepia_ir::{FoundSession, SearchHit, SearchPart, SearchQuery, SearchReport, TextSpan};

struct Bad;

impl Misdeed for Bad {
    fn search(keys: &[String], query: &SearchQuery) -> Option<Vec<SearchReport>> {
        let hit = |part, node_id, snippet: &str, spans: &[(u32, u32)]| SearchHit {
            part,
            node_id,
            created_at: 1.0,
            tool_name: None,
            snippet: snippet.to_owned(),
            matches: spans.iter().map(|(start, end)| TextSpan { start: *start, end: *end }).collect(),
        };
        let user = |snippet: &str, spans: &[(u32, u32)]| vec![hit(SearchPart::User, Some(1), snippet, spans)];
        let hits = match query.text.as_str() {
            "none" => vec![],
            "many" => (0..50).flat_map(|_| user("text", &[(0, 4)])).collect(),
            "no-match" => user("text", &[]),
            "beyond" => user("text", &[(0, 5)]),
            "far-beyond" => user("text", &[(u32::MAX - 1, u32::MAX)]),
            "backwards" => user("text", &[(3, 1)]),
            "empty" => user("text", &[(2, 2)]),
            "out-of-order" => user("text", &[(2, 3), (0, 1)]),
            "overlapping" => user("text", &[(0, 3), (2, 4)]),
            "inside-a-character" => user("ää", &[(1, 2)]),
            "long" => user(&"x".repeat(100_000), &[(0, 1)]),
            "no-node" => vec![hit(SearchPart::User, None, "text", &[(0, 4)])],
            "negative-node" => vec![hit(SearchPart::User, Some(-1), "text", &[(0, 4)])],
            "title-of-a-node" => vec![hit(SearchPart::Title, Some(1), "text", &[(0, 4)])],
            "other-part" => vec![hit(SearchPart::Thinking, Some(1), "text", &[(0, 4)])],
            "no-time" => vec![SearchHit { created_at: f64::NAN, ..user("text", &[(0, 4)]).remove(0) }],
            _ => user("text", &[(0, 1), (1, 4)]),
        };
        let id = if query.text == "no-id" { "\u{1b}[2J" } else { "s" };
        let found = |key: &String| SearchReport {
            sessions: vec![FoundSession { session: row(id), hits: hits.clone(), more: false }],
            ..SearchReport::empty(key)
        };
        let mut reports: Vec<SearchReport> = keys.iter().map(found).collect();
        match query.text.as_str() {
            "fewer" => drop(reports.pop()),
            "other-keys" => "other".clone_into(&mut reports[0].key),
            _ => {}
        }
        Some(reports)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
