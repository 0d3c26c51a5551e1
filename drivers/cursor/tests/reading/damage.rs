//! What is broken or not known costs itself alone, and is told.

use crate::build::{AgentTurn, Answer, Chat, Ide, Root, S1, S2, Step, Timing, Turn, User};
use crate::demo::{Demo, FILES, contents, meta, of, warnings};
use crate::laws::keeps_the_laws;
use proptest::prelude::*;
use prost::Message;
use sepia_ir::{Role, SummaryDetail, ToolCallStatus};
use serde_json::json;

fn chat(fill: impl FnOnce(&mut Chat)) -> Demo {
    let demo = Demo::new();
    let mut chat = Chat::new(
        &demo,
        ".cursor/chats/0",
        S1,
        Some(json!({"title": "Title", "cwd": "/p/demo", "updatedAtMs": 1_791_795_700_000u64})),
    );
    fill(&mut chat);
    chat.save();
    chat.close();
    demo
}

#[test]
fn a_missing_message_is_passed_over_and_told() {
    let demo = chat(|chat| {
        chat.ask("One.", "r1").say("Two.").say("Three.");
        chat.root.messages[1] = vec![7; 32];
        chat.root.messages.push(vec![8; 32]);
        chat.root.messages.push(vec![9; 3]);
    });
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["One.", "Three."]);
    assert_eq!(warnings(&session), ["missing-blob", "missing-blob"]);
    assert_eq!(session.main_chain_id, session.nodes[1].node_id);
    assert_eq!(keeps_the_laws(&demo), 1);
}

#[test]
fn what_is_no_message_is_passed_over_and_what_is_not_known_is_carried() {
    let demo = chat(|chat| {
        chat.raw("no json").raw("[1]").message(json!({"role": "oracle", "content": "x"}));
        chat.ask("One.", "r1");
        chat.message(json!({"role": "assistant", "content": [{"type": "hologram", "x": 1}, {"type": "text", "text": "seen"}, 17, {"type": "image"}]}));
        chat.message(json!({"role": "user", "content": {"odd": true}}));
        chat.message(json!({"role": "assistant", "content": [{"type": "tool-call"}, {"type": "tool-call", "args": "*** Begin Patch", "toolName": "ApplyPatch", "toolCallId": "a\nb"}, {"type": "tool-call", "toolCallId": "a\nb", "toolName": "Again"}]}));
        chat.message(json!({"role": "tool", "id": "a\nb", "content": [{"type": "tool-result", "toolCallId": "a\nb", "result": {"deep": [1]}}]}));
        chat.message(json!({"role": "tool", "content": "alone"}));
    });
    let session = demo.read(S1);
    assert_eq!(warnings(&session), ["unreadable-record"; 3]);
    assert_eq!(contents(&session), ["One.", "seen", "", "", "{\"deep\":[1]}", "alone"]);
    assert_eq!(
        meta(&session.nodes[1].metadata)["opaqueParts"],
        json!([{"type": "hologram", "x": 1}, 17, {"type": "image"}])
    );
    assert_eq!(meta(&session.nodes[2].metadata)["opaqueContent"], json!({"odd": true}));
    let call = &session.nodes[3].tool_calls[1];
    assert_eq!(
        (call.id.as_str(), call.arguments.as_str(), call.status),
        ("a\nb", "\"*** Begin Patch\"", Some(ToolCallStatus::Success))
    );
    assert_eq!(session.nodes[4].tool_name.as_deref(), Some("ApplyPatch"));
    assert_eq!(keeps_the_laws(&demo), 1);
}

#[test]
fn half_surrogate_pairs_cost_one_character() {
    let demo = chat(|chat| {
        for text in ["ok \\ud83d end", "\\udc00", "\\ud83eade9", "\\ud83d\\ude00"] {
            chat.raw(format!("{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"));
        }
        chat.raw(b"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}");
        chat.raw("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\"t\",\"toolName\":\"Read\",\"args\":{\"path\":\"\\ud83d\"}}]}");
    });
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["ok \u{fffd} end", "\u{fffd}", "\u{fffd}ade9", "\u{1f600}", "a\u{fffd}b", ""]);
    assert_eq!(meta(&session.nodes[5].tool_calls[0].arguments), json!({"path": "\u{fffd}"}));
    assert_eq!(warnings(&session), ["repaired-text"; 5]);
    assert_eq!(keeps_the_laws(&demo), 1);
}

