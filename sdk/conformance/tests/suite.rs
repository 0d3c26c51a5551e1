//! The suite finds nothing wrong with a driver that does right, and finds each way of doing
//! wrong.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use sepia_conformance::{Copy, Failure, Opened, Subject, Suite};
use sepia_ir::{
    Branch, HistoryPage, HistoryQuery, LockState, MessageNode, Role, ScanEntry, ScanReport, Session, SessionRef,
    Summary, SummaryDetail, TokenUsage, ToolCall, chain,
};
use std::cell::Cell;
use std::collections::BTreeSet;

type Change<T> = Box<dyn Fn(&mut T)>;

/// Which session a reference finds.
type Finder = Box<dyn Fn(&SessionRef) -> Option<String>>;

/// Three sessions: an empty one, one with two branches and a tool, and a sub-agent. What it
/// says can be changed at each place.
struct Toy {
    scan: Change<ScanReport>,
    summary: Change<Summary>,
    header: Change<Session>,
    nodes: Change<Vec<MessageNode>>,
    page: Change<HistoryPage>,
    finds: Finder,
    calls: Cell<usize>,
}

fn toy() -> Toy {
    Toy {
        scan: Box::new(|_| ()),
        summary: Box::new(|_| ()),
        header: Box::new(|_| ()),
        nodes: Box::new(|_| ()),
        page: Box::new(|_| ()),
        finds: Box::new(|session| match (session.id.as_str(), session.agent_id.as_deref()) {
            ("main" | "empty" | "agent-1", None) => Some(session.id.clone()),
            ("main", Some("1")) => Some("agent-1".to_owned()),
            _ => None,
        }),
        calls: Cell::new(0),
    }
}

fn nodes(id: &str) -> Vec<MessageNode> {
    if id == "empty" {
        return Vec::new();
    }
    let node = |node_id, parent, role| MessageNode {
        parent_node_id: parent,
        content: format!("{id} {node_id}"),
        ..MessageNode::new(node_id, role, 100.0)
    };
    let mut all = vec![
        node(1, None, Role::User),
        node(2, Some(1), Role::Assistant),
        node(3, Some(2), Role::Tool),
        node(4, Some(1), Role::Assistant),
        node(5, Some(3), Role::Assistant),
    ];
    all[1].tool_calls = vec![ToolCall {
        id: "call".into(),
        name: "Read".into(),
        arguments: "{\"a\":1}".into(),
        index: 0,
        kind: "function".into(),
        status: None,
        exit_code: None,
        duration_ms: None,
        locations: Vec::new(),
        diffs: Vec::new(),
    }];
    all[1].usage = Some(TokenUsage { input: 1.0, output: 2.0, ..TokenUsage::default() });
    all[1].metadata = "{\"messageId\":\"m1\"}".into();
    all[2].tool_call_id = Some("call".into());
    all
}

fn session(id: &str) -> Session {
    let sub = id.strip_prefix("agent-").map(str::to_owned);
    Session {
        title: format!("Title {id}"),
        created_at: 50.0,
        last_activity_at: 100.0,
        parent_session_id: sub.as_ref().map(|_| "main".to_owned()),
        agent_id: sub,
        main_chain_id: if id == "empty" { 0 } else { 5 },
        ..Session::new(id, "toy")
    }
}

impl Toy {
    fn find(&self, session: &SessionRef) -> Result<String, Failure> {
        self.calls.set(self.calls.get() + 1);
        (self.finds)(session).ok_or_else(|| Failure::new("not_found", "there is no such session"))
    }

    fn read(&self, id: &str) -> (Session, Vec<MessageNode>) {
        let (mut header, mut all) = (session(id), nodes(id));
        (self.header)(&mut header);
        (self.nodes)(&mut all);
        (header, all)
    }
}

impl Subject for Toy {
    fn scan(&self) -> Result<ScanReport, Failure> {
        let entry = |id: &str| ScanEntry {
            key: format!("{id}.json"),
            stamp: "1".into(),
            bytes: 1,
            changed_at: 1.0,
            session_id: Some(id.into()),
            sub_agent: id.starts_with("agent-"),
        };
        let mut report = ScanReport { entries: ["main", "empty", "agent-1"].map(entry).to_vec(), warnings: Vec::new() };
        self.calls.set(self.calls.get() + 1);
        (self.scan)(&mut report);
        Ok(report)
    }

    fn summaries(&self, keys: &[String], _: SummaryDetail) -> Result<Vec<Summary>, Failure> {
        let one = |key: &String| {
            let id = key.strip_suffix(".json").filter(|id| ["main", "empty", "agent-1"].contains(id));
            let sessions = id.map(session).into_iter().collect();
            let mut summary = Summary { key: key.clone(), sessions, warnings: Vec::new() };
            (self.summary)(&mut summary);
            summary
        };
        Ok(keys.iter().map(one).collect())
    }

