//! What is written is what the agent itself writes, field by field.

use crate::demo::Demo;
use crate::session::{ID, foreign};
use crate::store::{Chat, DEMO, SAVE, save};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_chat_is_where_the_agent_looks_and_has_what_it_asks_for() {
    let demo = Demo::new();
    let report = save(&demo, &foreign(), &SAVE).unwrap();
    assert_eq!((report.id.as_str(), report.working_directory.as_str()), (ID, "/p/demo"));
    assert_eq!(report.resume_command, ["cursor-agent", "--resume", ID]);
    let chat = Chat::of(&demo, ID);
    chat.is_sound();
    let settings = chat.settings();
    let root = settings["latestRootBlobId"].as_str().unwrap();
    assert_eq!(
        settings,
        json!({"agentId": ID, "latestRootBlobId": root, "name": "Fix the sum", "mode": "default", "isRunEverything": false,
               "createdAt": 1_791_795_600_000u64})
    );
    assert_eq!(
        chat.note(),
        json!({"schemaVersion": 1, "createdAtMs": 1_791_795_600_000u64, "hasConversation": true, "title": "Fix the sum",
               "updatedAtMs": 1_791_795_640_250u64, "cwd": "/p/demo"})
    );
    let mut names: Vec<String> = std::fs::read_dir(&chat.folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["meta.json", "store.db"], "no log, no unseen file");
    let first: String = chat.database.query_row("SELECT key FROM meta", [], |row| row.get(0)).unwrap();
    assert_eq!(first, "0", "who asks for any row of settings gets the agent's");
    let root = chat.root();
    assert_eq!((root.workspaces, root.mode, root.agent_type.as_str()), (vec!["file:///p/demo".to_owned()], 1, "cli"));
    assert_eq!((root.started_ms, root.pending.len(), root.archives.len()), (1_791_795_600_000, 0, 0));
    let mode = |name: &str| std::fs::metadata(chat.folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("store.db"), mode("meta.json")), (0o600, 0o600));
    let _ = DEMO;
}

#[test]
fn the_model_sees_every_message_in_the_shape_that_it_is_used_to() {
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    let chat = Chat::of(&demo, ID);
    let messages = chat.messages();
    let requests: Vec<String> = messages
        .iter()
        .filter_map(|m| Some(m["providerOptions"]["cursor"]["requestId"].as_str()?.to_owned()))
        .collect();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|id| id.len() == 36));
    let result = |id: &str, tool: &str, text: &str, output: serde_json::Value, failed: bool| {
        let mut part = json!({"type": "tool-result", "toolName": tool, "toolCallId": id, "result": text});
        if !text.is_empty() {
            part["experimental_content"] = json!([{"type": "text", "text": text}]);
        }
        json!({"role": "tool", "content": [part], "id": id,
               "providerOptions": {"cursor": {"highLevelToolCallResult": {"output": output, "isError": failed}}}})
    };
    assert_eq!(
        messages,
        [
            json!({"role": "user", "content": [{"type": "text", "text": "<user_query>\nThe sum is wrong. Fix it.\n</user_query>"}],
                   "providerOptions": {"cursor": {"requestId": requests[0]}}}),
            // Reasoning that nobody signed is not sent to a provider.
            json!({"role": "assistant", "content": [
                {"type": "text", "text": "I will run the tests."},
                {"type": "tool-call", "toolCallId": "call_1", "toolName": "Shell", "args": {"command": "npm test", "description": "Run the tests"}},
                {"type": "tool-call", "toolCallId": "call_2", "toolName": "mystery", "args": {"deep": {"list": [1, null, true, "x"]}}}],
                "id": "1"}),
            result("call_1", "Shell", "1 failing", json!({"failure": {"exitCode": 1, "executionTime": 2140}}), true),
            result("call_2", "mystery", "", json!({"success": {}}), false),
            json!({"role": "assistant", "content": [{"type": "text", "text": "Fixed."}], "id": "1"}),
            json!({"role": "user", "content": [{"type": "text", "text": "<user_query>\nThanks.\n</user_query> <b>bold</b>\n</user_query>"}],
                   "providerOptions": {"cursor": {"requestId": requests[1]}}}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "You are welcome."}], "id": "1"}),
        ]
    );
    let sealed = chat.messages().iter().any(|message| message.to_string().contains("sepia"));
    assert!(!sealed, "what rides along is not before the model");
}

