//! One page of a session. All of its messages are one chain, so both branches are the same; one
//! look through them tells how many nodes there are and what became of the calls, and only the
//! messages of the page, and those whose calls it answers, are made into nodes that stay.

use crate::facts::Facts;
use crate::locate::locate;
use crate::record::Record;
use crate::step::Chain;
use sepia_ir::{DriverError, HistoryPage, HistoryQuery, MessageNode, SessionRef};
use sepia_sdk::Host;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The page that a query asks for.
pub(crate) fn page(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
    let record = locate(host, session)?;
    let facts = Rc::new(record.facts()?);
    let total = usize::try_from(facts.tip).unwrap_or_default();
    let Range { start, end } = sepia_sdk::window(query, total);
    // Node ids count from 1.
    let id = |position: usize| i64::try_from(position).map_or(i64::MAX, |position| position + 1);
    let inside = id(start)..id(end);
    let (messages, before) = facts.messages(inside.start, inside.end);
    let mut nodes = if inside.is_empty() { Vec::new() } else { read(&record, &facts, messages, before)? };
    nodes.retain(|node| inside.contains(&node.node_id));
    let tool_call_nodes = callers(&record, &facts, &nodes)?;
    Ok(HistoryPage { tool_call_nodes, total: total as u64, start: start as u64, index: None, nodes })
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