    fn summary_of(&self, asked: &SessionRef) -> Result<Session, Failure> {
        Ok(session(&self.find(asked)?))
    }

    fn open(&self, asked: &SessionRef, max: usize) -> Result<Opened, Failure> {
        let (header, nodes) = self.read(&self.find(asked)?);
        Ok(Opened { header, batches: nodes.chunks(max).map(<[MessageNode]>::to_vec).collect() })
    }

    fn history(&self, asked: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure> {
        let (header, nodes) = self.read(&self.find(asked)?);
        let positions: Vec<usize> = match query.branch {
            Branch::All => (0..nodes.len()).collect(),
            Branch::Live => chain::live(&nodes, header.main_chain_id),
        };
        let total = positions.len();
        let end = query.before.map_or(total, |before| usize::try_from(before).unwrap_or(total).min(total));
        let start = end.saturating_sub(usize::try_from(query.limit).unwrap());
        let window: Vec<MessageNode> = positions[start..end].iter().map(|at| nodes[*at].clone()).collect();
        let answers = window.iter().any(|node| node.tool_call_id.is_some());
        let declares = window.iter().any(|node| !node.tool_calls.is_empty());
        let calling = if answers && !declares { vec![nodes[1].clone()] } else { Vec::new() };
        let mut page = HistoryPage {
            nodes: window,
            tool_call_nodes: calling,
            total: total as u64,
            start: start as u64,
            index: Some(vec![1, 2, 3]),
        };
        (self.page)(&mut page);
        Ok(page)
    }

    fn native(&self, asked: &SessionRef) -> Result<Copy, Failure> {
        let id = self.find(asked)?;
        Ok(Copy { name: format!("{id}.json"), bytes: id.into_bytes() })
    }

    fn locks(&self) -> Result<Vec<LockState>, Failure> {
        Ok(Vec::new())
    }
}

fn broken(toy: &Toy) -> BTreeSet<&'static str> {
    Suite::new(toy).run().failures().iter().map(|outcome| outcome.law).collect()
}

#[test]
fn a_driver_that_does_right_keeps_every_law() {
    let (one, other) = (toy(), toy());
    let report = Suite::new(&one).with_twin(&other).run();
    let failures: Vec<String> = report.failures().iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(report.sessions(), 3);
    assert!(report.outcomes().len() > 70);
}

