//! One session in several places, and places of every layout.

use crate::build::{Chat, GLOBAL, Ide, S1, S2, S3, small_chat};
use crate::demo::{Demo, contents, meta, of};
use crate::laws::keeps_the_laws;
use rusqlite::Connection;
use sepia_ir::{Role, SessionRef, SummaryDetail};
use serde_json::json;
use std::fs;

const LINES: &str = "{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<user_query>\\nAsk.\\n</user_query>\"}]}}\n\
    {\"role\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Reading.\"},{\"type\":\"tool_use\",\"name\":\"Read\",\"input\":{\"path\":\"a\"}}]}}\n";

fn transcript(demo: &Demo, id: &str) {
    demo.write(&format!(".cursor/projects/p-demo/agent-transcripts/{id}/{id}.jsonl"), LINES);
}

fn subagent(demo: &Demo, parent: &str, id: &str) {
    demo.write(&format!(".cursor/projects/p-demo/agent-transcripts/{parent}/subagents/{id}.jsonl"), LINES);
}

#[test]
fn a_transcript_with_a_sub_agent_alone_is_two_sessions() {
    let demo = Demo::new();
    transcript(&demo, S1);
    subagent(&demo, S1, S2);
    assert_eq!(demo.ids(), [S1, S2]);
    let child = demo.row(S2);
    assert_eq!((child.parent_session_id.as_deref(), child.agent_id.as_deref()), (Some(S1), Some(S2)));
    assert_eq!(demo.read(S1).nodes[1].tool_calls[0].status, None);
    assert_eq!(keeps_the_laws(&demo), 2);
}

#[test]
fn a_session_in_a_database_and_a_transcript_is_one_row_with_the_results_of_the_database() {
    let demo = Demo::new();
    transcript(&demo, S1);
    subagent(&demo, S1, S2);
    let mut chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
    chat.ask("Ask.", "r1")
        .message(json!({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "t1", "toolName": "Read", "args": {"path": "a"}}]}))
        .message(json!({"role": "tool", "id": "t1", "content": [{"type": "tool-result", "toolCallId": "t1", "toolName": "Read", "result": "the text"}]}))
        .save();
    chat.close();
    assert_eq!(demo.ids(), [S1, S2]);
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["Ask.", "", "the text"]);
    assert_eq!(meta(&session.metadata)["space"], json!("chats"));
    assert_eq!(
        meta(&session.metadata)["alsoIn"][0]["path"],
        json!(format!("projects/p-demo/agent-transcripts/{S1}/{S1}.jsonl"))
    );
    assert_eq!(demo.row(S2).working_directory, "/p/demo");
    let by_parent = SessionRef { id: S1.into(), agent_id: Some(S2.into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap(), demo.read(S2));
    assert_eq!(keeps_the_laws(&demo), 2);
}

#[test]
fn a_sub_agent_with_a_chat_of_its_own_is_read_from_that() {
    let demo = Demo::new();
    small_chat(&demo, ".cursor/chats/0", S1, "Parent.");
    subagent(&demo, S1, S2);
    let before = demo.scan().entries.into_iter().find(|entry| entry.session_id.as_deref() == Some(S1)).unwrap();
    let mut chat = Chat::new(
        &demo,
        ".cursor/chats/0",
        S2,
        Some(json!({"schemaVersion": 1, "isSubagent": true, "hasConversation": true})),
    );
    chat.ask("Child.", "r2").save();
    chat.close();
    assert_eq!(demo.ids(), [S1, S2]);
    let child = demo.read(S2);
    assert_eq!((child.parent_session_id.as_deref(), contents(&child)), (Some(S1), vec!["Child."]));
    // What the parent's key gives has changed, so its stamp has.
    let after = demo.scan().entries.into_iter().find(|entry| entry.session_id.as_deref() == Some(S1)).unwrap();
    assert_eq!(before.key, after.key);
    assert_ne!(before.stamp, after.stamp);
    assert_eq!(keeps_the_laws(&demo), 2);
}

