//! One page of a session: the index, from the host's memory or from one look through the file,
//! and then only the messages that the page is made of.

use crate::database::Index as Database;
use crate::gather::gather;
use crate::index::{Index, number};
use crate::index_blob;
use crate::locate::{confirm, locate};
use crate::session;
use crate::task;
use crate::transcript::Reader;
use sepia_ir::{Branch, DriverError, HistoryPage, HistoryQuery, MessageNode, Role, SessionRef};
use sepia_sdk::Host;
use std::collections::BTreeSet;

/// The page that a query asks for.
pub(crate) fn page(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
    let database = Database::new(host, Vec::new());
    let known = query.index.as_deref().and_then(index_blob::place_of);
    let kept = match known.map(|kept| confirm(host, session, kept)).transpose()?.flatten() {
        Some(kept) => kept,
        None => locate(host, session, &database)?,
    };
    let tasks = task::Lists::new(host);
    let found = session::find(host, &kept, &database, &tasks)?;
    let mut found = found.ok_or_else(|| DriverError::unknown_session(&session.id))?;
    let stamp = found.source.as_ref().map(|source| source.stamp.clone()).unwrap_or_default();
    let before = query.index.as_deref().and_then(|bytes| index_blob::unpack(bytes, &kept, &stamp));
    let (index, nodes, fresh) = if let Some(index) = before {
        (index, None, None)
    } else {
        found.prepare(host)?;
        let gathered = match &found.source {
            Some(source) => gather(host, source, true)?,
            None => crate::gather::Gathered { nodes: Some(Vec::new()), ..Default::default() },
        };
        let fresh = index_blob::pack(&gathered.index, &kept, &stamp);
        (gathered.index, gathered.nodes, fresh)
    };
    let Window { numbers, total, start } = Window::of(&index, query);
    let callers = callers(&index, &numbers);
    let (nodes, outside) = match (nodes, found.source) {
        (Some(nodes), _) => cut(nodes, &numbers, &callers),
        (None, Some(source)) => build(Reader::new(host, source, index), &numbers, &callers)?,
        (None, None) => (Vec::new(), Vec::new()),
    };
    Ok(HistoryPage { nodes, tool_call_nodes: outside, total: total as u64, start: start as u64, index: fresh })
}

type Nodes = (Vec<MessageNode>, Vec<MessageNode>);

/// The nodes of a page.
struct Window {
    /// Numbers of its nodes, rising, from 1.
    numbers: Vec<u32>,
    /// Nodes of the branch.
    total: usize,
    start: usize,
}

impl Window {
    fn of(index: &Index, query: &HistoryQuery) -> Self {
        // Mostly the live branch is every node.
        let live = if query.branch == Branch::Live { index.live() } else { None };
        let total = live.as_ref().map_or(index.total as usize, Vec::len);
        let range = sepia_sdk::window(query, total);
        let start = range.start;
        let numbers = match live {
            Some(live) => live[range].to_vec(),
            None => (bounded(range.start) + 1..=bounded(range.end)).collect(),
        };
        Self { numbers, total, start }
    }
}

fn bounded(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX - 1)
}

fn holds(numbers: &[u32], node: u32) -> bool {
    numbers.binary_search(&node).is_ok()
}

/// Nodes outside of a page whose calls are answered in it.
fn callers(index: &Index, numbers: &[u32]) -> BTreeSet<u32> {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return BTreeSet::new() };
    let calls = index.calls.range(*first..=*last).filter(|(result, _)| holds(numbers, **result));
    calls.map(|(_, (call, _))| *call).filter(|call| !holds(numbers, *call)).collect()
}

/// The page out of all nodes.
fn cut(nodes: Vec<MessageNode>, numbers: &[u32], callers: &BTreeSet<u32>) -> Nodes {
    let (mut inside, mut outside) = (Vec::with_capacity(numbers.len()), Vec::new());
    for node in nodes {
        let id = number(&node);
        if holds(numbers, id) {
            inside.push(node);
        } else if callers.contains(&id) {
            outside.push(node);
        }
    }
    (inside, answered(outside))
}

/// The page out of the messages that it is made of.
fn build(mut reader: Reader, numbers: &[u32], callers: &BTreeSet<u32>) -> Result<Nodes, DriverError> {
    let wanted: BTreeSet<usize> = numbers.iter().chain(callers).map(|node| reader.index.message_of(*node)).collect();
    let mut nodes = Vec::with_capacity(numbers.len());
    for message in wanted {
        let made = reader.nodes(message)?;
        nodes.extend(made.into_iter().filter(|node| holds(numbers, number(node)) || callers.contains(&number(node))));
    }
    Ok(cut(nodes, numbers, callers))
}

/// Only nodes that make calls are those of calls.
fn answered(nodes: Vec<MessageNode>) -> Vec<MessageNode> {
    nodes.into_iter().filter(|node| node.role == Role::Assistant && !node.tool_calls.is_empty()).collect()
}
