//! What a driver answers is checked before anything else sees it, whichever way it was
//! brought in. What is merely odd is dropped or set right with a warning; what nobody could
//! serve without lying is a [`Breach`] of the contract, and the call fails.

mod writing;

pub use writing::{artifacts, deleted, saved, translated};

use super::{Fault, FaultKind};
use crate::text::{clean_line, is_plain};
use sepia_ir::{
    Block, HistoryPage, HistoryQuery, LockState, MOST_SNIPPET, MessageNode, ScanReport, SearchHit, SearchPart,
    SearchQuery, SearchReport, Session, Summary, TextSpan, Warning, json_text,
};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashSet;

/// An answer that breaks the contract: one sentence that says which part of it and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach(pub String);

impl Breach {
    /// As the fault of a call.
    pub fn into_fault(self, driver: &str, call: &'static str) -> Fault {
        Fault::new(driver, call, FaultKind::Contract, self.0)
    }
}

fn breach<T>(message: impl Into<String>) -> Result<T, Breach> {
    Err(Breach(message.into()))
}

/// Longest id, bytes.
pub const MOST_ID: usize = 512;
/// Longest key of a scan, and longest stamp, bytes.
pub const MOST_KEY: usize = 4 << 10;
/// Largest index of a page, bytes.
pub const MOST_INDEX: usize = 64 << 20;
/// Warnings of one answer; the rest is counted.
const MOST_WARNINGS: usize = 1_000;
/// Levels of JSON text, as the contract has it: what common parsers take.
const MOST_DEPTH: usize = 128;
/// Years 1 to 9999, epoch seconds: what a date can be printed of.
const TIMES: std::ops::RangeInclusive<f64> = -62_135_596_800.0..=253_402_300_799.0;

/// Whether this can be an id: not empty, not too long, nothing in it that a person can't see.
pub fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MOST_ID && is_plain(id)
}

/// What `scan` found.
pub fn scan(mut report: ScanReport) -> Result<ScanReport, Breach> {
    // Most drivers give them in the order of their keys, and then no key can be there twice.
    let in_order = report.entries.is_sorted_by(|a, b| a.key < b.key);
    let mut met = HashSet::with_capacity(if in_order { 0 } else { report.entries.len() });
    let mut dropped = Vec::new();
    for (at, entry) in report.entries.iter_mut().enumerate() {
        if entry.key.is_empty() || entry.key.len() > MOST_KEY || entry.stamp.len() > MOST_KEY {
            return breach(format!(
                "entry {at} of the scan has a key of {} bytes and a stamp of {}; both may have {MOST_KEY}, and a key is not empty",
                entry.key.len(),
                entry.stamp.len()
            ));
        }
        finite("changed-at of a scan entry", entry.changed_at)?;
        entry.changed_at = entry.changed_at.clamp(0.0, *TIMES.end());
        // An id that can't be one is not known by its key alone, then.
        entry.session_id.take_if(|id| !is_id(id));
        if !in_order && !met.insert(entry.key.as_str()) {
            dropped.push(at);
        }
    }
    if !dropped.is_empty() {
        let first = clean_line(&report.entries[dropped[0]].key, 120);
        let mut at = 0;
        report.entries.retain(|_| {
            at += 1;
            dropped.binary_search(&(at - 1)).is_err()
        });
        let message =
            format!("{} entries repeat a key, the first of them `{first}`; each key is read once", dropped.len());
        report.warnings.push(Warning::new("duplicate-key", message));
    }
    warnings(&mut report.warnings);
    Ok(report)
}

/// The rows of these keys.
pub fn summaries(mut answer: Vec<Summary>, keys: &[String]) -> Result<Vec<Summary>, Breach> {
    if !answer.iter().map(|summary| &summary.key).eq(keys) {
        return breach(format!(
            "summaries of {} keys were asked for and {} came, or in another order or of other keys",
            keys.len(),
            answer.len()
        ));
    }
    for summary in &mut answer {
        let Summary { sessions, warnings: found, .. } = summary;
        sessions.retain(|session| {
            let fit = has_ids(session);
            if !fit {
                let shown = clean_line(&session.id, 80);
                found.push(Warning::new(
                    "invalid-id",
                    format!("the id `{shown}` can't be one; the session is left out"),
                ));
            }
            fit
        });
        for session in sessions {
            row(session, found)?;
        }
        warnings(found);
    }
    Ok(answer)
}