#[test]
fn of_several_databases_the_one_with_more_history_counts() {
    let demo = Demo::new();
    // What is left when the agent is resumed from another directory.
    let mut empty = Chat::new(&demo, ".cursor/chats/1", S1, None);
    empty.ask("Short.", "r9").save();
    empty.close();
    let mut full = Chat::new(&demo, ".cursor/chats/0", S1, None);
    for turn in 0..60 {
        full.ask(&format!("Prompt {turn} {}", "x".repeat(500)), &format!("r{turn}"));
    }
    full.save();
    full.close();
    small_chat(&demo, ".config/cursor/chats/2", S2, "In the other place.");
    small_chat(&demo, ".cursor/acp-sessions", S3, "Over the protocol.");
    assert_eq!(demo.ids(), [S1, S2, S3]);
    let session = demo.read(S1);
    assert_eq!(session.nodes.len(), 60);
    assert_eq!(
        meta(&session.metadata)["alsoIn"],
        json!([{"space": "chats", "store": "cursor", "path": format!("chats/1/{S1}/store.db")}])
    );
    assert_eq!(meta(&demo.row(S3).metadata)["space"], json!("acp-sessions"));
    assert_eq!(keeps_the_laws(&demo), 3);
}

#[test]
fn what_was_never_prompted_is_no_session_and_an_empty_source_gives_way() {
    let demo = Demo::new();
    for at in 0..50 {
        demo.write(&format!(".cursor/acp-sessions/unused-{at}/meta.json"), "{\"schemaVersion\":1,\"cwd\":\"/p/demo\"}");
    }
    let mut fresh =
        Chat::new(&demo, ".cursor/chats/0", S1, Some(json!({"schemaVersion": 1, "hasConversation": false})));
    fresh.meta["latestRootBlobId"] = json!("");
    fresh.point();
    fresh.close();
    demo.write(&format!(".cursor/chats/0/{S3}/store.db"), "");
    assert_eq!(demo.ids(), [""; 0]);
    assert_eq!(demo.scan().entries.len(), 2);
    // A chat whose state is the empty blob is listed by the agent too.
    let mut blank = Chat::new(&demo, ".cursor/chats/0", S2, None);
    blank.meta["latestRootBlobId"] = json!("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    blank.blob(b"");
    blank.point();
    blank.close();
    assert_eq!(demo.ids(), [S2]);
    assert_eq!((demo.read(S2).nodes.len(), demo.read(S2).main_chain_id), (0, 0));
    // Of each of them a transcript tells more.
    transcript(&demo, S1);
    transcript(&demo, S2);
    assert_eq!(demo.ids(), [S1, S2]);
    assert!([S1, S2].iter().all(|id| demo.read(id).nodes.len() == 2));
    assert_eq!(keeps_the_laws(&demo), 2);
}

#[test]
fn agents_of_the_sdk_are_found_by_the_digest_of_their_id() {
    let demo = Demo::new();
    let folder = ".cursor/projects/p-demo/sdk-agent-store/0/agents";
    let digest = |id: &str| crate::build::hex(&<sha2::Sha256 as sha2::Digest>::digest(id.as_bytes()));
    for (id, prompt) in [(S1, "One."), (S2, "Two.")] {
        let mut chat = Chat::new(&demo, folder, &format!("agent-{}", digest(id)), None);
        chat.meta["agentId"] = json!(id);
        chat.ask(prompt, "r1").save();
        chat.close();
    }
    transcript(&demo, S1);
    assert_eq!(demo.ids(), [S1, S2]);
    assert_eq!(contents(&demo.read(S1)), ["One."]);
    assert_eq!(contents(&demo.read(S2)), ["Two."]);
    assert_eq!(keeps_the_laws(&demo), 2);
}

#[test]
fn a_database_of_an_unknown_layout_is_told() {
    let demo = Demo::new();
    transcript(&demo, S1);
    let path = demo.path(GLOBAL);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch("CREATE TABLE newKV (key TEXT, value BLOB); CREATE TABLE ItemTable (key TEXT, value BLOB);")
        .unwrap();
    drop(database);
    let mut odd = Chat::new(&demo, ".cursor/chats/0", S2, None);
    odd.save();
    odd.database.execute_batch("ALTER TABLE blobs RENAME TO newer").unwrap();
    odd.close();
    demo.write(
        &format!(".cursor/chats/0/{S3}/store.db"),
        "this is no database at all, and long enough to be looked at",
    );
    let (rows, warnings) = demo.listed(SummaryDetail::Row);
    assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), [S1]);
    let mut codes: Vec<&str> = warnings.iter().map(|warning| warning.code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["unknown-layout", "unknown-layout", "unreadable-database"]);
    assert!(warnings.iter().any(|warning| warning.message.contains("newKV")));
    assert_eq!(demo.try_read(&of(S3)).unwrap_err().code, sepia_ir::ErrorCode::Store);
}