#[test]
fn settings_may_be_plain_json_and_fields_of_other_builds_are_skipped() {
    let demo = chat(|chat| {
        chat.ask("One.", "r1");
        chat.meta["mode"] = json!("auto-run");
        chat.meta["blobEncryptionKey"] = json!("c2VjcmV0LXNlY3JldC1zZWNyZXQ=");
    });
    let all = |demo: &Demo| {
        serde_json::to_string(&(demo.read(S1), demo.rows(SummaryDetail::Row), demo.rows(SummaryDetail::Stats))).unwrap()
    };
    assert!(!all(&demo).contains("c2VjcmV0"));
    let session = demo.read(S1);
    assert_eq!((session.agent_mode.as_str(), &meta(&session.metadata)["runEverything"]), ("default", &json!(true)));
    let path = demo.path(&format!(".cursor/chats/0/{S1}/store.db"));
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("UPDATE meta SET value = CAST(unhex(value) AS TEXT)", []).unwrap();
    database.close().unwrap();
    assert_eq!(contents(&demo.read(S1)), ["One."]);
    assert!(!all(&demo).contains("c2VjcmV0"));
}

#[test]
fn a_chat_without_its_small_files_or_with_broken_ones_is_read() {
    let demo = Demo::new();
    let mut chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
    chat.root.workspaces = vec!["file:///p/old".into(), "file:///p/my%20demo".into()];
    chat.meta["name"] = json!("");
    chat.message(json!({"role": "user", "content": "<user_info>\nWorkspace Path: /p/info\n</user_info>"}))
        .ask("The  first\nprompt.", "r1")
        .save();
    chat.close();
    let row = demo.row(S1);
    assert_eq!((row.title.as_str(), row.working_directory.as_str()), ("The first prompt.", "/p/my demo"));
    assert_eq!(row.workspace_dirs, "[\"/p/old\",\"/p/my demo\"]");
    assert_eq!((row.created_at, row.last_activity_at), (1_791_795_600.0, FILES as f64));
    assert_eq!(meta(&row.metadata)["timeSource"], json!("file"));
    demo.write(&format!(".cursor/chats/0/{S1}/meta.json"), "{\"title\":");
    demo.write(&format!(".cursor/chats/0/{S1}/prompt_history.json"), "[1,");
    assert_eq!(warnings(&demo.read(S1)), ["broken-note", "broken-note"]);
    assert_eq!(demo.read(S1).prompt_history[0].content, "The  first\nprompt.");
    let mut bare = Chat::new(&demo, ".cursor/chats/0", S2, None);
    bare.root.workspaces.clear();
    bare.message(json!({"role": "user", "content": "<user_info>\nWorkspace Path: /p/info\n</user_info>"}))
        .ask("Hi.", "r1")
        .save();
    bare.close();
    assert_eq!(demo.row(S2).working_directory, "/p/info");
}

#[test]
fn order_is_by_the_records_and_times_of_the_future_are_brought_back() {
    let demo = Demo::new();
    for (id, at) in [("s1", 100u64), ("s2", 200), ("s3", 300), ("s4", 4_070_908_800 - 1_791_795_600)] {
        let note =
            json!({"createdAtMs": 1_791_795_600_000u64, "updatedAtMs": (1_791_795_600 + at) * 1000, "cwd": "/p"});
        let mut chat = Chat::new(&demo, ".cursor/chats/0", id, Some(note));
        chat.ask("x", "r").save();
        chat.close();
    }
    let row = |id: &str| demo.row(id);
    assert_eq!(
        ["s1", "s2", "s3"].map(|id| row(id).last_activity_at),
        [100.0, 200.0, 300.0].map(|at| 1_791_795_600.0 + at)
    );
    let future = row("s4");
    assert_eq!((future.last_activity_at, &meta(&future.metadata)["timeSource"]), (FILES as f64, &json!("clamped")));
    for entry in demo.scan().entries {
        assert!(entry.changed_at >= row(entry.session_id.as_deref().unwrap()).last_activity_at);
    }
    assert_eq!(keeps_the_laws(&demo), 4);
}