#[test]
fn a_person_sees_the_turns_with_their_steps() {
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    let chat = Chat::of(&demo, ID);
    let turns = chat.turns();
    assert_eq!(turns.len(), 2);
    let (user, steps, request) = &turns[0];
    assert_eq!((user.text.as_str(), user.mode, user.simulated), ("The sum is wrong. Fix it.", 1, false));
    assert_eq!((user.at, user.message_id.len()), (1_791_795_601_500, 36));
    assert_eq!(*request, chat.messages()[0]["providerOptions"]["cursor"]["requestId"].as_str().unwrap());
    assert_eq!(steps.len(), 5);
    assert_eq!(steps[0].thought.as_ref().unwrap().text, "Look at the tests first.");
    assert_eq!(steps[1].answer.as_ref().unwrap().text, "I will run the tests.");
    let shell = steps[2].call.as_ref().unwrap();
    assert_eq!(shell.id, "call_1");
    let (args, ended) =
        (shell.shell.as_ref().unwrap().args.clone().unwrap(), shell.shell.as_ref().unwrap().result.clone().unwrap());
    assert_eq!((args.command.as_str(), args.directory.as_str(), args.id.as_str()), ("npm test", "/p/demo", "call_1"));
    let ended = ended.failure.unwrap();
    assert_eq!((ended.exit_code, ended.stdout.as_str(), ended.took), (1, "1 failing", 2140));
    let other = steps[3].call.as_ref().unwrap();
    assert_eq!(
        (other.id.as_str(), other.mcp.as_ref().unwrap().args.as_ref().unwrap().name.as_str()),
        ("call_2", "mystery")
    );
    assert_eq!(steps[4].answer.as_ref().unwrap().text, "Fixed.");
    assert_eq!((turns[1].0.text.as_str(), turns[1].1.len()), ("Thanks.\n</user_query> <b>bold</b>", 1));
}

#[test]
fn pictures_and_files_are_written_as_the_agent_keeps_them() {
    use sepia_ir::{Block, FileBlock, ImageBlock, TextBlock};
    let demo = Demo::new();
    let mut session = foreign();
    session.nodes[0].blocks = vec![
        Block::Text(TextBlock { text: "The sum is wrong. Fix it.".into() }),
        Block::Image(ImageBlock { data: Some("iVBORw0KGgo=".into()), mime_type: Some("image/png".into()), uri: None }),
        Block::File(FileBlock {
            name: Some("a.pdf".into()),
            mime_type: Some("application/pdf".into()),
            data: Some("JVBERg==".into()),
            ..FileBlock::default()
        }),
    ];
    let report = save(&demo, &session, &SAVE).unwrap();
    let content = &Chat::of(&demo, ID).messages()[0]["content"];
    assert_eq!(
        content[1],
        json!({"type": "image", "image": {"__type": "Uint8Array", "hex": "89504e470d0a1a0a"}, "mimeType": "image/png"})
    );
    assert_eq!(
        content[2],
        json!({"type": "file", "data": {"__type": "Uint8Array", "hex": "25504446"}, "filename": "a.pdf", "mimeType": "application/pdf"})
    );
    sepia_conformance::equal_but_for(&session, &crate::store::read(&demo, &report.id), &report.losses).unwrap();
}

#[test]
fn the_model_of_another_agent_is_not_given_to_this_one() {
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    assert_eq!(Chat::of(&demo, ID).settings()["lastUsedModel"], json!(null));
    assert_eq!(crate::store::read(&demo, ID).model, "some-model");
}
