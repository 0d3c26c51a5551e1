//! Ids and what is there already.

use crate::demo::{S1, S2, base};
use crate::written::{Ground, NEW, REPLACE, by_id, chain, says, session};
use sepia_conformance::InProcess;
use sepia_driver_claude::Claude;
use sepia_ir::{ErrorCode, RewindPlan, Role, SaveOptions, Session};
use sepia_sdk::SessionWrite;

fn small() -> Session {
    session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")]))
}

const HOSTILE: [&str; 16] = [
    "../S1",
    "..\\S1",
    "/etc/passwd",
    "S1.jsonl",
    "S1/subagents/x",
    ".",
    "..",
    "S1\u{0}x",
    "%2e%2e%2fS1",
    "-h",
    "--dangerously-skip-permissions",
    "x\"; touch canary; \"",
    "CON",
    "a\u{202e}b",
    "11111111-1111-4111-8111-11111111111",
    "AAAAAAAA-1111-4111-8111-111111111111",
];

#[test]
fn an_id_is_of_the_agents_form_or_refused() {
    let ground = Ground::new();
    let long = "x".repeat(5000);
    for id in HOSTILE.into_iter().chain([long.as_str()]) {
        let session = Session { id: id.into(), ..small() };
        for options in [NEW, REPLACE, SaveOptions { dry_run: true, ..REPLACE }] {
            let error = ground.save(&session, &options).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid, "{id}");
            assert!(error.message.len() < 400);
        }
    }
    assert!(ground.demo.bytes().is_empty());
    let report = ground.save(&Session { id: S1.into(), ..small() }, &NEW).unwrap();
    assert_eq!(report.id, S1);
}

#[test]
fn hostile_ids_are_unknown_everywhere() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(1));
    let before = ground.demo.bytes();
    let host = ground.host();
    let plan = RewindPlan { kept: vec![1], removed: vec![2], removed_tool_call_ids: vec![] };
    for id in HOSTILE.into_iter().chain([""]) {
        let session = by_id(id);
        let codes = [
            Claude::rename(&host, &session, "x").unwrap_err().code,
            Claude::plan_delete(&host, &session).unwrap_err().code,
            Claude::delete(&host, &session).unwrap_err().code,
            Claude::rewind(&host, &session, &plan, small()).unwrap_err().code,
            Claude::checkpoint_files(&host, &session, "x").unwrap_err().code,
        ];
        assert_eq!(codes, [ErrorCode::NotFound; 5], "{id}");
    }
    assert_eq!(ground.demo.bytes(), before);
}

#[test]
fn what_is_there_is_replaced_only_when_asked_for() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(3));
    ground.demo.session(S2, &base(1));
    let before = ground.demo.bytes();
    let session = Session { id: S1.into(), ..small() };
    assert_eq!(ground.save(&session, &NEW).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(ground.demo.bytes(), before);
    ground.save(&session, &REPLACE).unwrap();
    assert_eq!(ground.demo.read(S1).nodes.len(), 2);
    assert_eq!(ground.demo.bytes().len(), 2, "nothing else is left");
    // The old state is in the trash.
    let kept = ground.entry.items();
    assert_eq!((kept.len(), kept[0].path.as_str()), (1, format!("projects/-p-demo/{S1}.jsonl").as_str()));
}

#[test]
fn a_session_that_moves_to_another_directory_is_in_one_place_only() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(3));
    let moved = Session { id: S1.into(), working_directory: "/p/other".into(), ..small() };
    ground.save(&moved, &REPLACE).unwrap();
    let rows = ground.demo.rows(sepia_ir::SummaryDetail::Row);
    assert_eq!((rows.len(), rows[0].working_directory.as_str()), (1, "/p/other"));
    assert!(!ground.file(S1).exists());
}

#[test]
fn a_dry_run_tells_the_same_and_leaves_no_trace() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(1));
    let before = ground.demo.bytes();
    let session = Session { id: S1.into(), ..session(chain(vec![says(Role::System, "s"), says(Role::User, "a")])) };
    let dry = ground.save(&session, &SaveOptions { dry_run: true, ..REPLACE }).unwrap();
    assert_eq!(ground.demo.bytes(), before);
    assert!(ground.entry.items().is_empty());
    assert_eq!(ground.save(&session, &REPLACE).unwrap(), dry);
    let conflict = SaveOptions { dry_run: true, ..NEW };
    assert_eq!(ground.save(&session, &conflict).unwrap_err().code, ErrorCode::Conflict);
}

#[test]
fn a_dry_run_makes_no_folder() {
    let ground = Ground::new();
    ground.save(&small(), &SaveOptions { dry_run: true, ..NEW }).unwrap();
    assert!(std::fs::read_dir(ground.demo.root()).unwrap().next().is_none());
}

#[test]
fn a_draft_that_is_dropped_was_never_there() {
    let ground = Ground::new();
    let draft = Claude::begin(&ground.host(), Session { nodes: Vec::new(), ..small() }, &NEW).unwrap();
    drop(draft);
    assert!(ground.demo.bytes().is_empty());
}

#[test]
fn a_session_without_a_message_is_refused() {
    let ground = Ground::new();
    for nodes in [Vec::new(), chain(vec![says(Role::System, "only this")])] {
        assert_eq!(ground.save(&session(nodes), &NEW).unwrap_err().code, ErrorCode::Invalid);
    }
    assert!(std::fs::read_dir(ground.demo.root()).unwrap().next().is_none(), "not even a folder");
}

#[test]
fn what_turns_out_wrong_is_taken_back() {
    use sepia_sdk::Draft;
    for replace in [false, true] {
        let ground = Ground::new();
        if replace {
            ground.demo.session(S1, &base(3));
        }
        let before = ground.demo.bytes();
        let session = Session { id: S1.into(), ..small() };
        let mut draft =
            Claude::begin(&ground.host(), Session { nodes: Vec::new(), ..session.clone() }, &REPLACE).unwrap();
        draft.append(session.nodes.clone()).unwrap();
        draft.commit().unwrap();
        assert_ne!(ground.demo.bytes(), before);
        draft.undo().unwrap();
        assert_eq!(ground.demo.bytes(), before);
        drop(draft);
        assert_eq!(ground.demo.bytes(), before);
    }
}

#[test]
fn a_session_that_changed_since_it_was_looked_at_is_left_alone() {
    use sepia_sdk::Draft;
    let ground = Ground::new();
    let path = ground.demo.session(S1, &base(3));
    let session = Session { id: S1.into(), ..small() };
    let mut draft = Claude::begin(&ground.host(), Session { nodes: Vec::new(), ..session.clone() }, &REPLACE).unwrap();
    draft.append(session.nodes.clone()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap() + "{}\n";
    std::fs::write(&path, &text).unwrap();
    assert_eq!(draft.commit().unwrap_err().code, ErrorCode::Conflict);
    drop(draft);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(ground.demo.bytes().len(), 1);
}

#[test]
fn what_was_written_can_be_read_by_its_id_alone() {
    let ground = Ground::new();
    let (report, _) = ground.saved(&small());
    assert!(InProcess::<Claude>::on(ground.demo.host()).read(&by_id(&report.id), 10).is_ok());
}
