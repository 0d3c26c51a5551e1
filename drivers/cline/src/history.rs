//! One page of a session: the index, from the host's memory or from one look through the file,
//! and then only the messages that the page is made of.

use crate::database::Index as Database;
use crate::gather::gather;
use crate::index::number;
use crate::index_blob;
use crate::locate::{confirm, locate};
use crate::session;
use crate::task;
use crate::transcript::Reader;
use sepia_ir::{DriverError, HistoryPage, HistoryQuery, MessageNode, Role, SessionRef};
use sepia_sdk::Host;
use std::collections::BTreeSet;
use std::ops::Range;

/// The page that a query asks for. All messages are one branch.
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
    let total = index.total as usize;
    let Range { start, end } = sepia_sdk::window(query, total);
    // Nodes from 1.
    let window = start + 1..end + 1;
    let callers: BTreeSet<u32> = index
        .calls
        .range(bounded(window.start)..bounded(window.end))
        .map(|(_, (call, _))| *call)
        .filter(|call| !window.contains(&(*call as usize)))
        .collect();
    let (nodes, outside) = match (nodes, found.source) {
        (Some(nodes), _) => cut(nodes, &window, &callers),
        (None, Some(source)) => build(Reader::new(host, source, index), &window, &callers)?,
        (None, None) => (Vec::new(), Vec::new()),
    };
    Ok(HistoryPage { nodes, tool_call_nodes: outside, total: total as u64, start: start as u64, index: fresh })
}

type Nodes = (Vec<MessageNode>, Vec<MessageNode>);

fn bounded(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

/// The page out of all nodes.
fn cut(nodes: Vec<MessageNode>, window: &Range<usize>, callers: &BTreeSet<u32>) -> Nodes {
    let (mut inside, mut outside) = (Vec::with_capacity(window.len()), Vec::new());
    for node in nodes {
        let id = number(&node);
        if window.contains(&(id as usize)) {
            inside.push(node);
        } else if callers.contains(&id) {
            outside.push(node);
        }
    }
    (inside, answered(outside))
}

/// The page out of the messages that it is made of.
fn build(mut reader: Reader, window: &Range<usize>, callers: &BTreeSet<u32>) -> Result<Nodes, DriverError> {
    let mut wanted: BTreeSet<usize> = callers.iter().map(|node| reader.index.message_of(*node)).collect();
    if !window.is_empty() {
        let (first, last) = (bounded(window.start), bounded(window.end - 1));
        wanted.extend(reader.index.message_of(first)..=reader.index.message_of(last));
    }
    let mut nodes = Vec::with_capacity(window.len());
    for message in wanted {
        let made = reader.nodes(message)?;
        nodes.extend(
            made.into_iter()
                .filter(|node| window.contains(&(number(node) as usize)) || callers.contains(&number(node))),
        );
    }
    Ok(cut(nodes, window, callers))
}

/// Only nodes that make calls are those of calls.
fn answered(nodes: Vec<MessageNode>) -> Vec<MessageNode> {
    nodes.into_iter().filter(|node| node.role == Role::Assistant && !node.tool_calls.is_empty()).collect()
}
