//! Ids that are given, taken, or neither; and saves that write nothing.

use crate::stand::{REPLACE, Stand, WRITE, by_id, foreign};
use sepia_driver_cline::Cline;
use sepia_ir::{ErrorCode, SaveOptions};
use sepia_sdk::SessionWrite;

#[test]
fn a_fresh_id_has_the_form_of_the_agent_and_the_time_of_the_session() {
    let stand = Stand::new();
    let report = stand.save(&foreign(), &WRITE).unwrap();
    let (time, end) = report.id.split_once('_').unwrap();
    assert_eq!((time, end.len()), ("1767225600000", 5));
    assert_eq!(report.resume_command, ["cline", "--id", report.id.as_str()]);
    assert_eq!(report.working_directory, "/p/demo");
}

#[test]
fn an_id_that_is_given_is_taken_and_then_there() {
    let stand = Stand::new();
    let mut session = foreign();
    session.id = "c0ffee00-0000-4000-8000-000000000000".into();
    assert_eq!(stand.save(&session, &WRITE).unwrap().id, session.id);
    let before = stand.hash();
    assert_eq!(stand.save(&session, &WRITE).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(stand.hash(), before);
    assert_eq!(stand.save(&session, &REPLACE).unwrap().id, session.id);
}

#[test]
fn no_id_leads_out_of_its_place() {
    let stand = Stand::new();
    let before = stand.hash();
    let long = "x".repeat(5000);
    for id in [
        "../S1",
        "..\\S1",
        "/etc/passwd",
        "S1/x",
        "-h",
        "--dangerously-skip-permissions",
        "x\"; touch canary; \"",
        "S1\0x",
        "%2e%2e%2fS1",
        "a\u{202e}b",
        ".",
        "..",
        "a__b",
        &long,
    ] {
        let mut session = foreign();
        session.id = id.into();
        assert_eq!(stand.save(&session, &WRITE).unwrap_err().code, ErrorCode::Invalid, "{id:?}");
        let host = stand.host();
        for code in [
            Cline::rename(&host, &by_id(id), "Title").unwrap_err().code,
            Cline::plan_delete(&host, &by_id(id)).unwrap_err().code,
            Cline::delete(&host, &by_id(id)).unwrap_err().code,
        ] {
            assert_eq!(code, ErrorCode::NotFound, "{id:?}");
        }
    }
    assert_eq!(stand.hash(), before);
}

#[test]
fn without_a_working_directory_nothing_is_written() {
    let stand = Stand::new();
    let before = stand.hash();
    for directory in ["", "p/demo", "~"] {
        let mut session = foreign();
        session.working_directory = directory.into();
        let error = stand.save(&session, &WRITE).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
        assert!(error.message.contains("working directory"));
    }
    assert_eq!(stand.hash(), before);
}

#[test]
fn a_dry_run_tells_the_same_and_leaves_no_trace() {
    let stand = Stand::new();
    let mut session = foreign();
    session.id = "1767225600000_aaaaa".into();
    session.nodes[0].role = sepia_ir::Role::System;
    let before = stand.hash();
    let told = stand.save(&session, &SaveOptions { dry_run: true, ..WRITE }).unwrap();
    assert_eq!(stand.hash(), before);
    assert_eq!(stand.save(&session, &WRITE).unwrap(), told);
    let before = stand.hash();
    let again = SaveOptions { dry_run: true, ..WRITE };
    assert_eq!(stand.save(&session, &again).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(stand.save(&session, &SaveOptions { dry_run: true, ..REPLACE }).unwrap(), told);
    assert_eq!(stand.hash(), before);
}

#[test]
fn a_draft_that_is_dropped_was_never_there() {
    use sepia_sdk::Draft;
    let stand = Stand::new();
    let session = foreign();
    let header = sepia_ir::Session { nodes: Vec::new(), id: "1_a".into(), ..session.clone() };
    let mut draft = Cline::begin(&stand.host(), header, &WRITE).unwrap();
    draft.append(session.nodes).unwrap();
    drop(draft);
    assert_eq!((stand.ids(), stand.files("1_a")), (vec![], vec![]));
}