#[test]
fn chats_of_the_oldest_versions_are_read_where_they_are() {
    let demo = Demo::new();
    let workspace = ".config/Cursor/User/workspaceStorage/ws1";
    demo.write(&format!("{workspace}/workspace.json"), "{\"folder\":\"file:///p/my%20demo\"}");
    let ide = Ide::at(&demo, &format!("{workspace}/state.vscdb"));
    ide.item(
        "workbench.panel.aichat.view.aichat.chatdata",
        json!({"tabs": [
            {"tabId": S1, "chatTitle": "Old chat", "lastSendTime": 1_791_795_650_000u64, "bubbles": [
                {"type": "user", "text": "Why?", "id": "u1"}, {"type": "ai", "rawText": "Because.", "id": "a1", "modelType": "x"}]},
            {"tabId": "draft", "bubbles": []},
        ]}),
    );
    ide.item(
        "composer.composerData",
        json!({"allComposers": [
            {"composerId": S2, "createdAt": 1_791_795_600_000u64, "conversation": [{"type": 1, "bubbleId": "x1", "text": "Inside."}, {"type": 2, "bubbleId": "x2", "text": "Yes."}]},
            {"composerId": S3, "name": "Only a head"},
        ]}),
    );
    ide.close();
    assert_eq!(demo.ids(), [S1, S2]);
    let tab = demo.read(S1);
    assert_eq!(
        (tab.title.as_str(), tab.working_directory.as_str(), contents(&tab)),
        ("Old chat", "/p/my demo", vec!["Why?", "Because."])
    );
    assert_eq!((tab.last_activity_at, tab.nodes[1].role), (1_791_795_650.0, Role::Assistant));
    assert_eq!(demo.read(S2).title, "Inside.");
    assert_eq!(keeps_the_laws(&demo), 2);
    // The same composer in the newer place, and one whose workspace only its head tells.
    let global = Ide::new(&demo);
    global.composer(S2, &[(1, "Moved."), (2, "Indeed.")]).composer(S3, &[(1, "Third.")]);
    global.close();
    assert_eq!(demo.ids(), [S1, S2, S3]);
    assert_eq!(contents(&demo.read(S2)), ["Moved.", "Indeed."]);
    assert_eq!(demo.row(S3).working_directory, "/p/my demo");
    assert_eq!(keeps_the_laws(&demo), 3);
}

#[test]
fn a_legacy_text_transcript_has_the_times_of_its_stamps() {
    let demo = Demo::new();
    let text = "user:\n<timestamp>2026-10-12T09:00:00Z</timestamp>\n<user_query>\nFirst.\nassistant:\nis a word here\n</user_query>\n\n\
                assistant:\n[Thinking] I think\nYes.\n[Tool call] Shell\n  command: ls\n    -l\n[Tool result] Shell\ntotal 0\n\n\
                user:\n<timestamp>Monday, Oct 12, 2026, 11:01 AM (UTC+2)</timestamp>\n<user_query>\nSecond.\n</user_query>\n\nassistant:\nDone.\n";
    demo.write(&format!(".cursor/projects/p-demo/agent-transcripts/{S1}.txt"), text);
    let session = demo.read(S1);
    assert_eq!((session.created_at, session.last_activity_at), (1_791_795_600.0, 1_791_795_660.0));
    assert_eq!(contents(&session), ["First.\nassistant:\nis a word here", "Yes.", "total 0", "Second.", "Done."]);
    assert_eq!(session.nodes[1].thinking.as_deref(), Some("I think"));
    let call = &session.nodes[1].tool_calls[0];
    assert_eq!((call.name.as_str(), meta(&call.arguments)), ("Shell", json!({"command": "ls\n-l"})));
    assert_eq!(session.nodes[2].tool_name.as_deref(), Some("Shell"));
    assert_eq!(meta(&session.metadata)["timeSource"], json!(null));
    let flat = json!({"mode": "agent", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}]});
    demo.write(&format!(".cursor/projects/p-demo/agent-transcripts/{S2}.json"), flat.to_string());
    assert_eq!(contents(&demo.read(S2)), ["Hi.", "Hello."]);
    demo.write(&format!(".cursor/projects/p-demo/agent-transcripts/{S3}.jsonl"), LINES);
    assert_eq!(demo.ids(), [S1, S2, S3]);
    assert_eq!(keeps_the_laws(&demo), 3);
}

#[test]
fn the_directory_of_a_transcript_is_never_guessed_from_its_folder() {
    let demo = Demo::new();
    transcript(&demo, S1);
    assert_eq!(demo.row(S1).working_directory, "");
    demo.write(
        ".cursor/projects/p-demo/worker.log",
        "start workspacePath=/elsewhere x\nstart workspacePath=/p/demo pid=7\n",
    );
    assert_eq!(demo.row(S1).working_directory, "/p/demo");
}