/// What the sessions of these keys hold of what was looked for.
pub fn search(
    mut answer: Vec<SearchReport>,
    keys: &[String],
    query: &SearchQuery,
) -> Result<Vec<SearchReport>, Breach> {
    if !answer.iter().map(|report| &report.key).eq(keys) {
        return breach(format!(
            "{} keys were to be searched and {} reports came, or in another order or of other keys",
            keys.len(),
            answer.len()
        ));
    }
    for SearchReport { sessions, warnings: said, .. } in &mut answer {
        sessions.retain(|found| {
            let fit = has_ids(&found.session);
            if !fit {
                let shown = clean_line(&found.session.id, 80);
                said.push(Warning::new(
                    "invalid-id",
                    format!("the id `{shown}` can't be one; the session is left out"),
                ));
            }
            fit
        });
        for found in &mut *sessions {
            row(&mut found.session, said)?;
            hits(&mut found.hits, query)?;
        }
        sessions.retain(|found| !found.hits.is_empty());
        warnings(said);
    }
    Ok(answer)
}

/// Hits of one session.
fn hits(hits: &mut [SearchHit], query: &SearchQuery) -> Result<(), Breach> {
    if hits.len() > query.hits.max(1) as usize {
        return breach(format!("{} hits of a session came and {} were asked for", hits.len(), query.hits));
    }
    for hit in hits {
        let title = hit.part == SearchPart::Title;
        if title != hit.node_id.is_none() || hit.node_id.is_some_and(|id| id < 0) || !query.looks_at(hit.part) {
            return breach(format!("a hit in `{}` of node {:?} was not asked for", hit.part.name(), hit.node_id));
        }
        finite("created-at of a hit", hit.created_at)?;
        if !TIMES.contains(&hit.created_at) {
            hit.created_at = 0.0;
        }
        let mut last = 0;
        let fits = |span: &TextSpan| {
            let range = span.start as usize..span.end as usize;
            let after = range.start >= std::mem::replace(&mut last, range.end);
            after && !range.is_empty() && hit.snippet.get(range).is_some()
        };
        if hit.snippet.len() > MOST_SNIPPET || hit.matches.is_empty() || !hit.matches.iter().all(fits) {
            return breach("the snippet of a hit is too long, or its matches are no parts of it in order");
        }
    }
    Ok(())
}

/// One row, or the header of a transcript.
pub fn session(mut session: Session) -> Result<Session, Breach> {
    if !has_ids(&session) {
        return breach(format!("the id `{}` can't be one", clean_line(&session.id, 80)));
    }
    let mut found = Vec::new();
    row(&mut session, &mut found)?;
    for warning in found {
        tracing::warn!("session {}: {}", session.id, warning.message);
    }
    Ok(session)
}

fn has_ids(session: &Session) -> bool {
    is_id(&session.id) && [&session.parent_session_id, &session.agent_id].into_iter().flatten().all(|id| is_id(id))
}

fn row(session: &mut Session, found: &mut Vec<Warning>) -> Result<(), Breach> {
    if !session.nodes.is_empty() {
        return breach("a row carries nodes; they are read by `open`");
    }
    json("metadata of a session", &mut session.metadata)?;
    list("cogs-json", &mut session.cogs_json)?;
    list("workspace-dirs", &mut session.workspace_dirs)?;
    for (name, time) in [("created-at", &mut session.created_at), ("last-activity-at", &mut session.last_activity_at)] {
        finite(name, *time)?;
        if !TIMES.contains(time) {
            *time = 0.0;
            found.push(Warning::new(
                "impossible-time",
                format!("{name} of session {} lies outside the years 1 to 9999; it counts as unknown", session.id),
            ));
        }
    }
    for checkpoint in &session.checkpoints {
        finite("created-at of a checkpoint", checkpoint.created_at)?;
    }
    for prompt in &session.prompt_history {
        finite("timestamp of a prompt", prompt.timestamp)?;
    }
    Ok(())
}

/// The nodes of a transcript as they come in, batch by batch.
#[derive(Debug)]
pub struct Nodes {
    last: i64,
    count: u64,
    bytes: u64,
    most_count: u64,
    most_bytes: u64,
}

