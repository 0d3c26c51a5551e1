//! Databases at rest, in use, left by a process that was killed, and in places where nothing may
//! be written.

use crate::build::{Chat, Ide, S1, S2, S3, small_chat};
use crate::demo::Demo;
use sepia_conformance::copy_tree;
use sepia_driver_cursor::Cursor;
use sepia_ir::SummaryDetail;
use sepia_sdk::SessionRead;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Reads everything, and nothing may change.
fn unchanged(demo: &Demo) -> Vec<usize> {
    let before = demo.hash();
    let rows = demo.rows(SummaryDetail::Stats);
    let nodes = rows.iter().map(|row| demo.read(&row.id).nodes.len()).collect();
    assert_eq!(demo.hash(), before);
    nodes
}

#[test]
fn a_closed_database_is_read_in_a_folder_that_may_and_may_not_be_written() {
    let demo = Demo::new();
    small_chat(&demo, ".cursor/chats/0", S1, "Ask.");
    let ide = Ide::new(&demo);
    ide.database.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    ide.composer(S2, &[(1, "Ask."), (2, "Yes.")]);
    ide.close();
    assert_eq!(unchanged(&demo), [2, 2]);
    let folders = [demo.path(&format!(".cursor/chats/0/{S1}")), demo.path(".config/Cursor/User/globalStorage")];
    for folder in &folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    assert_eq!(unchanged(&demo), [2, 2]);
    for folder in &folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn what_is_only_in_the_log_is_seen_while_its_writer_lives_and_after_it_died() {
    let demo = Demo::new();
    let mut chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
    chat.ask("One.", "r1").save();
    let ide = Ide::new(&demo);
    ide.database.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    ide.composer(S2, &[(1, "Ask."), (2, "Yes.")]);
    assert_eq!(demo.ids(), [S1, S2]);
    chat.say("Two.").ask("Three.", "r2").save();
    assert_eq!(demo.read(S1).nodes.len(), 3);
    // As a killed process leaves it: database and log, without the index of the log.
    let left = Demo::new();
    copy_tree(demo.home(), left.home()).unwrap();
    for file in left.files().into_iter().filter(|file| file.to_string_lossy().ends_with("-shm")) {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(unchanged(&left), [3, 2]);
}

#[test]
fn a_change_in_the_log_changes_the_stamp() {
    let demo = Demo::new();
    let mut chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
    chat.ask("One.", "r1").save();
    let ide = Ide::new(&demo);
    ide.composer(S2, &[(1, "Ask.")]).composer(S3, &[(1, "Other.")]);
    let stamps = || demo.scan().entries.into_iter().map(|entry| (entry.session_id, entry.stamp)).collect::<Vec<_>>();
    let before = stamps();
    assert_eq!(before, stamps());
    chat.say("Two.").save();
    ide.composer(S2, &[(1, "Ask."), (2, "Yes.")]);
    let after = stamps();
    let stamp = |stamps: &[(Option<String>, String)], id: &str| {
        stamps.iter().find(|(known, _)| known.as_deref() == Some(id)).unwrap().1.clone()
    };
    assert!([S1, S2].iter().all(|id| stamp(&before, id) != stamp(&after, id)));
    assert_eq!(stamp(&before, S3), stamp(&after, S3));
}

#[test]
fn a_database_that_is_open_is_held_and_one_with_files_left_is_not() {
    let demo = Demo::samples();
    let chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
    small_chat(&demo, ".cursor/chats/0", S2, "Closed.");
    demo.write(&format!(".cursor/chats/0/{S2}/store.db-shm"), [0u8; 32]);
    let ide = Ide::at(&demo, ".config/Cursor/User/globalStorage/other.vscdb");
    ide.close();
    let held = Cursor::locks(&demo.host()).unwrap();
    // SQLite in this process holds it, as the agent would in its own.
    let mine: Vec<_> = held.iter().map(|lock| (lock.id.as_str(), lock.holder_pid)).collect();
    assert_eq!(mine, [(S1, Some(std::process::id()))]);
    drop(chat);
    assert_eq!(Cursor::locks(&demo.host()).unwrap(), []);
}

#[test]
fn a_composer_is_held_while_it_generates_and_the_database_is_open() {
    let demo = Demo::new();
    let ide = Ide::new(&demo);
    ide.database.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    ide.composer(S1, &[(1, "Ask.")]).composer(S2, &[(1, "Ask.")]);
    assert_eq!(Cursor::locks(&demo.host()).unwrap(), []);
    ide.database.execute("UPDATE cursorDiskKV SET value = json_set(value, '$.generatingBubbleIds', json('[\"b1\"]')) WHERE key = 'composerData:' || ?", [S2]).unwrap();
    let held = Cursor::locks(&demo.host()).unwrap();
    assert_eq!(
        held.iter().map(|lock| (lock.id.as_str(), lock.holder_pid)).collect::<Vec<_>>(),
        [(S2, Some(std::process::id()))]
    );
    ide.close();
    assert_eq!(Cursor::locks(&demo.host()).unwrap(), []);
}