#[test]
fn the_turns_tell_times_and_which_prompts_the_agent_wrote() {
    let demo = chat(|chat| {
        let user = |chat: &Chat, simulated, at| chat.blob(&User { text: "x".into(), simulated, at }.encode_to_vec());
        let answer =
            chat.blob(&Step { answer: Some(Answer { text: "Two.".into(), at: 1_791_795_630_000 }) }.encode_to_vec());
        let turns = [
            AgentTurn { user: user(chat, false, 1_791_795_620_000), steps: vec![answer], request: "r1".into() },
            AgentTurn { user: user(chat, true, 0), steps: Vec::new(), request: "r2".into() },
            AgentTurn { user: vec![1; 32], steps: vec![vec![2; 32]], request: "r3".into() },
        ];
        for turn in turns {
            let id = chat.blob(&Turn { agent: Some(turn) }.encode_to_vec());
            chat.root.turns.push(id);
        }
        chat.root.timings = vec![Timing::default(), Timing { duration: 5, at: 1_791_795_640_000 }, Timing::default()];
        chat.ask("One.", "r1").say("Two.").ask("By itself.", "r2").say("Three.").ask("Four.", "r3");
    });
    let session = demo.read(S1);
    let times: Vec<f64> = session.nodes.iter().map(|node| node.created_at - 1_791_795_600.0).collect();
    assert_eq!(times, [20.0, 30.0, 40.0, 40.0, 40.0]);
    assert_eq!(meta(&session.nodes[2].metadata)["kind"], json!("simulated"));
    assert_eq!(meta(&session.metadata)["stats"]["userPrompts"], json!(2));
    assert_eq!(keeps_the_laws(&demo), 1);
}

