//! Where sessions are, and databases in every state.

use crate::demo::{Demo, SCHEMA, answer, by_id, user};
use rusqlite::Connection;
use sepia_conformance::tree_hash;
use sepia_driver_devin::Devin;
use sepia_ir::{ErrorCode, SummaryDetail};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, SessionRead};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn ids(demo: &Demo) -> Vec<String> {
    let mut ids: Vec<String> = demo.rows(SummaryDetail::Row).into_iter().map(|row| row.id).collect();
    ids.sort();
    ids
}

fn talk(demo: &Demo, id: &str) {
    demo.session(id, Some(2));
    demo.node(id, 1, None, user("q"), None);
    demo.node(id, 2, Some(1), answer("a"), None);
}

#[test]
fn nothing_there_is_nothing_listed() {
    let demo = Demo::bare();
    let scan = demo.scan();
    assert_eq!((scan.entries.len(), scan.warnings.len()), (0, 0));
    assert_eq!(Devin::locks(&demo.host()).unwrap(), []);
    assert_eq!(demo.keeps_the_laws(), 0);
}

#[test]
fn a_database_that_can_t_be_read_is_a_warning() {
    for (content, code, error) in [
        (b"this is no database, it only has the name of one".to_vec(), "unreadable-database", ErrorCode::Store),
        (b"SQLite format 3\0".iter().copied().chain([0xff; 4080]).collect(), "unreadable-database", ErrorCode::Store),
        (Vec::new(), "unknown-layout", ErrorCode::NotFound),
    ] {
        let demo = Demo::bare();
        demo.write("sessions.db", content);
        let scan = demo.scan();
        assert_eq!(scan.entries, []);
        assert_eq!(scan.warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<_>>(), [code]);
        // Nobody can say what such a store has not.
        assert_eq!(demo.try_read(&by_id("s")).unwrap_err().code, error);
    }
}

#[test]
fn a_layout_that_is_not_known_is_told() {
    let demo = Demo::bare();
    demo.sql("CREATE TABLE conversations (id TEXT)");
    assert_eq!(demo.scan().warnings[0].code, "unknown-layout");
}

#[test]
fn the_database_of_older_versions_is_read_beside_or_alone() {
    let older = Demo::new().named("cli_sessions.db");
    older.sql(SCHEMA);
    talk(&older, "old");
    talk(&older, "both");
    older.sql("UPDATE sessions SET title = 'older' WHERE id = 'both'");
    let demo = older.named("sessions.db");
    talk(&demo, "new");
    talk(&demo, "both");
    assert_eq!(ids(&demo), ["both", "new", "old"]);
    assert_eq!(demo.read("both").title, "Title of both");
    assert_eq!(demo.read("old").nodes.len(), 2);
    assert_eq!(demo.keeps_the_laws(), 3);
    fs::remove_file(demo.database()).unwrap();
    assert_eq!(ids(&demo), ["both", "old"]);
    // Named as the database itself, it is read once.
    let alone = demo.named("cli_sessions.db");
    assert_eq!(ids(&alone), ["both", "old"]);
}

#[test]
fn what_lies_beside_a_database_that_was_moved_is_found() {
    let demo = Demo::sample("locked");
    let database: OsString = demo.database().into();
    let env = |name: &str| (name == "SEPIA_DEVIN_DB").then(|| database.clone());
    let host = Host::new(Native::of(&Devin::manifest(), &env).unwrap());
    assert_eq!(host.location("cli"), Some(demo.root().display().to_string()));
    let home: OsString = "/home/me".into();
    let host = Host::new(Native::of(&Devin::manifest(), &|name| (name == "HOME").then(|| home.clone())).unwrap());
    assert_eq!(host.location("database").as_deref(), Some("/home/me/.local/share/devin/cli/sessions.db"));
    assert_eq!(host.location("cli").as_deref(), Some("/home/me/.local/share/devin/cli"));
}

