//! The nodes of a session are a forest of which one branch is live.

use crate::demo::{Demo, answer, by_id, calls, ids, meta, result, user, warnings, with};
use sepia_driver_devin::Devin;
use sepia_ir::{Branch, SummaryDetail};
use sepia_sdk::SessionRead;
use serde_json::{Value, json};

/// Five live nodes (1 to 5) and six branches of five, written in between.
fn interleaved(tip: Option<i64>, parent_of_3: Option<i64>) -> Demo {
    let demo = Demo::new();
    demo.session("s", tip);
    let live = |id: i64| if id % 2 == 1 { user(&format!("live {id}")) } else { answer(&format!("live {id}")) };
    for id in 1..=5 {
        let parent = if id == 3 { parent_of_3 } else { (id > 1).then_some(id - 1) };
        demo.node("s", id, parent, live(id), None);
    }
    for branch in 0..6 {
        for step in 0..5 {
            let id = 10 + branch * 10 + step;
            let parent = if step == 0 { 1 + branch % 3 } else { id - 1 };
            demo.node("s", id, Some(parent), answer(&format!("off {id}")), None);
        }
    }
    // The times of the columns tell nothing of the order.
    demo.sql("UPDATE message_nodes SET created_at = created_at + (node_id * 7) % 11");
    demo
}

fn stats(demo: &Demo) -> Value {
    meta(&demo.summary("s").metadata)["stats"].clone()
}

