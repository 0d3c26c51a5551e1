//! Pages of a session.

use crate::atif;
use crate::facts::{Facts, Remembered};
use crate::gather::{Gathered, gather};
use crate::glance;
use crate::outcome::Updates;
use crate::place::Opened;
use crate::session::{Found, find, in_databases};
use crate::value::{Columns, text};
use sepia_ir::{Branch, DriverError, HistoryPage, HistoryQuery, MessageNode, SessionRef};
use sepia_sdk::Host;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// One page. Sessions whose rows have more bytes than `most` are not read whole when the index
/// of an earlier page still fits.
pub(crate) fn page(
    host: &Host,
    session: &SessionRef,
    query: &HistoryQuery,
    most: usize,
) -> Result<HistoryPage, DriverError> {
    let remembered = query.index.as_deref().and_then(|index| serde_json::from_slice::<Remembered>(index).ok());
    let look = |opened: &Rc<Opened>| {
        let recalled = match &remembered {
            Some(remembered) => recalled(opened, session, remembered)?,
            None => None,
        };
        match recalled {
            Some(gathered) => Ok(Some((gathered, false))),
            None => Ok(gather(opened, session, most)?.map(|gathered| (gathered, true))),
        }
    };
    let Some((mut gathered, fresh)) = in_databases(host, look)? else {
        let (_, nodes) = atif::open(host, session)?;
        return Ok(atif::page(&nodes, query));
    };
    let window = Window::of(&gathered.facts, query);
    let mut index = None;
    let (nodes, tool_call_nodes) = if let Some(nodes) = gathered.take_nodes() {
        window.pick(&gathered.facts, |at| nodes.get(at).cloned())
    } else {
        let picked = fetched(&gathered, &window)?;
        if fresh {
            let of = state(&gathered.found)?;
            index = Some(Remembered { of, facts: gathered.facts }.json().into_bytes());
        }
        picked
    };
    Ok(HistoryPage { nodes, tool_call_nodes, total: window.total, start: window.start, index })
}

/// Tells whether rows came or went, and which session it is.
fn state(found: &Found) -> Result<String, DriverError> {
    let schema = &found.opened.schema;
    let mut state = format!("{}\n{:?}\n{:?}", found.listed.session.id, found.opened.source, found.listed.named_tip);
    if schema.has_nodes() {
        let sql =
            format!("SELECT COUNT(*), MAX({}), MAX(node_id) FROM message_nodes WHERE session_id = ?", schema.growing());
        for row in found.opened.database.rows(&sql, &[text(found.keeper())])? {
            let mut row = Columns::of(row);
            state = format!("{state}\n{:?}\n{:?}\n{:?}", row.whole(), row.whole(), row.whole());
        }
    }
    Ok(state)
}

/// A session with the facts of an earlier look, if they still fit.
fn recalled(
    opened: &Rc<Opened>,
    session: &SessionRef,
    remembered: &Remembered,
) -> Result<Option<Gathered>, DriverError> {
    let Some(found) = find(opened, session)? else { return Ok(None) };
    if state(&found)? != remembered.of {
        return Ok(None);
    }
    // What became of calls may have changed since, and is cheap to ask.
    let (updates, warnings) = Updates::read(&found.opened, found.keeper())?;
    Ok(Some(Gathered::recalled(found, remembered.facts.clone(), updates, warnings)))
}

/// Which nodes a query asks for.
struct Window {
    /// Places of the nodes of the page.
    inside: Vec<usize>,
    total: u64,
    start: u64,
}

impl Window {
    fn of(facts: &Facts, query: &HistoryQuery) -> Self {
        let branch = (0..facts.nodes.len()).filter(|at| query.branch == Branch::All || facts.nodes[*at].live);
        let branch: Vec<usize> = branch.collect();
        let total = branch.len();
        let range = sepia_sdk::window(query, total);
        let start = range.start;
        Self { inside: branch[range].to_vec(), total: total as u64, start: start as u64 }
    }

