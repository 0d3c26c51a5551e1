//! What is refused, and that nothing is touched then.

use crate::demo::{Demo, of};
use crate::session::{ID, foreign};
use crate::store::{REPLACE, SAVE, files, hash, read, save, writer};
use sepia_driver_cursor::Cursor;
use sepia_ir::{ErrorCode, RewindPlan, SaveOptions, Session};
use sepia_sdk::SessionWrite;

const HOSTILE: [&str; 16] = [
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
    "CON",
    "\u{202e}1",
    ".",
    "..",
    "11111111-1111-4111-8111-11111111111A",
    "{11111111-1111-4111-8111-111111111111}",
];

#[test]
fn ids_of_no_session_are_unknown_and_touch_nothing() {
    let demo = Demo::samples();
    let before = hash(&demo);
    let long = "x".repeat(5000);
    for id in HOSTILE.into_iter().chain(["", &long]) {
        let host = writer(&demo);
        let plan = RewindPlan { kept: vec![], removed: vec![], removed_tool_call_ids: vec![] };
        let codes = [
            Cursor::rename(&host, &of(id), "x").unwrap_err().code,
            Cursor::plan_delete(&host, &of(id)).unwrap_err().code,
            Cursor::delete(&host, &of(id)).unwrap_err().code,
            Cursor::rewind(&host, &of(id), &plan, Session::new(id, "cursor")).unwrap_err().code,
        ];
        assert_eq!(codes, [ErrorCode::NotFound; 4], "{id}");
    }
    assert_eq!(hash(&demo), before);
    assert!(!demo.path("trash").exists());
}

#[test]
fn an_id_that_is_not_of_the_agents_form_is_not_written() {
    let demo = Demo::new();
    for id in HOSTILE {
        let session = Session { id: id.to_owned(), ..foreign() };
        assert_eq!(save(&demo, &session, &SAVE).unwrap_err().code, ErrorCode::Invalid, "{id}");
    }
    assert_eq!(demo.files(), Vec::<std::path::PathBuf>::new());
    let fresh = save(&demo, &Session { id: String::new(), ..foreign() }, &SAVE).unwrap();
    assert_eq!(fresh.id.len(), 36);
    assert_eq!(demo.ids(), [fresh.id]);
}

#[test]
fn without_a_directory_nothing_is_written_and_a_slash_at_its_end_is_none_of_it() {
    let demo = Demo::new();
    for cwd in ["", "relative", "~/x", ".", "/a\0b"] {
        let session = Session { working_directory: cwd.into(), ..foreign() };
        assert_eq!(save(&demo, &session, &SAVE).unwrap_err().code, ErrorCode::Invalid, "{cwd}");
    }
    assert_eq!(demo.files(), Vec::<std::path::PathBuf>::new());
    let session = Session { working_directory: "/p/demo/".into(), ..foreign() };
    assert_eq!(save(&demo, &session, &SAVE).unwrap().working_directory, "/p/demo");
    assert_eq!(crate::store::Chat::of(&demo, ID).note()["cwd"], "/p/demo");
}

#[test]
fn a_session_that_is_there_is_replaced_only_when_that_is_asked() {
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    let before = hash(&demo);
    let mut other = foreign();
    other.title = "Other".into();
    other.nodes.truncate(1);
    other.main_chain_id = 0;
    assert_eq!(save(&demo, &other, &SAVE).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(hash(&demo), before);
    let report = save(&demo, &other, &REPLACE).unwrap();
    sepia_conformance::equal_but_for(&other, &read(&demo, ID), &report.losses).unwrap();
    assert_eq!(demo.ids(), [ID]);
    // The agent would not find it from another directory.
    let elsewhere = Session { working_directory: "/p/elsewhere".into(), ..foreign() };
    assert_eq!(save(&demo, &elsewhere, &REPLACE).unwrap_err().code, ErrorCode::Conflict);
    sepia_conformance::equal_but_for(&other, &read(&demo, ID), &report.losses).unwrap();
}

#[test]
fn sub_agents_of_a_session_that_is_replaced_stay() {
    const D: &str = "d5e6f708-9a0b-4c1d-8e2f-3a4b5c6d7e44";
    const D_SUB: &str = "e1f2a3b4-5c6d-4e7f-8a9b-0c1d2e3f4a55";
    let demo = Demo::samples();
    let sub = demo.read(D_SUB);
    let session = demo.read(D);
    let report = save(&demo, &session, &REPLACE).unwrap();
    sepia_conformance::equal_but_for(&session, &read(&demo, D), &report.losses).unwrap();
    assert_eq!(demo.read(D_SUB).nodes, sub.nodes);
    let settings =
        crate::store::Chat::at(&demo, &format!(".cursor/chats/11e9fe063b91149eb10c6daf331adfaa/{D}")).settings();
    assert_eq!(settings["isRunEverything"], true, "what the person set stays");
}

#[test]
fn sessions_that_only_others_write_are_refused() {
    let demo = Demo::samples();
    let before = hash(&demo);
    for id in [
        "1d2e3f40-5162-4738-94a5-b6c7d8e9fa01",
        "9e4b7a33-1c55-4d2e-a6f0-8b9c0d1e2f33",
        "e1f2a3b4-5c6d-4e7f-8a9b-0c1d2e3f4a55",
    ] {
        let session = Session { id: id.into(), ..foreign() };
        assert_eq!(save(&demo, &session, &REPLACE).unwrap_err().code, ErrorCode::Unsupported, "{id}");
    }
    assert_eq!(hash(&demo), before);
}

#[test]
fn a_draft_that_is_dropped_was_never_there() {
    use sepia_sdk::Draft;
    let demo = Demo::new();
    let mut draft = Cursor::begin(&writer(&demo), Session { nodes: vec![], ..foreign() }, &SAVE).unwrap();
    draft.append(foreign().nodes).unwrap();
    drop(draft);
    assert_eq!(demo.files(), Vec::<std::path::PathBuf>::new());
    save(&demo, &foreign(), &SAVE).unwrap();
    let before = files(&demo);
    let mut draft = Cursor::begin(&writer(&demo), Session { nodes: vec![], ..foreign() }, &REPLACE).unwrap();
    draft.append(foreign().nodes).unwrap();
    drop(draft);
    assert!(files(&demo) == before);
}

#[test]
fn what_was_saved_can_be_taken_back() {
    use sepia_sdk::Draft;
    let demo = Demo::new();
    let draft = |session: &Session, replace: bool| {
        let options = SaveOptions { replace, ..SAVE };
        let mut draft = Cursor::begin(&writer(&demo), Session { nodes: vec![], ..session.clone() }, &options).unwrap();
        draft.append(session.nodes.clone()).unwrap();
        draft.commit().unwrap();
        draft
    };
    draft(&foreign(), false).undo().unwrap();
    assert_eq!(demo.ids(), [""; 0]);
    save(&demo, &foreign(), &SAVE).unwrap();
    let before = read(&demo, ID);
    let mut other = foreign();
    other.title = "Other".into();
    other.nodes.truncate(4);
    other.main_chain_id = 3;
    for _ in 0..2 {
        draft(&other, true).undo().unwrap();
        assert_eq!(read(&demo, ID), before);
        assert_eq!(demo.row(ID).title, before.title);
    }
    save(&demo, &other, &REPLACE).unwrap();
    let second = read(&demo, ID);
    draft(&foreign(), true).undo().unwrap();
    assert_eq!(read(&demo, ID), second);
}
