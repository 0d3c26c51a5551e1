//! Pages of a session equal the same stretch of the whole.

use crate::demo::{Demo, S1, a, base, date, lines, live, text, tr, tu, u};
use sepia_driver_claude::Claude;
use sepia_ir::{Branch, HistoryPage, HistoryQuery, MessageNode, SessionRef};
use sepia_sdk::SessionRead;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;

fn page(demo: &Demo, id: &str, query: &HistoryQuery) -> HistoryPage {
    Claude::history(&demo.host(), &SessionRef { id: id.into(), agent_id: None }, query).unwrap()
}

fn query(limit: u32, before: Option<u64>, branch: Branch, index: Option<Vec<u8>>) -> HistoryQuery {
    HistoryQuery { limit, before, branch, index }
}

#[test]
fn all_pages_together_are_the_session() {
    let demo = Demo::samples();
    for number in 1..=12 {
        let id = format!("11111111-1111-4111-8111-{number:012}");
        let whole = demo.read(&id);
        for branch in [Branch::Live, Branch::All] {
            let expected: Vec<MessageNode> = match branch {
                Branch::All => whole.nodes.clone(),
                Branch::Live => live(&whole).into_iter().cloned().collect(),
            };
            let (mut before, mut index, mut got) = (None, None, Vec::new());
            loop {
                let page = page(&demo, &id, &query(3, before, branch, index.clone()));
                assert_eq!(page.total, expected.len() as u64);
                assert_eq!(page.index.is_some(), index.is_none(), "an index that is right isn't sent again");
                for node in &page.tool_call_nodes {
                    assert!(whole.nodes.contains(node) && !page.nodes.contains(node));
                }
                let called = |id: &str| {
                    page.nodes
                        .iter()
                        .chain(&page.tool_call_nodes)
                        .any(|n| n.tool_calls.iter().any(|call| call.id == id))
                };
                assert!(page.nodes.iter().filter_map(|node| node.tool_call_id.as_deref()).all(called));
                index = page.index.or(index);
                got.splice(0..0, page.nodes);
                if page.start == 0 {
                    break;
                }
                before = Some(page.start);
            }
            assert_eq!(got, expected, "session {number}, {branch:?}");
        }
    }
}

#[test]
fn odd_bounds_are_clamped() {
    let demo = Demo::new();
    demo.session(S1, &base(2));
    let beyond = page(&demo, S1, &query(2, Some(99), Branch::Live, None));
    assert_eq!((beyond.start, beyond.total, beyond.nodes.len()), (2, 4, 2));
    let nothing = page(&demo, S1, &query(2, Some(0), Branch::Live, None));
    assert_eq!((nothing.start, nothing.total, nothing.nodes.len()), (0, 4, 0));
    assert_eq!(page(&demo, S1, &query(0, None, Branch::All, None)).nodes.len(), 1);
}

#[test]
fn an_index_that_is_no_longer_right_is_not_used() {
    let demo = Demo::new();
    let path = demo.session(S1, &base(1));
    let first = page(&demo, S1, &query(9, None, Branch::Live, None)).index;
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(lines(&[u("m3", Some("m2"), "more", 5)]).as_bytes())
        .unwrap();
    let second = page(&demo, S1, &query(9, None, Branch::Live, first.clone()));
    assert_eq!((second.total, second.index.is_some()), (3, true));
    // Of equal length and written anew.
    let fresh = second.index.clone();
    let text = std::fs::read_to_string(&path).unwrap().replace("more", "less");
    std::fs::write(&path, text).unwrap();
    date(&path, 1_798_000_001);
    let third = page(&demo, S1, &query(9, None, Branch::Live, fresh));
    assert_eq!((third.nodes[2].content.as_str(), third.index.is_some()), ("less", true));
    // Damaged, cut, or of another session.
    let good = third.index.unwrap();
    for at in [0, 8, 40, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        assert_eq!(page(&demo, S1, &query(9, None, Branch::Live, Some(bad))).total, 3);
        assert_eq!(page(&demo, S1, &query(9, None, Branch::Live, Some(good[..at].to_vec()))).total, 3);
    }
    demo.session("other", &base(3));
    assert_eq!(page(&demo, "other", &query(9, None, Branch::Live, Some(good))).total, 6);
}

#[test]
fn a_call_outside_the_page_comes_along_with_its_outcome() {
    let mut records = base(1);
    records.push(a("a1", "m2", json!([tu("t1", "Bash", json!({"command": "x"}))]), 5));
    records.push(tr("r1", "a1", "t1", "done", 6));
    records.push(a("a2", "r1", text("after"), 7));
    let demo = Demo::new();
    demo.session(S1, &records);
    let whole = demo.read(S1);
    let newest = page(&demo, S1, &query(2, None, Branch::Live, None));
    assert_eq!(newest.nodes, whole.nodes[3..]);
    assert_eq!(newest.tool_call_nodes, whole.nodes[2..3]);
    assert!(newest.tool_call_nodes[0].tool_calls[0].status.is_some());
    let older = page(&demo, S1, &query(1, Some(newest.start), Branch::Live, newest.index));
    assert_eq!(older.nodes, whole.nodes[2..3]);
}
