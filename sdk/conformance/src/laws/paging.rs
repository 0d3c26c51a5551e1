//! Laws of pages.

use super::{Facts, Verdict, Verdicts, laws, must, same};
use crate::subject::Subject;
use sepia_ir::{Branch, HistoryPage, HistoryQuery, MessageNode, Session, chain};
use std::collections::{BTreeSet, HashSet};

/// More pages than this of one session and size prove no more.
const MOST_PAGES: usize = 64;

pub(crate) fn all(subject: &dyn Subject, facts: &Facts<'_>, header: &Session, nodes: &[MessageNode]) -> Verdicts {
    let paged = Paged {
        subject,
        facts,
        nodes,
        live: chain::live(nodes, header.main_chain_id).into_iter().map(|at| &nodes[at]).collect(),
        all: nodes.iter().collect(),
    };
    laws![
        pages_add_up_to_the_branch(&paged),
        a_page_is_the_same_with_an_index(&paged),
        a_wrong_index_is_of_no_effect(&paged),
        before_beyond_the_end_is_the_end(&paged),
        before_the_start_is_nothing(&paged),
        calls_from_outside_the_page_come_along(&paged),
    ]
}

struct Paged<'a> {
    subject: &'a dyn Subject,
    facts: &'a Facts<'a>,
    nodes: &'a [MessageNode],
    live: Vec<&'a MessageNode>,
    all: Vec<&'a MessageNode>,
}

impl Paged<'_> {
    fn branches(&self) -> [(Branch, &[&MessageNode]); 2] {
        [(Branch::Live, &self.live), (Branch::All, &self.all)]
    }

    fn page(
        &self,
        branch: Branch,
        limit: u32,
        before: Option<u64>,
        index: Option<Vec<u8>>,
    ) -> Result<HistoryPage, String> {
        let query = HistoryQuery { limit, before, branch, index };
        self.subject.history(&self.facts.session, &query).map_err(|e| e.to_string())
    }
}

fn without_index(page: HistoryPage) -> HistoryPage {
    HistoryPage { index: None, ..page }
}

/// From the newest to the oldest, pages of any size are the branch, each node once.
fn pages_add_up_to_the_branch(paged: &Paged<'_>) -> Verdict {
    for (branch, expected) in paged.branches() {
        for limit in [1, 2, 7, 100, u32::MAX] {
            let size = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut before = None;
            let mut end = expected.len();
            for _ in 0..MOST_PAGES {
                let page = paged.page(branch, limit, before, None)?;
                let start = end.saturating_sub(size);
                must(page.total == expected.len() as u64, || {
                    format!("the branch has {} nodes and a page says {}", expected.len(), page.total)
                })?;
                must(page.start == start as u64, || {
                    format!("the page before {before:?} by {limit} begins at {}", page.start)
                })?;
                must(page.nodes.iter().eq(expected[start..end].iter().copied()), || {
                    format!("the page before {before:?} by {limit} has other nodes than the session")
                })?;
                end = start;
                if end == 0 {
                    break;
                }
                before = Some(end as u64);
            }
        }
    }
    Ok(())
}

/// What the driver remembers of a session changes no page.
fn a_page_is_the_same_with_an_index(paged: &Paged<'_>) -> Verdict {
    for (branch, expected) in paged.branches() {
        let first = paged.page(branch, 3, None, None)?;
        let Some(index) = first.index.clone() else { continue };
        let middle = (expected.len() / 2) as u64;
        for before in [None, Some(middle), Some(1)] {
            let with = paged.page(branch, 3, before, Some(index.clone()))?;
            let without = paged.page(branch, 3, before, None)?;
            same("the pages with and without index", &without_index(with), &without_index(without))?;
        }
    }
    Ok(())
}

/// An index of something else, cut or garbled, is not trusted.
fn a_wrong_index_is_of_no_effect(paged: &Paged<'_>) -> Verdict {
    let plain = paged.page(Branch::Live, 3, None, None)?;
    let mut wrong = vec![Vec::new(), vec![0], vec![0xff; 64], b"{}".to_vec()];
    if let Some(index) = &plain.index {
        wrong.push(index[..index.len() / 2].to_vec());
        wrong.push(index.iter().chain(&[1]).copied().collect());
    }
    for index in wrong {
        let page = paged.page(Branch::Live, 3, None, Some(index))?;
        same("the pages with a wrong index and without", &without_index(page), &without_index(plain.clone()))?;
    }
    Ok(())
}

/// `before` beyond the end is the newest page.
fn before_beyond_the_end_is_the_end(paged: &Paged<'_>) -> Verdict {
    for (branch, expected) in paged.branches() {
        let newest = without_index(paged.page(branch, 5, None, None)?);
        for before in [expected.len() as u64, expected.len() as u64 + 1, u64::MAX] {
            let page = without_index(paged.page(branch, 5, Some(before), None)?);
            same(&format!("the newest page and the one before {before}"), &newest, &page)?;
        }
    }
    Ok(())
}

/// Before the first node there is an empty page.
fn before_the_start_is_nothing(paged: &Paged<'_>) -> Verdict {
    for (branch, expected) in paged.branches() {
        let page = paged.page(branch, 5, Some(0), None)?;
        must(page.nodes.is_empty() && page.start == 0 && page.total == expected.len() as u64, || {
            format!("the page before 0 has {} nodes from {} of {}", page.nodes.len(), page.start, page.total)
        })?;
    }
    Ok(())
}

/// The nodes whose calls are answered in a page come with it, and no others.
fn calls_from_outside_the_page_come_along(paged: &Paged<'_>) -> Verdict {
    for (branch, expected) in paged.branches() {
        for (at, node) in expected.iter().enumerate().filter(|(_, node)| node.tool_call_id.is_some()).take(8) {
            let page = paged.page(branch, 1, Some(at as u64 + 1), None)?;
            let declared: HashSet<&str> =
                page.nodes.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
            let answered: BTreeSet<&str> = page
                .nodes
                .iter()
                .filter_map(|node| node.tool_call_id.as_deref())
                .filter(|id| !declared.contains(id))
                .collect();
            let exists = |id: &str| paged.nodes.iter().any(|node| node.tool_calls.iter().any(|call| call.id == id));
            let brought =
                |id: &str| page.tool_call_nodes.iter().any(|node| node.tool_calls.iter().any(|call| call.id == id));
            let missing = answered.iter().find(|id| exists(id) && !brought(id));
            must(missing.is_none(), || format!("the call {missing:?} of node {} does not come along", node.node_id))?;
            for other in &page.tool_call_nodes {
                let wanted = other.tool_calls.iter().any(|call| answered.contains(call.id.as_str()));
                must(wanted && paged.nodes.contains(other), || {
                    format!("node {} comes along and answers nothing", other.node_id)
                })?;
            }
        }
    }
    Ok(())
}