#[test]
fn the_live_branch_is_walked_from_the_tip() {
    let demo = interleaved(Some(5), Some(2));
    assert_eq!(demo.live("s"), [1, 2, 3, 4, 5]);
    let session = demo.read("s");
    assert_eq!(session.nodes.len(), 35);
    assert_eq!(warnings(&session.metadata), [""; 0]);
    let stats = stats(&demo);
    assert_eq!((&stats["messages"], &stats["usage"]["output"]), (&json!(5), &json!(10)));
    assert_eq!((&stats["offChain"]["nodes"], &stats["offChain"]["usage"]["output"]), (&json!(30), &json!(150)));
    let branches = meta(&session.metadata)["branches"].clone();
    assert_eq!(branches.as_array().unwrap().len(), 6);
    assert_eq!(branches[0], json!({"tip": 14, "nodes": 5}));
    // A branch can be read by its tip.
    let off = sepia_ir::chain::live(&session.nodes, 24);
    assert_eq!(off.iter().map(|at| session.nodes[*at].node_id).collect::<Vec<_>>(), [1, 2, 20, 21, 22, 23, 24]);
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn a_session_without_a_tip_ends_at_its_largest_node() {
    for (tip, code) in [(None, "no-tip"), (Some(999), "dangling-tip"), (Some(-1), "dangling-tip")] {
        let demo = interleaved(tip, Some(2));
        assert_eq!(demo.live("s"), [1, 2, 3, 60, 61, 62, 63, 64], "{tip:?}");
        assert_eq!(demo.row("s").main_chain_id, 64);
        assert_eq!(warnings(&demo.read("s").metadata), [code]);
        assert_eq!(demo.keeps_the_laws(), 1);
    }
}

#[test]
fn circles_and_broken_links_end_the_walk() {
    for (parent, live) in [(Some(5), vec![3, 4, 5]), (Some(3), vec![3, 4, 5]), (Some(404), vec![3, 4, 5])] {
        let demo = interleaved(Some(5), parent);
        assert_eq!(demo.live("s"), live);
        assert_eq!(warnings(&demo.read("s").metadata), ["broken-link"]);
        assert_eq!(demo.keeps_the_laws(), 1);
    }
}

#[test]
fn a_message_that_can_t_be_read_cuts_no_branch() {
    let demo = interleaved(Some(5), Some(2));
    demo.sql("UPDATE message_nodes SET chat_message = '{\"role\":' WHERE node_id = 3");
    assert_eq!(demo.live("s"), [1, 2, 3, 4, 5]);
}

#[test]
fn a_node_0_is_a_node() {
    let demo = Demo::new();
    demo.session("s", Some(0));
    demo.node("s", 0, None, user("zero"), None);
    demo.node("s", 1, Some(0), answer("one"), None);
    assert_eq!((demo.live("s"), demo.read("s").main_chain_id), (vec![0], 0));
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn tokens_are_told_on_the_copy_that_is_live_and_only_there() {
    let demo = Demo::new();
    demo.session("s", Some(12));
    demo.node("s", 1, None, user("q"), None);
    demo.node("s", 2, Some(1), answer("a"), None);
    demo.node("s", 3, Some(2), answer("given up"), None);
    // The window is built anew.
    demo.node("s", 10, None, user("q"), None);
    demo.node("s", 11, Some(10), answer("a"), None);
    demo.node("s", 12, Some(11), answer("b"), None);
    let counted: Vec<i64> =
        demo.read("s").nodes.iter().filter(|node| node.usage.is_some()).map(|node| node.node_id).collect();
    assert_eq!(counted, [3, 11, 12]);
    let stats = stats(&demo);
    assert_eq!((&stats["usage"]["input"], &stats["offChain"]["usage"]["input"]), (&json!(20), &json!(10)));
    assert_eq!((&stats["messages"], &stats["offChain"]["messages"]), (&json!(3), &json!(1)));
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn answers_that_only_look_like_twins_are_two() {
    const RENDERED: Option<&str> = Some(r#"{"summarized_from":null}"#);
    let demo = Demo::new();
    demo.session("s", Some(5));
    demo.node("s", 1, None, user("q"), None);
    let again = |id: &str| with(answer("same"), &[("message_id", json!(id))]);
    // Another parent, another text, no marks: no twins.
    demo.node("s", 2, Some(1), again("a"), None);
    demo.node("s", 3, Some(2), again("b"), RENDERED);
    demo.node("s", 4, Some(3), again("c"), None);
    demo.node("s", 5, Some(4), again("d"), None);
    let session = demo.read("s");
    assert!(session.nodes.iter().all(|node| meta(&node.metadata).get("twin").is_none()));
    assert_eq!(session.nodes.iter().filter(|node| node.usage.is_some()).count(), 4);
}

#[test]
fn a_result_far_away_still_reaches_its_call() {
    let demo = Demo::new();
    demo.session("s", Some(40));
    demo.node("s", 1, None, user("q"), None);
    demo.node("s", 2, Some(1), calls("both", &["near", "far"]), None);
    demo.node("s", 3, Some(2), result("near", "ok"), None);
    for id in 4..40 {
        demo.node("s", id, Some(id - 1), user(&format!("u{id}")), None);
    }
    demo.node(
        "s",
        40,
        Some(39),
        with(result("far", "late"), &[("metadata.extensions", json!({"chisel/tool_result_meta": {"success": false}}))]),
        None,
    );
    let session = demo.read("s");
    let told: Vec<Value> = session.nodes[1].tool_calls.iter().map(|call| json!(call.status)).collect();
    assert_eq!(told, [json!("success"), json!("error")]);
    let page = demo.page("s", Branch::Live, 1, None);
    assert_eq!((ids(&page.nodes), ids(&page.tool_call_nodes)), (vec![40], vec![2]));
    assert_eq!(page.nodes[0].tool_name.as_deref(), Some("exec"));
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn sub_agents_that_grow_out_of_their_parent_are_their_chain() {
    let demo = Demo::new();
    demo.session("s", Some(3));
    demo.session("s/odd", None);
    for (id, parent) in [
        (1, None),
        (2, Some(1)),
        (3, Some(2)),
        (10, Some(2)),
        (11, Some(10)),
        (20, None),
        (21, Some(20)),
        (22, Some(20)),
    ] {
        demo.node("s", id, parent, user(&format!("n{id}")), None);
    }
    demo.sql(
        "INSERT INTO subagent_heads VALUES ('s', 'fork', 11, 1767225700), ('s', 'tree-1', 21, 0), ('s', 'on-chain', 2, 0), \
         ('s', 'gone', 99, 0), ('s', 's', 3, 0), ('nobody', 'x', 1, 0)",
    );
    let mut listed: Vec<String> = demo.rows(SummaryDetail::Row).into_iter().map(|row| row.id).collect();
    listed.sort();
    assert_eq!(listed, ["s", "s/fork", "s/odd", "s/tree-1"]);
    assert_eq!(ids(&demo.read("s/fork").nodes), [1, 2, 10, 11]);
    assert_eq!(demo.live("s/tree-1"), [20, 21]);
    assert_eq!(ids(&demo.read("s/tree-1").nodes), [20, 21, 22]);
    assert_eq!(demo.read("s/fork").title, "n1");
    assert!(Devin::open(&demo.host(), &by_id("s/on-chain")).is_err());
    assert_eq!(demo.keeps_the_laws(), 4);
}