#[test]
fn each_way_of_doing_wrong_breaks_its_law() {
    let cases: Vec<(&str, Toy)> = vec![
        ("keys_are_unique", Toy { scan: Box::new(|scan| scan.entries[1].key = scan.entries[0].key.clone()), ..toy() }),
        (
            "an_id_that_the_key_tells_is_the_id",
            Toy { scan: Box::new(|scan| scan.entries[0].session_id = Some("x".into())), ..toy() },
        ),
        (
            "a_key_of_sub_agents_has_only_those",
            Toy { scan: Box::new(|scan| scan.entries[0].sub_agent = true), ..toy() },
        ),
        (
            "session_ids_are_unique",
            Toy { summary: Box::new(|s| s.sessions.iter_mut().for_each(|row| row.id = "main".into())), ..toy() },
        ),
        ("summaries_follow_the_keys", Toy { summary: Box::new(|s| s.key.push('x')), ..toy() }),
        (
            "rows_have_no_nodes",
            Toy { summary: Box::new(|s| s.sessions.iter_mut().for_each(|row| row.nodes = nodes("main"))), ..toy() },
        ),
        (
            "a_key_that_is_gone_is_an_empty_summary",
            Toy { summary: Box::new(|s| s.sessions = vec![session("main")]), ..toy() },
        ),
        ("header_agrees_with_the_row", Toy { header: Box::new(|header| header.title.push('x')), ..toy() }),
        ("header_agrees_with_the_row", Toy { header: Box::new(|header| header.last_activity_at += 1.0), ..toy() }),
        ("lists_in_text_are_lists", Toy { header: Box::new(|header| header.cogs_json = "{}".into()), ..toy() }),
        ("metadata_is_an_object", Toy { header: Box::new(|header| header.metadata = "{".into()), ..toy() }),
        (
            "metadata_is_an_object",
            Toy { header: Box::new(|header| header.metadata = "{\"warnings\":[{\"code\":\"x\"}]}".into()), ..toy() },
        ),
        (
            "times_of_the_session_are_plausible",
            Toy { header: Box::new(|header| header.last_activity_at = 1.0), ..toy() },
        ),
        ("the_tip_is_a_node", Toy { header: Box::new(|header| header.main_chain_id = 77), ..toy() }),
        ("node_ids_rise", Toy { nodes: Box::new(|nodes| nodes.reverse()), ..toy() }),
        (
            "parents_come_before",
            Toy { nodes: Box::new(|nodes| nodes.iter_mut().for_each(|node| node.parent_node_id = Some(99))), ..toy() },
        ),
        (
            "tool_nodes_answer_a_call",
            Toy { nodes: Box::new(|nodes| nodes.iter_mut().for_each(|node| node.tool_call_id = None)), ..toy() },
        ),
        (
            "free_form_fields_are_json",
            Toy { nodes: Box::new(|nodes| nodes.iter_mut().for_each(|node| node.metadata = String::new())), ..toy() },
        ),
        (
            "usage_counts_once",
            Toy {
                nodes: Box::new(|nodes| {
                    if let Some(calling) = nodes.get(1).cloned() {
                        nodes[4] = MessageNode { node_id: 5, tool_calls: Vec::new(), ..calling };
                    }
                }),
                ..toy()
            },
        ),
        (
            "times_of_nodes_are_plausible",
            Toy { nodes: Box::new(|nodes| nodes.iter_mut().for_each(|node| node.created_at = 1e12)), ..toy() },
        ),
        ("pages_add_up_to_the_branch", Toy { page: Box::new(|page| page.total += 1), ..toy() }),
        ("pages_add_up_to_the_branch", Toy { page: Box::new(|page| drop(page.nodes.pop())), ..toy() }),
        (
            "calls_from_outside_the_page_come_along",
            Toy { page: Box::new(|page| page.tool_call_nodes.clear()), ..toy() },
        ),
        (
            "calls_from_outside_the_page_come_along",
            Toy { page: Box::new(|page| page.tool_call_nodes = nodes("main")), ..toy() },
        ),
        (
            "ids_that_nobody_has_are_not_found",
            Toy {
                finds: Box::new(|session| {
                    Some(session.id.trim().trim_end_matches(".jsonl").to_owned())
                        .filter(|id| ["main", "empty", "agent-1"].contains(&id.as_str()))
                }),
                ..toy()
            },
        ),
        (
            "sub_agents_that_nobody_has_are_not_found",
            Toy {
                finds: Box::new(|session| {
                    Some(session.id.clone()).filter(|id| ["main", "empty", "agent-1"].contains(&id.as_str()))
                }),
                ..toy()
            },
        ),
        ("opens", Toy { finds: Box::new(|_| None), ..toy() }),
    ];
    for (law, toy) in cases {
        let broken = broken(&toy);
        assert!(broken.contains(law), "{law} held; broken were {broken:?}");
    }
}

#[test]
fn a_scan_that_changes_is_not_stable() {
    let changing = Toy {
        scan: Box::new({
            let count = Cell::new(0);
            move |scan| {
                count.set(count.get() + 1);
                scan.entries[0].stamp = count.get().to_string();
            }
        }),
        ..toy()
    };
    assert!(broken(&changing).contains("scan_is_stable"));
}

#[test]
fn twins_that_differ_are_told_apart() {
    let one = toy();
    let different: Vec<(&str, Toy)> = vec![
        ("twins_list_the_same", Toy { scan: Box::new(|scan| scan.entries[0].bytes = 9), ..toy() }),
        (
            "twins_list_the_same",
            Toy { summary: Box::new(|s| s.sessions.iter_mut().for_each(|row| row.model = "x".into())), ..toy() },
        ),
        (
            "twins_read_the_same",
            Toy { nodes: Box::new(|nodes| nodes.iter_mut().for_each(|node| node.content.push('x'))), ..toy() },
        ),
        ("twins_page_the_same", Toy { page: Box::new(|page| page.start += 1), ..toy() }),
    ];
    for (law, twin) in different {
        let report = Suite::new(&one).with_twin(&twin).run();
        assert!(report.failures().iter().any(|outcome| outcome.law == law), "{law}");
    }
    let bare = Toy { page: Box::new(|page| page.index = None), ..toy() };
    assert!(Suite::new(&one).with_twin(&bare).run().failures().is_empty(), "the index is the form's own matter");
}

#[test]
fn a_store_that_is_written_to_is_noticed() {
    let folder = std::env::temp_dir().join(format!("sepia-conformance-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/file"), "1").unwrap();
    let quiet = toy();
    assert!(Suite::new(&quiet).on_store(&folder).on_store(folder.join("none")).run().failures().is_empty());
    let file = folder.join("sub/file");
    let writing = Toy { header: Box::new(move |_| std::fs::write(&file, "2").unwrap()), ..toy() };
    let report = Suite::new(&writing).on_store(&folder).run();
    let laws: Vec<&str> = report.failures().iter().map(|outcome| outcome.law).collect();
    assert_eq!(laws, ["store_unchanged"]);
    std::fs::remove_dir_all(&folder).unwrap();
}