    /// The nodes of the page, and those outside whose calls are answered in it.
    fn pick(
        &self,
        facts: &Facts,
        mut node: impl FnMut(usize) -> Option<MessageNode>,
    ) -> (Vec<MessageNode>, Vec<MessageNode>) {
        let inside: Vec<MessageNode> = self.inside.iter().filter_map(|at| node(*at)).collect();
        let outside = callers(facts, &inside).into_iter().filter_map(node).collect();
        (inside, outside)
    }
}

/// Places of the nodes whose calls are answered in a page and not made in it.
fn callers(facts: &Facts, page: &[MessageNode]) -> BTreeSet<usize> {
    let declared: HashSet<&str> = page.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
    let answered = page.iter().filter_map(|node| node.tool_call_id.as_deref()).filter(|id| !declared.contains(id));
    answered.filter_map(|id| facts.calls.get(id)).flat_map(|called| called.at.iter().copied()).collect()
}

/// Reads the nodes of a page from their rows alone.
fn fetched(gathered: &Gathered, window: &Window) -> Result<(Vec<MessageNode>, Vec<MessageNode>), DriverError> {
    let fetch = |places: &[usize]| -> Result<Vec<MessageNode>, DriverError> {
        let ids: Vec<i64> = places.iter().map(|at| gathered.facts.nodes[*at].id).collect();
        let drafts = glance::drafts(&gathered.found.opened, gathered.found.keeper(), &ids)?;
        Ok(drafts.into_iter().filter_map(|draft| gathered.finish(draft)).collect())
    };
    let inside = fetch(&window.inside)?;
    let callers: Vec<usize> = callers(&gathered.facts, &inside).into_iter().collect();
    let outside = if callers.is_empty() { Vec::new() } else { fetch(&callers)? };
    Ok((inside, outside))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::page;
    use crate::transcript::{DevinTranscript, WHOLE};
    use sepia_ir::{Branch, HistoryQuery, MessageNode, Session, SessionRef, SummaryDetail};
    use sepia_sdk::subprocess::Native;
    use sepia_sdk::{Driver, Host, SessionRead, Transcript};
    use std::fs;
    use std::path::Path;

    const CASES: [&str; 8] = ["basic", "branches", "compaction", "hidden", "malformed", "subagent", "tools", "twins"];

    fn read(host: &Host, session: &SessionRef, most: usize) -> (Session, Vec<MessageNode>) {
        let mut transcript = DevinTranscript::open(host, session, most).unwrap();
        let (header, mut nodes) = (transcript.header(), Vec::new());
        loop {
            let batch = transcript.next(2).unwrap();
            if batch.is_empty() {
                return (header, nodes);
            }
            nodes.extend(batch);
        }
    }

    #[test]
    fn a_long_session_reads_like_a_short_one() {
        for case in CASES {
            let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/devin").join(case).join("cli");
            let folder = tempfile::tempdir().unwrap();
            fs::copy(samples.join("sessions.db"), folder.path().join("sessions.db")).unwrap();
            let places = [("database", folder.path().join("sessions.db"))];
            let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
            let host = Host::new(Native::at(&crate::Devin::manifest(), &places).unwrap());
            let keys: Vec<String> = crate::Devin::scan(&host).unwrap().entries.into_iter().map(|e| e.key).collect();
            let rows = crate::Devin::summaries(&host, &keys, SummaryDetail::Row).unwrap();
            for row in rows.into_iter().flat_map(|summary| summary.sessions) {
                let session = SessionRef { id: row.id, agent_id: None };
                assert_eq!(read(&host, &session, 0), read(&host, &session, WHOLE), "{}", session.id);
                for branch in [Branch::Live, Branch::All] {
                    let mut index = None;
                    for before in [None, Some(5), Some(2), Some(0)] {
                        let query = HistoryQuery { limit: 3, before, branch, index: None };
                        let short = page(&host, &session, &query, WHOLE).unwrap();
                        let mut long =
                            page(&host, &session, &HistoryQuery { index: index.clone(), ..query }, 0).unwrap();
                        // The first page tells what the next ones need.
                        let told = long.index.take();
                        assert!(told.is_some() == index.is_none() || long.total == 0, "{}", session.id);
                        index = index.or(told);
                        assert_eq!(long, short, "{} before {before:?}", session.id);
                    }
                }
            }
        }
    }
}