#[test]
fn a_huge_message_is_a_stub() {
    let demo = chat(|chat| {
        chat.ask("One.", "r1");
        chat.message(json!({"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "t1", "toolName": "Read", "args": {}}]}));
        let long = "x".repeat(70 << 20);
        chat.message(json!({"role": "tool", "id": "t1", "content": [{"type": "tool-result", "toolCallId": "t1", "toolName": "Read", "result": long}]}));
        chat.say("Two.");
    });
    let session = demo.read(S1);
    assert_eq!(warnings(&session), ["long-record"]);
    assert_eq!(contents(&session), ["One.", "", "", "Two."]);
    assert_eq!((session.nodes[2].role, session.nodes[3].created_at), (Role::Tool, session.nodes[0].created_at));
    assert!(meta(&session.nodes[2].metadata)["tooLong"].as_u64().unwrap() > 70 << 20);
}

#[test]
fn a_broken_archive_costs_what_it_archived() {
    let demo = chat(|chat| {
        chat.ask("One.", "r1");
        let broken = chat.blob(b"\x0a\xff\xff");
        chat.root.archives = vec![broken, vec![3; 32]];
    });
    assert_eq!(warnings(&demo.read(S1)), ["missing-archive", "missing-archive"]);
    assert_eq!(contents(&demo.read(S1)), ["One."]);
}

#[test]
fn composers_of_all_shapes_are_read() {
    let demo = Demo::new();
    let ide = Ide::new(&demo);
    ide.composer("listed", &[(1, "Ask."), (2, "Yes.")]);
    ide.put("bubbleId:listed:stray", json!({"type": 1, "text": "edited away"}));
    ide.put("composerData:inside", json!({"conversation": [{"type": 1, "text": "Old."}, {"type": 2, "text": "", "thinking": {"text": "", "signature": "sig"}}]}));
    ide.put("composerData:lost-list", json!({"createdAt": 1_791_795_600_000u64}));
    ide.put("bubbleId:lost-list:b", json!({"type": 2, "text": "Second.", "createdAt": "2026-10-12T09:00:02.000Z"}));
    ide.put("bubbleId:lost-list:a", json!({"type": 1, "text": "First.", "createdAt": "2026-10-12T09:00:01.000Z"}));
    ide.put_text("composerData:broken", "{\"name\":");
    ide.put("bubbleId:broken:a", json!({"type": 1, "text": "", "richText": "{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"text\":\"Rich.\"}]}]}}"}));
    ide.put(
        "composerData:gap",
        json!({"fullConversationHeadersOnly": [{"bubbleId": "a"}, {"bubbleId": "gone"}, {"x": 1}, 7]}),
    );
    ide.put_text("bubbleId:gap:a", "[]");
    ide.put("composerData:empty-state-draft", json!({"fullConversationHeadersOnly": [{"bubbleId": "a"}]}));
    ide.put("composerData:draft", json!({"text": "not sent"}));
    ide.put(
        "composerData:window",
        json!({"workspaceIdentifier": {"id": "empty-window"}, "fullConversationHeadersOnly": [{"bubbleId": "a"}]}),
    );
    ide.put("bubbleId:window:a", json!({"type": 1, "text": "Hi."}));
    ide.put("composerData:tools", json!({"fullConversationHeadersOnly": [{"bubbleId": "a"}, {"bubbleId": "b"}]}));
    ide.put("bubbleId:tools:a", json!({"type": 2, "toolFormerData": {"tool": 15, "name": "run_terminal_command_v2", "toolCallId": "t1", "status": "loading", "params": "{\"command\":\"x\"}"}}));
    ide.put("bubbleId:tools:b", json!({"type": 2, "checkpointId": "c1", "toolFormerData": {"tool": 5, "toolCallId": "t2", "status": "cancelled"}}));
    ide.close();
    assert_eq!(demo.ids(), ["broken", "gap", "inside", "listed", "lost-list", "tools", "window"]);
    assert_eq!(contents(&demo.read("listed")), ["Ask.", "Yes."]);
    let inside = demo.read("inside");
    assert_eq!(
        (inside.nodes[1].thinking.as_deref(), inside.nodes[1].thinking_signature.as_deref()),
        (Some("[redacted]"), Some("sig"))
    );
    assert_eq!(contents(&demo.read("lost-list")), ["First.", "Second."]);
    assert_eq!(
        (contents(&demo.read("broken")), warnings(&demo.read("broken"))),
        (vec!["Rich."], vec!["unreadable-record".to_owned()])
    );
    assert_eq!(warnings(&demo.read("gap")), ["unreadable-record", "missing-bubble"]);
    assert_eq!((demo.row("window").hidden, &meta(&demo.row("window").metadata)["draft"]), (1, &json!(true)));
    let tools = demo.read("tools");
    assert_eq!(tools.nodes[0].tool_calls[0].status, Some(ToolCallStatus::Pending));
    assert_eq!((tools.nodes[2].role, tools.nodes[2].tool_result.unwrap().status), (Role::Tool, ToolCallStatus::Error));
    assert_eq!(tools.nodes[1].tool_calls[0].name, "tool-5");
    assert_eq!(tools.checkpoints[0].ref_, "c1");
    assert_eq!(demo.try_read(&of("draft")).unwrap_err().code, sepia_ir::ErrorCode::NotFound);
    assert_eq!(keeps_the_laws(&demo), 7);
}

#[test]
fn a_torn_transcript_gives_its_whole_lines() {
    let line = |role: &str, text: &str| {
        format!("{}\n", json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}}))
    };
    let whole = line("user", "é\u{2028}\u{85}x") + &line("assistant", "Two.");
    let demo = Demo::new();
    let path = format!(".cursor/projects/p/agent-transcripts/{S1}/{S1}.jsonl");
    let torn = format!("\u{feff}{}", (whole.clone() + &line("user", "Three.")).replace('\n', "\r\n\r\n"));
    demo.write(&path, &torn[..torn.len() - 20]);
    let session = demo.read(S1);
    assert_eq!(
        (contents(&session), warnings(&session)),
        (vec!["é\u{2028}\u{85}x", "Two."], vec!["torn-record".to_owned()])
    );
    demo.write(&path, &torn);
    assert_eq!((demo.read(S1).nodes.len(), warnings(&demo.read(S1)).len()), (3, 0));
    demo.write(&path, format!("{whole}{{\"type\":\"zz\"}}\nno json\n{whole}"));
    assert_eq!((demo.read(S1).nodes.len(), warnings(&demo.read(S1))), (4, vec!["unknown-record".to_owned(); 2]));
}

