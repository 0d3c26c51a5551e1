//! The sample store: twelve sessions that the real program wrote, against what is known of
//! them.

use crate::demo::{Demo, contents, count, live, meta, tokens, warnings};
use sepia_ir::{Block, Role, Session, SessionRef, SummaryDetail, ToolCallStatus};
use sepia_sdk::SessionRead;
use serde_json::json;

/// Number, prompts, model messages, synthetic messages, calls, results, tokens, title that
/// the agent itself shows, conversational lines on the live branch of the whole history.
type Expected = (u32, u64, u64, u64, u64, u64, [f64; 4], &'static str, usize);

const EXPECTED: [Expected; 12] = [
    (1, 1, 1, 0, 0, 0, [110.0, 8.0, 1000.0, 7.0], "hello shop", 2),
    (2, 2, 2, 0, 0, 0, [240.0, 12.0, 2000.0, 14.0], "What is two plus two?", 4),
    (3, 3, 7, 0, 5, 5, [1190.0, 131.0, 7000.0, 49.0], "Write the notes", 20),
    (4, 1, 1, 0, 0, 0, [110.0, 23.0, 1000.0, 7.0], "Think it over", 3),
    (5, 1, 2, 0, 1, 1, [240.0, 34.0, 2000.0, 14.0], "Count the files for me", 5),
    (6, 3, 3, 0, 0, 0, [390.0, 20.0, 3000.0, 21.0], "hello shop", 6),
    // Twelve lines: four before the compaction, eight after it.
    (7, 3, 3, 1, 0, 0, [390.0, 20.0, 3000.0, 21.0], "hello after the compaction", 12),
    (8, 4, 7, 0, 3, 3, [1150.0, 95.0, 7000.0, 49.0], "Tax work", 13),
    // The record of its latest prompt is before the tear, so the agent shows that one.
    (9, 3, 6, 0, 5, 5, [960.0, 126.0, 6000.0, 42.0], "Run the checks", 19),
    (10, 1, 0, 1, 0, 0, [0.0, 0.0, 0.0, 0.0], "Break the server", 2),
    (11, 4, 6, 0, 3, 3, [960.0, 94.0, 6000.0, 42.0], "3/exit", 19),
    (12, 1, 1, 0, 0, 0, [110.0, 7.0, 1000.0, 7.0], "What is in this picture and document?", 2),
];

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn read(number: u32) -> Session {
    Demo::samples().read(&id(number))
}

/// Lines of messages that a node was made of.
fn lines_of(node: &sepia_ir::MessageNode) -> usize {
    match node.role {
        Role::System => 0,
        _ => meta(&node.metadata)["uuids"].as_array().map_or(1, Vec::len),
    }
}

#[test]
fn counts_tokens_and_branches_are_as_known() {
    let demo = Demo::samples();
    for (number, prompts, answers, synthetic, calls, results, usage, _, on_branch) in EXPECTED {
        let session = demo.read(&id(number));
        let stats = &meta(&session.metadata)["stats"];
        let told = ["userPrompts", "assistantMessages", "toolCalls", "toolResults"].map(|name| stats[name].as_u64());
        assert_eq!(told, [prompts, answers, calls, results].map(Some), "session {number}");
        assert_eq!(stats["syntheticMessages"].as_u64().unwrap_or(0), synthetic, "session {number}");
        assert_eq!(stats["messages"].as_u64(), Some(prompts + answers + results), "session {number}");
        let counted = ["input", "output", "cacheRead", "cacheWrite"].map(|name| stats["usage"][name].as_f64());
        assert_eq!(counted, usage.map(Some), "session {number}");
        assert_eq!(tokens(&session), usage, "session {number}");
        assert_eq!(count(&session, Role::Assistant) as u64, answers + synthetic, "session {number}");
        assert_eq!(count(&session, Role::Tool) as u64, results, "session {number}");
        let branch: usize = live(&session).into_iter().map(lines_of).sum();
        assert_eq!(branch, on_branch, "session {number}");
        assert!(session.nodes.windows(2).all(|pair| pair[0].node_id < pair[1].node_id), "session {number}");
    }
}

#[test]
fn titles_are_the_agents_own_but_for_the_latest_prompt() {
    // The agent shows the latest prompt where it has no better title; here that stands beside
    // a title that does not change with every turn.
    let rows = Demo::samples().rows(SummaryDetail::Row);
    for (number, .., shown, _) in EXPECTED {
        let row = rows.iter().find(|row| row.id == id(number)).unwrap();
        let metadata = meta(&row.metadata);
        let agents = if metadata["titleSource"] == json!("custom") {
            row.title.as_str()
        } else {
            metadata["lastPrompt"].as_str().unwrap_or("Run the checks")
        };
        assert_eq!(agents, shown, "session {number}");
    }
    let title = |number| rows.iter().find(|row| row.id == id(number)).unwrap().title.clone();
    assert_eq!(
        [2, 3, 7, 8, 11].map(title),
        ["hello shop", "Set the tax to 4", "hello one", "Tax work", "Take your time"]
    );
}

#[test]
fn rows_tell_where_when_and_what() {
    let demo = Demo::samples();
    let row = demo.row(&id(3));
    assert_eq!((row.working_directory.as_str(), row.model.as_str()), ("/home/dev/shop", "claude-sonnet-4-5"));
    assert_eq!(row.backend_type, "claude");
    // 2026-11-30T10:09:12.925Z and 10:09:18.356Z, first record and newest message.
    assert_eq!((row.created_at, row.last_activity_at), (1_796_033_352.925, 1_796_033_358.356));
    let metadata = meta(&row.metadata);
    assert_eq!(
        (&metadata["gitBranch"], &metadata["version"], &metadata["entrypoint"]),
        (&json!("main"), &json!("2.1.197"), &json!("sdk-cli"))
    );
    // A summary differs from a row in what only the whole file tells.
    let full =
        sepia_driver_claude::Claude::summary_of(&demo.host(), &SessionRef { id: id(3), agent_id: None }).unwrap();
    assert_eq!((full.title, full.created_at, full.nodes.len()), (row.title, row.created_at, 0));
    assert_eq!(full.main_chain_id, 15);
    assert!(full.prompt_history.is_empty());
}

#[test]
fn parallel_calls_stay_with_all_their_results() {
    let session = read(3);
    let branch = live(&session);
    let at = branch.iter().position(|node| node.tool_calls.len() == 2).unwrap();
    let (caller, results) = (branch[at], &branch[at + 1..at + 3]);
    assert_eq!(contents(results.iter().copied()), ["README.md\nprice.py", "Exit code 3\nout\nerr"]);
    let answered: Vec<_> = results.iter().map(|node| node.tool_call_id.clone().unwrap()).collect();
    assert_eq!(answered, caller.tool_calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>());
    assert!(results.iter().all(|node| node.tool_name.as_deref() == Some("Bash")));
    let [fine, failed] = &caller.tool_calls[..] else { panic!("two calls") };
    assert_eq!((fine.status, fine.exit_code), (Some(ToolCallStatus::Success), None));
    assert_eq!((failed.status, failed.exit_code), (Some(ToolCallStatus::Error), Some(3)));
    assert_eq!(results[1].tool_result.unwrap().exit_code, Some(3));
    assert_eq!((fine.index, failed.index), (0, 1));
}

#[test]
fn edits_and_writes_tell_what_they_changed() {
    let session = read(3);
    let call =
        |name: &str| session.nodes.iter().flat_map(|node| &node.tool_calls).find(|call| call.name == name).unwrap();
    let edit = &call("Edit").diffs[0];
    assert_eq!((edit.path.as_str(), edit.old_text.as_deref()), ("/home/dev/shop/price.py", Some("tax = 2")));
    assert_eq!(edit.new_text.as_deref(), Some("tax = 4"));
    let write = &call("Write").diffs[0];
    assert_eq!((write.old_text.as_deref(), write.new_text.as_deref()), (None, Some("one\ntwo\n")));
    assert_eq!(call("Read").locations[0].path, "/home/dev/shop/price.py");
    assert!(call("Read").diffs.is_empty());
}

#[test]
fn thinking_keeps_its_signature() {
    let session = read(4);
    let answer = &session.nodes[1];
    assert!(answer.thinking.as_deref().is_some_and(|text| !text.is_empty()));
    assert!(answer.thinking_signature.as_deref().is_some_and(|signature| signature.starts_with("mocksig")));
}

#[test]
fn a_sub_agent_is_a_session_of_its_own() {
    let demo = Demo::samples();
    let agent = demo.row("agent-a159cd2916ff2cc7b");
    assert_eq!(agent.parent_session_id, Some(id(5)));
    assert_eq!(agent.agent_id.as_deref(), Some("a159cd2916ff2cc7b"));
    assert_eq!(agent.title, "Count files");
    let parent = demo.read(&id(5));
    let caller = parent.nodes.iter().find(|node| !node.tool_calls.is_empty()).unwrap();
    assert_eq!(meta(&agent.metadata)["toolUseId"], json!(caller.tool_calls[0].id));
    assert_eq!(meta(&agent.metadata)["agentType"], json!("general-purpose"));
    let result = parent.nodes.iter().find(|node| node.role == Role::Tool).unwrap();
    assert_eq!(meta(&result.metadata)["agentSession"], json!("agent-a159cd2916ff2cc7b"));
    let read = demo.read("agent-a159cd2916ff2cc7b");
    assert_eq!(tokens(&read), [240.0, 26.0, 2000.0, 14.0]);
    let by_parent = SessionRef { id: id(5), agent_id: Some("a159cd2916ff2cc7b".into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap(), read);
}

#[test]
fn a_compaction_keeps_the_history_in_one_chain() {
    let session = read(7);
    let branch = live(&session);
    assert_eq!(branch.len(), session.nodes.len());
    let at = branch.iter().position(|node| node.role == Role::System).unwrap();
    assert_eq!(contents(branch[..at].iter().copied()).last(), Some(&"Four."));
    let boundary = meta(&branch[at].metadata);
    assert_eq!((&boundary["kind"], &boundary["logicalParent"]), (&json!("compact-boundary"), &json!(true)));
    let kept = boundary["compactMetadata"]["preservedMessages"]["uuids"].as_array().unwrap();
    assert!(kept.contains(&meta(&branch[at - 1].metadata)["uuid"]));
    assert_eq!(meta(&branch[at + 1].metadata)["isCompactSummary"], json!(true));
    assert_eq!(branch[at + 2..].iter().filter(|n| meta(&n.metadata)["synthetic"] == json!(true)).count(), 1);
}

#[test]
fn a_rewind_leaves_its_branch_off_the_chain_and_checkpoints_are_references() {
    let session = read(8);
    let branch = live(&session);
    let prompts: Vec<_> =
        branch.iter().filter(|node| node.role == Role::User).map(|node| node.content.as_str()).collect();
    assert_eq!(prompts, ["hello shop", "Set the tax to 4", "What is two plus two?"]);
    let on_branch =
        branch.iter().filter_map(|node| node.usage).fold((0.0, 0.0), |(i, o), u| (i + u.input, o + u.output));
    assert_eq!(on_branch, (750.0, 79.0));
    assert_eq!(count(&session, Role::User), 5);
    let refs: Vec<_> = session.checkpoints.iter().map(|checkpoint| &checkpoint.ref_[..8]).collect();
    assert_eq!(refs, ["69ea7604", "ddcfcea1", "414ef7f9"]);
    assert_eq!(session.checkpoints[0].created_at, 1_796_033_397_777.0);
    let history = &meta(&session.metadata)["fileHistory"];
    assert_eq!(history["sessionId"], json!(id(8)));
    let first = &history["snapshots"]["69ea7604-e2fa-454b-9099-efcd363096d4"]["files"]["price.py"];
    assert_eq!(first, &json!({"backup": "c6a8ea6a9d631469@v1", "version": 1}));
    let second = &history["snapshots"]["ddcfcea1-cad4-4841-8aec-e2fe1975ff0c"]["files"];
    assert_eq!(second["price.py"]["backup"], json!("c6a8ea6a9d631469@v2"));
    assert_eq!(second["notes.txt"]["backup"], json!(null));
    let typed: Vec<_> = session.prompt_history.iter().map(|prompt| prompt.content.as_str()).collect();
    assert_eq!(typed, ["hello shop", "Set the tax to 4", "Write the notes", "What is two plus two?"]);
    assert_eq!(session.prompt_history[0].timestamp, 1_796_033_395_364.0);
}

#[test]
fn a_torn_record_an_error_an_interruption_and_media_are_told() {
    assert_eq!(warnings(&read(9)), ["torn-record"]);
    let failed = read(10);
    assert_eq!(failed.nodes[1].content, "API Error: 400 mock bad request");
    assert_eq!(meta(&failed.nodes[1].metadata)["apiError"], json!({"error": "unknown", "status": 400}));
    assert_eq!((failed.nodes[1].usage, failed.nodes[1].model.as_deref()), (None, None));
    let stopped = read(11);
    let notes: Vec<_> =
        stopped.nodes.iter().filter(|node| meta(&node.metadata)["kind"] == json!("interruption")).collect();
    assert_eq!(notes.len(), 2);
    assert_eq!(stopped.nodes[1].finish_reason, None);
    let media = read(12);
    let [Block::Text(_), Block::Image(image), Block::File(file)] = &media.nodes[0].blocks[..] else {
        panic!("{:?}", media.nodes[0].blocks)
    };
    assert_eq!(media.nodes[0].content, "What is in this picture and document?");
    assert_eq!(image.mime_type.as_deref(), Some("image/png"));
    assert!(image.data.as_deref().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(file.mime_type.as_deref(), Some("application/pdf"));
    assert!(file.data.as_deref().unwrap().starts_with("JVBERi0x"));
}

#[test]
fn reading_changes_no_byte() {
    let demo = Demo::samples();
    let before = demo.bytes();
    for row in demo.rows(SummaryDetail::Stats) {
        demo.read(&row.id);
    }
    demo.rows(SummaryDetail::Row);
    assert_eq!(demo.bytes(), before);
}

#[test]
fn the_native_copy_is_the_file() {
    let demo = Demo::samples();
    let session = SessionRef { id: id(9), agent_id: None };
    let mut copy = sepia_driver_claude::Claude::native(&demo.host(), &session).unwrap();
    assert_eq!(copy.name(), format!("{}.jsonl", id(9)));
    let mut bytes = Vec::new();
    loop {
        let more = copy.next(1000).unwrap();
        if more.is_empty() {
            break;
        }
        bytes.extend(more);
    }
    let file = demo.root().join(format!("projects/-home-dev-shop/{}.jsonl", id(9)));
    assert_eq!(bytes, std::fs::read(file).unwrap());
}