#[test]
fn every_version_is_read_by_what_it_has() {
    // The first versions, and the shape of another writer: no index, no unique ids, no NULL.
    for schema in [
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT, model TEXT, permission_mode TEXT,
          created_at INTEGER, last_activity_at INTEGER, title TEXT, main_chain_id INTEGER);
         CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER, parent_node_id INTEGER, chat_message TEXT, created_at INTEGER);
         INSERT INTO sessions VALUES ('s', '/p', 'm', 'plan', 1, 2, 't', 2);",
        "CREATE TABLE sessions (id TEXT NOT NULL, working_directory TEXT NOT NULL, backend_type TEXT NOT NULL, model TEXT NOT NULL,
          agent_mode TEXT NOT NULL, created_at REAL NOT NULL, last_activity_at REAL NOT NULL, title TEXT NOT NULL,
          main_chain_id INTEGER NOT NULL, shell_last_seen_index INTEGER NOT NULL DEFAULT 0, cogs_json TEXT NOT NULL DEFAULT '[]',
          workspace_dirs TEXT NOT NULL DEFAULT '[]', hidden INTEGER NOT NULL DEFAULT 0, metadata TEXT NOT NULL DEFAULT '{}');
         CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT, node_id INTEGER, parent_node_id INTEGER,
          chat_message TEXT, created_at REAL, metadata TEXT);
         CREATE TABLE prompt_history (content TEXT, timestamp INTEGER, session_id TEXT);
         CREATE TABLE __drizzle_migrations (id INTEGER);
         INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at, title, main_chain_id)
          VALUES ('s', '/p', 'windsurf', 'm', 'plan', 1.0, 2.0, 't', 2);
         INSERT INTO prompt_history VALUES ('q', 1767225600123, 's');",
    ] {
        let demo = Demo::bare();
        demo.sql(schema);
        demo.sql(
            "INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at) VALUES
             ('s', 2, 1, '{\"role\":\"assistant\",\"content\":\"a\"}', 2), ('s', 1, NULL, '{\"role\":\"user\",\"content\":\"q\"}', 1),
             ('s', 2, 1, '{\"role\":\"assistant\",\"content\":\"again\"}', 3)",
        );
        let session = demo.read("s");
        assert_eq!((session.agent_mode.as_str(), session.main_chain_id), ("plan", 2));
        let told: Vec<_> = session.nodes.iter().map(|node| (node.node_id, node.content.as_str())).collect();
        assert_eq!(told, [(1, "q"), (2, "a")]);
        assert_eq!(crate::demo::warnings(&session.metadata), ["broken-row"]);
        assert!(session.prompt_history.iter().all(|prompt| prompt.timestamp == 1_767_225_600_123.0));
        assert_eq!(demo.row("s").main_chain_id, 2);
        assert_eq!(demo.keeps_the_laws(), 1);
    }
    let bare = Demo::bare();
    bare.sql("CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('s')");
    assert_eq!(bare.keeps_the_laws(), 1);
}

#[test]
fn a_database_with_a_log_is_read_in_every_state() {
    let wal = |demo: &Demo| {
        let writer = Connection::open(demo.database()).unwrap();
        writer.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0").unwrap();
        writer
    };
    let add =
        "INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at)
               VALUES ('in-the-log', '/p', '', 'm', '', 1, 2)";
    // Open elsewhere, with a commit that is only in the log.
    let live = Demo::new();
    talk(&live, "s");
    let writer = wal(&live);
    writer.execute_batch(add).unwrap();
    assert_eq!(ids(&live), ["in-the-log", "s"]);
    assert_eq!(live.keeps_the_laws(), 2);
    // The writer was killed: the log is left behind.
    let killed = Demo::bare();
    for name in ["sessions.db", "sessions.db-wal"] {
        fs::copy(live.root().join(name), killed.root().join(name)).unwrap();
    }
    assert_eq!(ids(&killed), ["in-the-log", "s"]);
    assert_eq!(killed.keeps_the_laws(), 2);
    // Checkpointed, in a folder that can be written and in one that can't.
    drop(writer);
    for mode in [0o755, 0o555] {
        fs::set_permissions(live.root(), fs::Permissions::from_mode(mode)).unwrap();
        let before = tree_hash(live.root()).unwrap();
        assert_eq!(ids(&live), ["in-the-log", "s"]);
        assert_eq!(tree_hash(live.root()).unwrap(), before);
    }
    fs::set_permissions(live.root(), fs::Permissions::from_mode(0o755)).unwrap();
}
