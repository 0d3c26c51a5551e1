//! Deleting takes all that belongs to a session and nothing else, and can be taken back.

use crate::build::{Chat as Built, Ide, S1, S2, S3, small_chat};
use crate::demo::{Demo, of};
use crate::store::{files, hash, writer};
use sepia_driver_cursor::Cursor;
use sepia_ir::ErrorCode;
use sepia_sdk::SessionWrite;
use std::fs;

const A: &str = "3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11";
const D: &str = "d5e6f708-9a0b-4c1d-8e2f-3a4b5c6d7e44";
const D_SUB: &str = "e1f2a3b4-5c6d-4e7f-8a9b-0c1d2e3f4a55";
const IDE: &str = "1d2e3f40-5162-4738-94a5-b6c7d8e9fa01";

fn places(demo: &Demo, id: &str) -> Vec<String> {
    Cursor::plan_delete(&demo.host(), &of(id)).unwrap().into_iter().map(|artifact| artifact.place).collect()
}

/// Puts back what is in the trash, as the host does.
fn restore(demo: &Demo) {
    let trash = sepia_services::TrashEntry::read(demo.path("trash")).unwrap();
    for item in trash.items().iter().rev() {
        trash.put_back(item).unwrap();
    }
}

#[test]
fn a_session_goes_with_its_transcript_and_its_sub_agents_and_comes_back_byte_for_byte() {
    for (id, expected, gone) in [
        (
            A,
            vec![
                format!("chats/11e9fe063b91149eb10c6daf331adfaa/{A}"),
                format!("projects/home-dev-shop/agent-transcripts/{A}"),
            ],
            vec![A],
        ),
        (
            D,
            vec![
                format!("chats/11e9fe063b91149eb10c6daf331adfaa/{D}"),
                format!("projects/home-dev-shop/agent-transcripts/{D}"),
            ],
            vec![D, D_SUB],
        ),
    ] {
        let demo = Demo::samples();
        let (before, bytes, ids) = (hash(&demo), files(&demo), demo.ids());
        assert_eq!(places(&demo, id), expected);
        let planned = Cursor::plan_delete(&demo.host(), &of(id)).unwrap();
        assert!(planned.iter().all(|artifact| artifact.bytes > 0));
        assert_eq!(hash(&demo), before);
        let outcome = Cursor::delete(&writer(&demo), &of(id)).unwrap();
        assert_eq!((outcome.removed, outcome.failed, outcome.undo), (planned, vec![], vec![]));
        let left: Vec<String> = ids.iter().filter(|other| !gone.contains(&other.as_str())).cloned().collect();
        assert_eq!(demo.ids(), left);
        assert_eq!(Cursor::delete(&writer(&demo), &of(id)).unwrap_err().code, ErrorCode::NotFound);
        restore(&demo);
        Cursor::undelete(&writer(&demo), &[]).unwrap();
        assert!(files(&demo) == bytes, "byte for byte");
    }
}

#[test]
fn a_sub_agent_with_a_chat_of_its_own_goes_with_its_parent_and_another_chat_stays() {
    let demo = Demo::new();
    small_chat(&demo, ".cursor/chats/0", S1, "Parent.");
    small_chat(&demo, ".cursor/chats/0", S3, "Other.");
    let mut child = Built::new(&demo, ".cursor/chats/0", S2, None);
    child.meta["subagentInfo"] = serde_json::json!({"parentAgentId": S1});
    child.ask("Child.", "r2").save();
    child.close();
    // The same session was resumed from another directory once.
    small_chat(&demo, ".config/cursor/chats/1", S1, "Again.");
    assert_eq!(places(&demo, S1), [format!("chats/1/{S1}"), format!("chats/0/{S1}"), format!("chats/0/{S2}")]);
    let outcome = Cursor::delete(&writer(&demo), &of(S1)).unwrap();
    assert_eq!((outcome.removed.len(), outcome.failed.len()), (3, 0));
    assert_eq!(demo.ids(), [S3]);
}

#[test]
fn what_could_not_be_taken_is_told_and_not_claimed() {
    let demo = Demo::samples();
    let folder = demo.path("trash");
    fs::write(&folder, "no folder").unwrap();
    let before = hash(&demo);
    let outcome = Cursor::delete(&writer(&demo), &of(A)).unwrap();
    assert_eq!((outcome.removed.len(), outcome.failed.len()), (0, 2));
    assert!(outcome.failed.iter().all(|(_, why)| !why.is_empty()));
    assert_eq!(hash(&demo), before);
}

#[test]
fn the_database_of_the_ide_is_only_read() {
    let demo = Demo::samples();
    let before = hash(&demo);
    let refused = Cursor::delete(&writer(&demo), &of(IDE)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Unsupported);
    assert!(refused.message.contains("delete it in the IDE itself"), "{}", refused.message);
    assert_eq!(Cursor::rename(&writer(&demo), &of(IDE), "x").unwrap_err().code, ErrorCode::Unsupported);
    assert_eq!(Cursor::plan_delete(&demo.host(), &of(D_SUB)).unwrap_err().code, ErrorCode::Unsupported);
    assert_eq!(hash(&demo), before);
    // A chat of the same id goes; what the IDE has is told.
    let demo = Demo::new();
    small_chat(&demo, ".cursor/chats/0", S1, "Chat.");
    let ide = Ide::new(&demo);
    ide.composer(S1, &[(1, "Composer.")]);
    ide.close();
    let outcome = Cursor::delete(&writer(&demo), &of(S1)).unwrap();
    assert_eq!(outcome.removed.len(), 1);
    assert_eq!(outcome.failed[0].0.place, format!("cursorDiskKV:composerData:{S1}"));
}