/// Everything can be asked of a store, whatever is in it, and nothing in it changes.
fn survives(demo: &Demo) {
    let before = demo.hash();
    for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
        for row in demo.listed(detail).0 {
            demo.try_read(&of(&row.id)).unwrap();
        }
    }
    assert_eq!(demo.hash(), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_in_any_blob_are_survived(
        blobs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..5),
        root in prop::collection::vec(any::<u8>(), 0..120),
        doc in "\\PC{0,60}",
        as_root in any::<bool>(),
    ) {
        let demo = Demo::new();
        let mut chat = Chat::new(&demo, ".cursor/chats/0", S1, None);
        for blob in &blobs {
            chat.raw(blob);
        }
        let id = chat.blob(&blobs[0]);
        chat.root.turns.push(id.clone());
        chat.root.archives.push(id);
        chat.save();
        if as_root {
            let id = chat.blob(&root);
            chat.meta["latestRootBlobId"] = json!(crate::build::hex(&id));
            chat.point();
        }
        chat.close();
        let mut other = Chat::new(&demo, ".cursor/chats/0", S2, None);
        other.save();
        other.database.execute("UPDATE meta SET value = ?", [doc]).unwrap();
        other.close();
        survives(&demo);
    }

    #[test]
    fn any_text_in_any_small_file_is_survived(text in prop::collection::vec(any::<u8>(), 0..200), line in "[\\PC\\n]{0,80}") {
        let demo = Demo::new();
        crate::build::small_chat(&demo, ".cursor/chats/0", S1, "Ask.");
        demo.write(&format!(".cursor/chats/0/{S1}/meta.json"), &text);
        demo.write(&format!(".cursor/chats/0/{S1}/prompt_history.json"), &line);
        for name in ["a/a.jsonl", "b.jsonl", "c.json", "d.txt", "a/subagents/e.jsonl"] {
            demo.write(&format!(".cursor/projects/p/agent-transcripts/{name}"), if name.len() % 2 == 0 { line.as_bytes() } else { &text });
        }
        demo.write(".cursor/projects/p/worker.log", &text);
        demo.write(&format!(".cursor/chats/0/{S2}/store.db"), &text);
        demo.write(".config/Cursor/User/workspaceStorage/w/state.vscdb", &text);
        demo.write(".config/Cursor/User/workspaceStorage/w/workspace.json", &text);
        survives(&demo);
    }

    #[test]
    fn any_json_in_any_row_of_the_ide_is_survived(
        key in "(composerData|bubbleId|agentKv:blob):[\\PC]{0,12}(:[a-c])?",
        value in prop_oneof![Just("null".to_owned()), "\\PC{0,40}", "\\{\"(type|text|createdAt|toolFormerData|thinking|images|fullConversationHeadersOnly|conversation|modelConfig|name)\":(1|2|\"x\"|\\[7\\]|\\{\"a\":1\\}|null)\\}"],
    ) {
        let demo = Demo::new();
        let ide = Ide::new(&demo);
        ide.composer("fine", &[(1, "Ask."), (2, "Yes.")]);
        ide.put_text(&key, &value).put_text("bubbleId:fine:b1", &value).put_text("composerData:odd", &value);
        ide.put_text("bubbleId:odd:a", &value);
        ide.item("composer.composerHeaders.migratedToTable", json!(true));
        ide.close();
        survives(&demo);
        prop_assert!(demo.listed(SummaryDetail::Row).0.iter().any(|row| row.id == "fine"));
    }

    #[test]
    fn any_root_keeps_the_order_of_its_messages(order in prop::collection::vec(0usize..4, 1..12)) {
        let demo = chat(|chat| {
            for at in &order {
                chat.say(&format!("say {at}"));
            }
            chat.root = Root { messages: chat.root.messages.clone(), ..Root::default() };
        });
        let expected: Vec<String> = order.iter().map(|at| format!("say {at}")).collect();
        let session = demo.read(S1);
        prop_assert_eq!(contents(&session), expected);
    }
}
