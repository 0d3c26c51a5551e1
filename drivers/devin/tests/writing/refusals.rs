//! What is not written, and what is left then: nothing.

use crate::demo::{Demo, by_id};
use crate::store::{DRY, NEW, REPLACE, everything, foreign, save, writing};
use sepia_conformance::tree_hash;
use sepia_driver_devin::Devin;
use sepia_ir::{ErrorCode, RewindPlan, Session, SessionRef};
use sepia_sdk::{Draft, SessionWrite};

/// Ids that no session here has, and that lead elsewhere.
const HOSTILE: [&str; 14] = [
    "../S1",
    "..\\S1",
    "/etc/passwd",
    "S1.jsonl",
    "S1/subagents/x",
    "S1\0x",
    "%2e%2e%2fS1",
    "-h",
    "--dangerously-skip-permissions",
    "x\"; touch canary; \"",
    "a b",
    "é",
    "a\u{202e}b",
    "a\nb",
];

#[test]
fn hostile_ids_are_refused_and_found_nowhere() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    let long = "a".repeat(5_000);
    for id in HOSTILE.into_iter().chain([long.as_str()]) {
        for options in [NEW, REPLACE] {
            let error = save(&demo, &Session { id: id.into(), ..foreign() }, &options).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid, "{id}");
        }
        let (host, session) = (writing(&demo), by_id(id));
        let plan = RewindPlan { kept: vec![1], removed: vec![], removed_tool_call_ids: vec![] };
        let errors = [
            Devin::rename(&host, &session, "x").unwrap_err(),
            Devin::plan_delete(&host, &session).unwrap_err(),
            Devin::delete(&host, &session).unwrap_err(),
            Devin::rewind(&host, &session, &plan, foreign()).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code, ErrorCode::NotFound, "{id}: {error}");
        }
        let sub_agent = SessionRef { id: "amber-otter".into(), agent_id: Some(id.into()) };
        assert_eq!(Devin::delete(&host, &sub_agent).unwrap_err().code, ErrorCode::NotFound);
    }
    assert_eq!(everything(&demo), before);
}

#[test]
fn an_id_that_exists_is_a_conflict_wherever_it_is() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    let taken = Session { id: "amber-otter".into(), ..foreign() };
    assert_eq!(save(&demo, &taken, &NEW).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(save(&demo, &taken, &DRY).unwrap_err().code, ErrorCode::Conflict);
    demo.write("transcripts/only-there.json", "{}");
    let taken = Session { id: "only-there".into(), ..foreign() };
    assert_eq!(save(&demo, &taken, &NEW).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(everything(&demo), before);
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let demo = Demo::sample("tools");
    let session = Session { id: "dry-run".into(), ..foreign() };
    let before = tree_hash(demo.root()).unwrap();
    let dry = save(&demo, &session, &DRY).unwrap();
    assert_eq!(tree_hash(demo.root()).unwrap(), before);
    assert_eq!(save(&demo, &session, &NEW).unwrap(), dry);
}

#[test]
fn a_draft_that_is_dropped_leaves_nothing() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    let mut session = foreign();
    let nodes = std::mem::take(&mut session.nodes);
    let mut draft = Devin::begin(&writing(&demo), session, &NEW).unwrap();
    draft.append(nodes).unwrap();
    drop(draft);
    assert_eq!(everything(&demo), before);
}

#[test]
fn only_the_agent_makes_its_database() {
    let demo = Demo::bare();
    let error = save(&demo, &foreign(), &NEW).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported, "{error}");
    assert!(!demo.database().exists());
    demo.sql("CREATE TABLE other (id TEXT)");
    assert_eq!(save(&demo, &foreign(), &NEW).unwrap_err().code, ErrorCode::Unsupported);
}

#[test]
fn a_column_that_wants_what_nobody_knows_is_not_filled_with_anything() {
    let demo = Demo::new();
    demo.sql("ALTER TABLE sessions ADD COLUMN tenant TEXT; CREATE TABLE s2 AS SELECT * FROM sessions; DROP TABLE s2;");
    assert!(save(&demo, &foreign(), &NEW).is_ok());
    let demo = Demo::bare();
    demo.sql(&crate::demo::SCHEMA.replace("hidden INTEGER", "tenant TEXT NOT NULL, hidden INTEGER"));
    for options in [NEW, DRY] {
        let error = save(&demo, &foreign(), &options).unwrap_err();
        assert_eq!(error.code, ErrorCode::Unsupported, "{error}");
        assert!(error.message.contains("tenant"), "{error}");
    }
}

#[test]
fn a_session_needs_to_know_where_it_works() {
    let demo = Demo::new();
    for directory in ["", "relative/place"] {
        let session = Session { working_directory: directory.into(), ..foreign() };
        assert_eq!(save(&demo, &session, &NEW).unwrap_err().code, ErrorCode::Invalid);
    }
}

#[test]
fn nodes_come_in_order_with_their_parents_before_them() {
    let demo = Demo::new();
    for change in [
        |session: &mut Session| session.nodes.swap(0, 1),
        |session: &mut Session| {
            session.nodes[1].parent_node_id = Some(77);
        },
    ] {
        let mut session = foreign();
        change(&mut session);
        assert_eq!(save(&demo, &session, &NEW).unwrap_err().code, ErrorCode::Invalid);
    }
    assert_eq!(crate::store::rows(&demo, "SELECT id FROM sessions"), Vec::<Vec<rusqlite::types::Value>>::new());
}

#[test]
fn a_sub_agent_among_the_nodes_of_its_session_is_not_changed_alone() {
    let demo = Demo::sample("subagent");
    let before = everything(&demo);
    let host = writing(&demo);
    let child = SessionRef { id: "fern-saddle".into(), agent_id: Some("explore-1".into()) };
    for session in [child, by_id("fern-saddle/explore-1")] {
        assert_eq!(Devin::rename(&host, &session, "x").unwrap_err().code, ErrorCode::Unsupported);
        assert_eq!(Devin::delete(&host, &session).unwrap_err().code, ErrorCode::Unsupported);
    }
    assert_eq!(everything(&demo), before);
}
