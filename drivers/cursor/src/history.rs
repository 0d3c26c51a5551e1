//! One page of a session. Mostly all of its messages are one chain, and both branches are the same; one
//! look through them tells how many nodes there are and what became of the calls, and only the
//! messages of the page, and those whose calls it answers, are made into nodes that stay.

use crate::facts::Facts;
use crate::locate::locate;
use crate::record::Record;
use crate::step::Chain;
use sepia_ir::{Branch, DriverError, HistoryPage, HistoryQuery, MessageNode, SessionRef};
use sepia_sdk::Host;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The page that a query asks for.
pub(crate) fn page(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
    let record = locate(host, session)?;
    let facts = Rc::new(record.facts()?);
    let live = if query.branch == Branch::Live { facts.live() } else { None };
    let total = live.as_ref().map_or(usize::try_from(facts.total()).unwrap_or_default(), Vec::len);
    let Range { start, end } = sepia_sdk::window(query, total);
    // Node ids count from 1.
    let id = |position: usize| i64::try_from(position).map_or(i64::MAX, |position| position + 1);
    let nodes = match live {
        None => nodes(&record, &facts, id(start)..id(end))?,
        Some(live) => {
            let page = &live[start..end];
            let span = page.first().copied().unwrap_or_default()..page.last().map_or(0, |last| last + 1);
            let mut nodes = nodes(&record, &facts, span)?;
            nodes.retain(|node| page.binary_search(&node.node_id).is_ok());
            nodes
        }
    };
    let tool_call_nodes = callers(&record, &facts, &nodes)?;
    Ok(HistoryPage { tool_call_nodes, total: total as u64, start: start as u64, index: None, nodes })
}

/// The nodes of these ids.
fn nodes(record: &Record, facts: &Rc<Facts>, inside: Range<i64>) -> Result<Vec<MessageNode>, DriverError> {
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    let (messages, before) = facts.messages(inside.start, inside.end);
    let mut nodes = read(record, facts, messages, before)?;
    nodes.retain(|node| inside.contains(&node.node_id));
    Ok(nodes)
}

fn read(
    record: &Record,
    facts: &Rc<Facts>,
    messages: Range<usize>,
    before: i64,
) -> Result<Vec<MessageNode>, DriverError> {
    let mut chain = Chain::after((record.reader)(messages)?, Rc::clone(facts), before);
    let mut nodes = Vec::new();
    // What was passed over is told with the session.
    while let Some(steps) = chain.message(&mut Vec::new())? {
        nodes.extend(steps.into_iter().map(|step| step.node));
    }
    Ok(nodes)
}

/// The nodes outside a page whose calls are answered in it.
fn callers(record: &Record, facts: &Rc<Facts>, page: &[MessageNode]) -> Result<Vec<MessageNode>, DriverError> {
    let declared: HashSet<&str> = page.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
    let answered = page.iter().filter_map(|node| node.tool_call_id.as_deref());
    let wanted: HashSet<&str> = answered.filter(|id| !declared.contains(id)).collect();
    let messages: BTreeSet<usize> = wanted.iter().flat_map(|id| facts.callers(id)).copied().collect();
    let mut nodes = Vec::new();
    for message in messages {
        let made = read(record, facts, message..message + 1, facts.before(message))?;
        nodes.extend(
            made.into_iter().filter(|node| node.tool_calls.iter().any(|call| wanted.contains(call.id.as_str()))),
        );
    }
    Ok(nodes)
}
