//! Searching a transcript: the host finds the lines that may hold a match, and only the nodes
//! that these make are read.

use crate::draft::Draft;
use crate::gather::gather;
use crate::history::build;
use crate::index::{Index, NodeKind, position};
use crate::place::{STORE, Transcript};
use crate::projection::Detail;
use crate::summary::{Row, rows};
use sepia_ir::{
    DriverError, ErrorCode, FoundSession, LineSpan, SearchPart, SearchQuery, SearchReport, SummaryDetail, Warning,
};
use sepia_sdk::Host;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

/// Members of a record that hold what a reader sees, titles included.
const MEMBERS: [&str; 14] = [
    "message.content",
    "message.content[].text",
    "message.content[].thinking",
    "message.content[].input",
    "message.content[].content",
    "message.content[].content[].text",
    "message.content[].content[].source.data",
    "message.content[].source.data",
    "content",
    "customTitle",
    "aiTitle",
    "summary",
    "lastPrompt",
    sepia_sdk::carried::KEY,
];
/// Lines asked for at first: as many as a few hits mostly need.
const FIRST_LINES: u32 = 16;
/// Lines asked for at once when those were not enough.
const MOST_LINES: u32 = 1024;
/// Bytes of lines whose nodes are in memory at once, but for the last of them.
const MOST_BYTES: u64 = 4 << 20;

/// What the sessions of these keys hold.
pub(crate) fn search(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<SearchReport>, DriverError> {
    let within = MEMBERS.map(str::to_owned);
    keys.iter().map(|key| of_key(host, key, query, &within)).collect()
}

fn of_key(host: &Host, key: &str, query: &SearchQuery, within: &[String]) -> Result<SearchReport, DriverError> {
    let mut report = SearchReport::empty(key);
    let Some((path, transcript)) = Transcript::of_key(key) else { return Ok(report) };
    match in_file(host, path, &transcript, query, within) {
        Ok(found) => report.sessions = found,
        Err(error) if error.code == ErrorCode::NotFound => {}
        // The query is at fault.
        Err(error) if error.code == ErrorCode::Invalid => return Err(error),
        Err(error) => {
            let message = format!("`{path}` was not searched to its end: {error}");
            report.warnings.push(Warning::new("not-searched", message).in_file(path));
        }
    }
    Ok(report)
}

fn in_file(
    host: &Host,
    path: &str,
    transcript: &Transcript<'_>,
    query: &SearchQuery,
    within: &[String],
) -> Result<Vec<FoundSession>, DriverError> {
    let lines = host.lines(query, STORE, path, within, 0, FIRST_LINES)?;
    if lines.lines.is_empty() && !is_titled_beside(host, transcript, query)? {
        return Ok(Vec::new());
    }
    let mut drafts: Option<Vec<Draft>> = None;
    let mut found = Vec::new();
    for Row { session, draft, envelope } in rows(host, path, transcript, SummaryDetail::Row)? {
        let mut candidates = Candidates {
            host,
            path,
            query,
            within,
            lines: lines.lines.iter().copied().collect(),
            more: lines.next,
            index: None,
            met: HashSet::new(),
        };
        let next = &mut || {
            let window = candidates.next(|| {
                let drafts = match &mut drafts {
                    Some(drafts) => drafts,
                    none => none.insert(gather(host, path, transcript.scope(), Detail::Tree)?.drafts),
                };
                Ok(drafts.get_mut(draft).map(|draft| std::mem::take(&mut draft.index)).unwrap_or_default())
            })?;
            let Some((index, window)) = window else { return Ok(Vec::new()) };
            let (nodes, _) = build(host, path, index, envelope.clone(), &window)?;
            Ok(nodes)
        };
        found.extend(sepia_sdk::search::session(host, session, query, next)?);
    }
    Ok(found)
}

/// Whether the file beside a transcript may give it a title that matches.
fn is_titled_beside(host: &Host, transcript: &Transcript<'_>, query: &SearchQuery) -> Result<bool, DriverError> {
    if !query.looks_at(SearchPart::Title) {
        return Ok(false);
    }
    let paths: Vec<String> = transcript.meta_path().or_else(|| transcript.title_path()).into_iter().collect();
    Ok(host.may_hold(query, STORE, &paths)?.contains(&Some(true)))
}

/// The nodes of a session that may hold a match, a few lines of them at a time.
struct Candidates<'a> {
    host: &'a Host,
    path: &'a str,
    query: &'a SearchQuery,
    within: &'a [String],
    /// Lines that are still to be looked at.
    lines: VecDeque<LineSpan>,
    /// Where there are more.
    more: Option<u64>,
    index: Option<Rc<Index>>,
    /// Nodes that were given already.
    met: HashSet<u32>,
}

/// Nodes to be read, by position, in order.
type Window = (Rc<Index>, Vec<u32>);

impl Candidates<'_> {
    /// The next nodes; none at the end.
    fn next(&mut self, index: impl FnOnce() -> Result<Index, DriverError>) -> Result<Option<Window>, DriverError> {
        let index = match &self.index {
            Some(index) => Rc::clone(index),
            None if self.lines.is_empty() => return Ok(None),
            None => Rc::clone(self.index.insert(Rc::new(index()?))),
        };
        loop {
            let (mut nodes, mut bytes) = (BTreeSet::new(), 0);
            while bytes < MOST_BYTES
                && let Some(line) = self.lines.pop_front()
            {
                bytes += line.bytes;
                nodes.extend(nodes_at(&index, line.offset).filter(|at| self.met.insert(*at)));
            }
            if !nodes.is_empty() {
                return Ok(Some((index, nodes.into_iter().collect())));
            }
            if self.lines.is_empty() {
                let Some(offset) = self.more else { return Ok(None) };
                let page = self.host.lines(self.query, STORE, self.path, self.within, offset, MOST_LINES)?;
                (self.lines, self.more) = (page.lines.into(), page.next);
            }
        }
    }
}

/// Nodes, from 0, that the line at this place makes or adds to.
fn nodes_at(index: &Index, offset: u64) -> std::ops::Range<u32> {
    let Ok(line) = index.lines.binary_search_by_key(&offset, |line| line.offset) else { return 0..0 };
    let from = index.lines[line].node;
    let nodes = &index.nodes[from as usize..];
    if nodes.first().is_some_and(|node| node.kind == NodeKind::Assistant) {
        return from..from + 1;
    }
    from..from + position(nodes.iter().take_while(|node| node.first_line as usize == line).count())
}
