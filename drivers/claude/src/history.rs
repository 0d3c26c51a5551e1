//! One page of a session: the tree, from the host's memory or from one look through the
//! file, and then only the lines that the page is made of.

use crate::assemble::{Assembler, Envelope};
use crate::index::{Index, NodeKind, position};
use crate::index_blob;
use crate::lines::{Lines, MAX_LINE};
use crate::place;
use crate::stub;
use crate::transcript::tree;
use sepia_ir::{Branch, DriverError, HistoryPage, HistoryQuery, SessionRef};
use sepia_sdk::Host;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// The page that a query asks for.
pub(crate) fn page(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
    let known = query.index.as_deref().and_then(index_blob::path_of);
    let located = match known.map(|path| place::confirm(host, session, path)).transpose()?.flatten() {
        Some(located) => located,
        None => place::locate(host, session)?,
    };
    let inside = located.inside.as_deref();
    let kept = query.index.as_deref().and_then(|bytes| index_blob::unpack(bytes, &located.file, inside));
    let (index, envelope, fresh) = if let Some((index, envelope)) = kept {
        (index, envelope, None)
    } else {
        let (index, envelope) = tree(host, session, &located)?;
        let bytes = index_blob::pack(&index, &envelope, &located.file, inside);
        (index, envelope, Some(bytes))
    };
    let branch = match query.branch {
        Branch::All => (0..position(index.nodes.len())).collect(),
        Branch::Live => index.live(),
    };
    let total = branch.len();
    let range = sepia_sdk::window(query, total);
    let start = range.start;
    let window = &branch[range];
    let (nodes, tool_call_nodes) = build(host, &located.file.path, Rc::new(index), envelope, window)?;
    Ok(HistoryPage { nodes, tool_call_nodes, total: total as u64, start: start as u64, index: fresh })
}

type Nodes = Vec<sepia_ir::MessageNode>;

/// The nodes of a window, and those outside whose calls are answered in it.
pub(crate) fn build(
    host: &Host,
    path: &str,
    index: Rc<Index>,
    envelope: Envelope,
    window: &[u32],
) -> Result<(Nodes, Nodes), DriverError> {
    let inside: HashSet<u32> = window.iter().copied().collect();
    let callers = window.iter().filter_map(|node| index.nodes[*node as usize].call.checked_sub(1));
    let wanted: HashSet<u32> = inside.iter().copied().chain(callers).collect();
    let needed: BTreeSet<u32> = wanted.iter().flat_map(|node| lines_of(&index, *node)).collect();
    let mut assembler = Assembler::new(Rc::clone(&index), envelope, path.to_owned(), Some(wanted));
    let mut lines = Lines::near(host.clone(), path.to_owned());
    for line in needed {
        let plan = index.lines[line as usize];
        if plan.length > MAX_LINE {
            assembler.stub(line, &stub::look(host, path, &plan)?);
        } else {
            assembler.feed(line, lines.get(plan.offset, plan.length)?);
        }
    }
    let (mut nodes, mut outside) = (Vec::with_capacity(window.len()), Vec::new());
    while let Some(node) = assembler.pop(false) {
        let at = u32::try_from(node.node_id - 1).unwrap_or(u32::MAX);
        if inside.contains(&at) { nodes.push(node) } else { outside.push(node) }
    }
    // Nodes come in the order of the store; a branch can differ from it only in odd files.
    if !window.is_sorted() {
        let place = |id: i64| window.iter().position(|node| i64::from(*node) + 1 == id);
        nodes.sort_by_key(|node| place(node.node_id));
    }
    Ok((nodes, outside))
}

/// The lines that a node and the outcomes of its calls are made of.
fn lines_of(index: &Index, node: u32) -> Vec<u32> {
    let plan = index.nodes[node as usize];
    if plan.kind != NodeKind::Assistant {
        return vec![plan.first_line];
    }
    let last = plan.last_line.max(plan.answered_line);
    (plan.first_line..=last)
        .filter(|line| {
            let from = index.lines[*line as usize].node;
            from == node
                || index.nodes[from as usize..]
                    .iter()
                    .take_while(|other| other.first_line == *line)
                    .any(|other| other.kind == NodeKind::Tool && other.call == node + 1)
        })
        .collect()
}