impl Nodes {
    /// None so far; at most so many nodes and bytes of text.
    pub fn new(most_count: u64, most_bytes: u64) -> Self {
        Self { last: -1, count: 0, bytes: 0, most_count, most_bytes }
    }

    /// Checks the next batch, and gives its text in bytes.
    pub fn batch(&mut self, nodes: &mut [MessageNode]) -> Result<usize, Breach> {
        let mut bytes = 0;
        for node in nodes.iter_mut() {
            if node.node_id <= self.last {
                return breach(format!(
                    "node {} comes after node {}; ids are not negative and rise in the order of the store",
                    node.node_id, self.last
                ));
            }
            self.last = node.node_id;
            self::node(node)?;
            bytes += text_of(node);
        }
        self.count += nodes.len() as u64;
        self.bytes += bytes as u64;
        if self.count > self.most_count || self.bytes > self.most_bytes {
            return breach(format!(
                "the session does not end: {} nodes and {} MiB so far",
                self.count,
                self.bytes >> 20
            ));
        }
        Ok(bytes)
    }
}

/// One page.
pub fn page(mut page: HistoryPage, query: &HistoryQuery) -> Result<HistoryPage, Breach> {
    let count = page.nodes.len() as u64;
    let end = page.start.checked_add(count).filter(|end| *end <= page.total);
    let end = end.filter(|end| query.before.is_none_or(|before| *end <= before));
    if count > u64::from(query.limit.max(1)) || end.is_none() {
        return breach(format!(
            "a page of {count} nodes from {} of {} answers a query for {} before {:?}",
            page.start, page.total, query.limit, query.before
        ));
    }
    if page.index.as_ref().is_some_and(|index| index.len() > MOST_INDEX) {
        return breach(format!("the index of a page has more than {} MiB", MOST_INDEX >> 20));
    }
    for node in page.nodes.iter_mut().chain(&mut page.tool_call_nodes) {
        if node.node_id < 0 {
            return breach(format!("node id {} is negative", node.node_id));
        }
        self::node(node)?;
    }
    Ok(page)
}

/// Sessions that are held.
pub fn locks(mut locks: Vec<LockState>) -> Vec<LockState> {
    locks.retain(|lock| is_id(&lock.id));
    locks
}

/// One node.
fn node(node: &mut MessageNode) -> Result<(), Breach> {
    let id = node.node_id;
    let named = |breach: Breach| Breach(format!("node {id}: {}", breach.0));
    json("metadata", &mut node.metadata).map_err(named)?;
    for call in &mut node.tool_calls {
        json("arguments of a tool call", &mut call.arguments).map_err(named)?;
        finite("duration-ms of a tool call", call.duration_ms.unwrap_or(0.0)).map_err(named)?;
    }
    finite("created-at", node.created_at).map_err(named)?;
    if !TIMES.contains(&node.created_at) {
        node.created_at = 0.0;
    }
    if let Some(usage) = &node.usage {
        let parts = [usage.cache_read, usage.cache_write, usage.thinking, usage.cost];
        let sum = parts.into_iter().flatten().fold(usage.input + usage.output, |sum, part| sum + part);
        finite("usage", sum).map_err(named)?;
    }
    if let Some(result) = &node.tool_result {
        finite("duration-ms of a result", result.duration_ms.unwrap_or(0.0)).map_err(named)?;
    }
    for block in &node.blocks {
        if let Block::File(file) = block {
            finite("size of a file block", file.size.unwrap_or(0.0)).map_err(named)?;
        }
    }
    Ok(())
}

/// Bytes of text that a node carries, as good as all that it costs.
pub fn text_of(node: &MessageNode) -> usize {
    let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let blocks = node.blocks.iter().map(|block| match block {
        Block::Text(text) => text.text.len(),
        Block::Image(image) => of(&image.data) + of(&image.uri),
        Block::Audio(audio) => of(&audio.data),
        Block::File(file) => of(&file.data) + of(&file.text) + of(&file.uri),
    });
    let calls = node.tool_calls.iter().map(|call| {
        let diffs = call.diffs.iter().map(|d| d.path.len() + of(&d.old_text) + of(&d.new_text));
        let places = call.locations.iter().map(|place| place.path.len());
        call.arguments.len() + call.name.len() + diffs.chain(places).sum::<usize>()
    });
    size_of::<MessageNode>()
        + node.content.len()
        + node.metadata.len()
        + of(&node.thinking)
        + of(&node.thinking_signature)
        + blocks.chain(calls).sum::<usize>()
}

fn warnings(warnings: &mut Vec<Warning>) {
    let over = warnings.len().saturating_sub(MOST_WARNINGS);
    warnings.truncate(MOST_WARNINGS);
    for warning in warnings.iter_mut() {
        for (text, most) in [(&mut warning.code, 64), (&mut warning.message, 1 << 10)] {
            if text.len() > most || !is_plain(text) {
                *text = clean_line(text, most);
            }
        }
    }
    if over > 0 {
        warnings.push(Warning::new("more-warnings", format!("{over} further warnings are left out")));
    }
}

fn finite(what: &str, number: f64) -> Result<(), Breach> {
    if number.is_finite() { Ok(()) } else { breach(format!("{what} is {number}, which is no number that JSON has")) }
}

/// JSON text of a list.
fn list(what: &str, text: &mut String) -> Result<(), Breach> {
    json(what, text)?;
    if text.trim_ascii_start().starts_with('[') { Ok(()) } else { breach(format!("{what} is no JSON list")) }
}

/// Whether JSON text has more levels than that.
fn is_deeper(json: &[u8], most: usize) -> bool {
    // Nearly all texts have fewer brackets than that, in strings or out of them.
    if memchr::memchr2_iter(b'[', b'{', json).nth(most).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    json.iter().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// JSON text of one value, at most 128 deep, with every surrogate paired.
fn json(what: &str, text: &mut String) -> Result<(), Breach> {
    if matches!(text.as_str(), "null" | "{}" | "[]") {
        return Ok(());
    }
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return breach(format!("{what} is no JSON value ({error})"));
    }
    // The parser just used counts no depth: it keeps what is open in a list of its own.
    if is_deeper(text.as_bytes(), MOST_DEPTH) {
        return breach(format!("{what} is no JSON value of at most {MOST_DEPTH} levels"));
    }
    if let (Cow::Owned(fixed), _) = json_text::replace_lone_surrogates(text.as_bytes()) {
        *text = String::from_utf8(fixed).map_err(|_| Breach(format!("{what} is no UTF-8")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use sepia_ir::Role;

    fn depth_is_fine(levels: usize) -> bool {
        let mut text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        json("x", &mut text).is_ok()
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        assert!(depth_is_fine(128));
        assert!(!depth_is_fine(129));
        let mut wide = format!("[{}]", ["{}"; 1000].join(","));
        assert!(json("x", &mut wide).is_ok());
        let mut quoted = format!(r#"["{}","\\\"{}"]"#, "[".repeat(500), "{".repeat(500));
        assert!(json("x", &mut quoted).is_ok());
    }

    #[test]
    fn ids_are_what_a_person_can_see() {
        for id in ["a", "../../x", "naïve id", &"x".repeat(512)] {
            assert!(is_id(id), "{id:?}");
        }
        for id in ["", "a\0", "a\nb", "\u{202e}a", "\u{feff}", &"x".repeat(513)] {
            assert!(!is_id(id), "{id:?}");
        }
    }

    #[test]
    fn the_sum_of_a_session_is_bounded() {
        let node = |id| MessageNode { content: "x".repeat(1000), ..MessageNode::new(id, Role::User, 0.0) };
        let mut nodes = Nodes::new(100, 5_000);
        assert!(nodes.batch(&mut [node(1), node(2)]).unwrap() > 2_000);
        assert!(nodes.batch(&mut [node(3), node(4), node(5)]).is_err());
        let mut nodes = Nodes::new(1, u64::MAX);
        assert!(nodes.batch(&mut [node(1)]).is_ok());
        assert!(nodes.batch(&mut [node(2)]).is_err());
    }

    #[test]
    fn numbers_that_json_has_not_are_refused() {
        let mut node = MessageNode::new(1, Role::User, f64::INFINITY);
        assert!(super::node(&mut node).unwrap_err().0.contains("created-at"));
        node.created_at = 1e300;
        super::node(&mut node).unwrap();
        assert!(node.created_at.abs() < f64::EPSILON);
    }
}
