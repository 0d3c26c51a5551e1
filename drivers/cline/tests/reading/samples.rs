//! The sample stores, which the real program wrote, against what is known of them.

use crate::demo::{Demo, contents, meta, of_role, warnings};
use sepia_ir::{Block, Role, Session, SummaryDetail, ToolCallStatus};
use serde_json::{Value, json};

/// Id, status, exit code, title, user and assistant messages of the file, calls, and tokens as
/// the agent counts them: in with those from the cache, out, from the cache.
type Expected = (&'static str, &'static str, Option<i64>, &'static str, usize, usize, usize, [u64; 3]);

const STORE: [Expected; 11] = [
    ("1796033865816_tttmi", "completed", Some(0), "Say pong.", 1, 1, 0, [120, 20, 40]),
    (
        "1796033869111_nx4n4",
        "completed",
        Some(0),
        "Round the cart total and add a notes file.",
        7,
        6,
        6,
        [1060, 120, 240],
    ),
    ("1796033873639_mglpx", "completed", Some(0), "Where are we?", 2, 2, 1, [260, 40, 80]),
    ("1796033877642_gjr43", "completed", Some(0), "Ask a sub-agent to count the files.", 2, 2, 1, [260, 40, 80]),
    ("1796033881650_kvapw", "completed", Some(0), "Use a teammate to count the files.", 3, 3, 2, [420, 60, 120]),
    ("1796033885504_qwk84", "completed", Some(0), "Plan the rounding change.", 1, 1, 0, [120, 20, 40]),
    ("1796033888661_hneq9", "failed", Some(1), "This one fails.", 1, 1, 0, [0, 0, 0]),
    ("1796033891970_jd95i", "cancelled", Some(0), "Write me a long story.", 1, 0, 0, [0, 0, 0]),
    ("1796033899098_ixt7m", "completed", Some(0), "Cart contents", 1, 1, 0, [120, 20, 40]),
    ("1796033905226_scfky", "completed", Some(0), "Look at dot.png.", 2, 2, 1, [270, 40, 80]),
    ("1796033908691_hudc5", "idle", None, "Remember the number 7.", 3, 3, 1, [420, 60, 120]),
];

const HUB: [Expected; 4] = [
    ("1796034027626_cjvvi", "completed", Some(0), "Now two commands.", 3, 2, 2, [270, 40, 80]),
    ("1796033964419_93BMa_cli", "idle", None, "Run echo please.", 7, 7, 3, [1260, 140, 280]),
    ("1796033971648_q-_3d_cli", "idle", None, "Write me a long story.", 5, 2, 2, [290, 40, 80]),
    ("1796033986522_xfZf2_cli", "idle", None, "Write a file in plan mode.", 5, 5, 2, [800, 100, 200]),
];

fn read(store: &str, id: &str) -> Session {
    Demo::sample(store).read(id)
}

fn hold(store: &str, expected: &[Expected]) {
    let demo = Demo::sample(store);
    let rows = demo.rows(SummaryDetail::Stats);
    let plain = demo.rows(SummaryDetail::Row);
    for (id, status, exit, title, users, answers, calls, [all, output, cached]) in expected {
        let row = rows.iter().find(|row| row.id == *id).unwrap();
        let metadata = meta(&row.metadata);
        assert_eq!(plain.iter().find(|row| row.id == *id).unwrap().title, *title);
        assert_eq!((row.title.as_str(), &metadata["status"]), (*title, &json!(status)), "{id}");
        assert_eq!(metadata["exitCode"].as_i64(), *exit, "{id}");
        assert_eq!((row.working_directory.as_str(), row.model.as_str()), ("/home/dev/shop", "mock-1"));
        assert_eq!((row.backend_type.as_str(), row.hidden), ("cline", 0));
        assert_eq!(metadata["gitBranch"], json!("main"));
        // What was read from the cache is part of the agent's input and none of ours.
        let usage = json!({"input": all - cached, "output": output, "cacheRead": cached, "cacheWrite": 0});
        assert_eq!(metadata["stats"]["usage"], usage, "{id}");
        let session = demo.read(id);
        let counted = |role| of_role(&session, role).len();
        let errors = counted(Role::System);
        assert_eq!(counted(Role::User) + counted(Role::Tool), *users, "{id}");
        assert_eq!(counted(Role::Assistant) + errors, *answers, "{id}");
        assert_eq!(session.nodes.iter().map(|node| node.tool_calls.len()).sum::<usize>(), *calls, "{id}");
        assert_eq!(metadata["stats"]["toolCalls"], json!(calls));
        assert_eq!(metadata["stats"]["userPrompts"], json!(session.prompt_history.len()));
        assert_eq!(session.main_chain_id, session.nodes.last().map_or(0, |node| node.node_id));
        assert_eq!(warnings(&session), [""; 0], "{id}");
    }
}

#[test]
fn what_is_known_of_the_store() {
    hold("store", &STORE);
    assert_eq!(Demo::sample("store").rows(SummaryDetail::Row).len(), 13);
}

#[test]
fn what_is_known_of_the_hub() {
    hold("hub", &HUB);
    assert_eq!(Demo::sample("hub").rows(SummaryDetail::Row).len(), 4);
    let mode = |id: &str| Demo::sample("hub").row(id).agent_mode;
    assert_eq!((mode(HUB[1].0), mode(HUB[3].0)), ("act".to_owned(), "plan".to_owned()));
}

#[test]
fn titles_times_and_checkpoints() {
    let demo = Demo::sample("store");
    let source = |id: &str| meta(&demo.row(id).metadata)["titleSource"].clone();
    assert_eq!((source(STORE[8].0), source(STORE[0].0)), (json!("custom"), json!("first-prompt")));
    // 2026-11-30T10:18:19.118Z and .991Z: that it was renamed later is no activity.
    let renamed = demo.row(STORE[8].0);
    assert_eq!((renamed.created_at, renamed.last_activity_at), (1_796_033_899.118, 1_796_033_899.991));
    let session = demo.read(STORE[1].0);
    let checkpoint = &session.checkpoints[0];
    assert_eq!(session.checkpoints.len(), 1);
    assert_eq!(checkpoint.ref_, "c5399ab485ad620a0412a2fbe1cb69fb4db45219");
    assert_eq!(
        (checkpoint.created_at, checkpoint.run_count, checkpoint.kind.as_deref()),
        (1_796_033_869_446.0, Some(1), Some("commit"))
    );
    assert_eq!(read("hub", HUB[0].0).checkpoints[0].kind.as_deref(), Some("stash"));
}

#[test]
fn prompts_are_unwrapped_and_kept_as_they_were() {
    let session = read("store", STORE[5].0);
    let prompt = &session.nodes[0];
    assert_eq!(prompt.content, "Plan the rounding change.");
    assert_eq!(prompt.created_at, 1_796_033_885.792);
    let metadata = meta(&prompt.metadata);
    assert_eq!(metadata["mode"], json!("plan"));
    assert_eq!(metadata["originalTexts"], json!(["<user_input mode=\"plan\">Plan the rounding change.</user_input>"]));
    assert_eq!(session.prompt_history[0].content, "Plan the rounding change.");
    assert_eq!(meta(&read("hub", HUB[3].0).nodes.last().unwrap().metadata)["provider"], json!("openai-compatible"));
}

#[test]
fn tools_with_all_their_results() {
    let session = read("store", STORE[1].0);
    let tools = of_role(&session, Role::Tool);
    let status = |node: &sepia_ir::MessageNode| node.tool_result.unwrap().status == ToolCallStatus::Success;
    let told: Vec<_> = tools
        .iter()
        .map(|node| (node.tool_call_id.as_deref().unwrap(), node.tool_name.as_deref().unwrap(), status(node)))
        .collect();
    assert_eq!(
        told,
        [
            // One of three files is missing, two of three commands fail.
            ("call_2_0", "read_files", false),
            ("call_3_0", "run_commands", false),
            ("call_3_1", "search_codebase", true),
            ("call_4_0", "editor", true),
            ("call_5_0", "editor", true),
            ("call_6_0", "editor", false),
        ]
    );
    assert_eq!(tools[1].tool_result.unwrap().exit_code, Some(1));
    for part in ["ls:\nREADME.md\ncart.py\n", "[Command exited with code 3]\nout\n\n[stderr]\nerr\n"] {
        assert!(tools[1].content.contains(part), "{}", tools[1].content);
    }
    let items = meta(&tools[1].metadata)["items"].clone();
    assert_eq!(items[0], json!({"query": "ls", "success": true}));
    assert_eq!(items[1], json!({"query": "false", "success": false, "error": "Command exited with code 1"}));
    assert_eq!(
        tools[5].content,
        "Editor operation failed: No replacement performed: text not found in /home/dev/shop/cart.py."
    );
    // Outcomes stand on the calls, too.
    let calls: Vec<_> = session.nodes.iter().flat_map(|node| &node.tool_calls).collect();
    assert_eq!(
        calls.iter().map(|call| call.status == Some(ToolCallStatus::Success)).collect::<Vec<_>>(),
        [false, false, true, true, true, false]
    );
    assert_eq!(calls[0].locations[1], sepia_ir::Location { path: "/home/dev/shop/cart.py".into(), line: Some(1) });
    let diff = &calls[3].diffs[0];
    assert_eq!(
        (diff.old_text.as_deref(), diff.new_text.as_deref()),
        (Some("return sum(items)"), Some("return round(sum(items), 2)"))
    );
    assert_eq!((&calls[4].diffs[0].old_text, calls[4].diffs[0].new_text.as_deref()), (&None, Some("first line\n")));
    assert_eq!(calls[5].diffs, []);
    // One after the other, the results of parallel calls in between.
    assert!(session.nodes.iter().all(|node| node.parent_node_id == (node.node_id > 1).then(|| node.node_id - 1)));
}

#[test]
fn thinking_and_images() {
    let session = read("store", STORE[2].0);
    assert!(
        of_role(&session, Role::Assistant)
            .iter()
            .all(|node| node.thinking.as_deref().is_some_and(|text| !text.is_empty()))
    );
    let image = read("store", STORE[9].0);
    let tool = of_role(&image, Role::Tool)[0];
    assert_eq!(tool.content, "Successfully read image");
    let Block::Image(picture) = &tool.blocks[1] else { panic!("an image") };
    assert_eq!(picture.mime_type.as_deref(), Some("image/png"));
    assert!(picture.data.as_deref().unwrap().starts_with("iVBORw0KGgo"));
}

#[test]
fn an_error_that_is_only_shown_is_no_answer() {
    let session = read("store", STORE[6].0);
    let error = &session.nodes[1];
    assert_eq!((error.role, error.content.as_str()), (Role::System, "bad key"));
    let metadata = meta(&error.metadata);
    assert_eq!((&metadata["displayOnly"], &metadata["kind"]), (&json!(true), &json!("error")));
    let stats = Demo::sample("store").stats(STORE[6].0);
    assert_eq!(
        (&stats["assistantMessages"], &stats["syntheticMessages"], &stats["messages"]),
        (&json!(0), &json!(1), &json!(1))
    );
}

#[test]
fn a_rejected_and_a_cancelled_call() {
    let rejected = read("hub", HUB[1].0);
    let refused: Vec<_> = of_role(&rejected, Role::Tool)
        .into_iter()
        .filter(|node| meta(&node.metadata)["refused"] == json!(true))
        .collect();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].content.starts_with("User rejected the tool call"), "{}", refused[0].content);
    let cancelled = read("hub", HUB[2].0);
    let tools = of_role(&cancelled, Role::Tool);
    assert_eq!(tools[0].content, "Command failed: Command was aborted");
    assert!(tools.iter().all(|node| node.tool_result.unwrap().status == ToolCallStatus::Error));
}

#[test]
fn what_is_only_in_the_log_of_the_index_is_listed() {
    let demo = Demo::sample("wal");
    let rows = demo.rows(SummaryDetail::Row);
    assert_eq!(rows.len(), 14);
    let killed = rows.iter().find(|row| row.id == "1796033951960_6bwe9").unwrap();
    assert_eq!(meta(&killed.metadata)["status"], json!("running"));
    let session = demo.read("1796033951960_6bwe9");
    assert_eq!(session.nodes.len(), 2);
    assert_eq!(session.nodes[1].tool_calls[0].status, None);
    // The others have a row and no files.
    let other = demo.read("1796033865816_tttmi");
    assert_eq!((other.title.as_str(), other.nodes.len(), other.main_chain_id), ("Say pong.", 0, 0));
    assert_eq!(warnings(&other), ["no-transcript"]);
}

#[test]
fn a_cut_transcript_gives_what_is_whole() {
    let session = read("truncated", "1796033873639_mglpx");
    assert_eq!((session.title.as_str(), session.nodes.len()), ("Where are we?", 2));
    let metadata = meta(&session.metadata);
    let warning = &metadata["warnings"][0];
    assert_eq!(warning["code"], json!("torn-record"));
    let (offset, bytes) = (warning["offset"].as_u64().unwrap(), warning["bytes"].as_u64().unwrap());
    assert_eq!(offset + bytes, 1401);
}

#[test]
fn a_compaction_hides_nothing_and_says_what_the_model_sees() {
    let session = read("compacted", "1796033869111_nx4n4");
    assert_eq!(session.nodes.len(), 15);
    let compaction = meta(&session.metadata)["compaction"].clone();
    assert_eq!((&compaction["sourceMessages"], &compaction["keptMessages"]), (&json!(13), &json!(10)));
    assert_eq!(compaction["tokensBefore"], json!(1619));
    assert!(compaction["summary"].as_str().unwrap().starts_with("## Goal\nFill the context."));
    assert_eq!(compaction.get("stale"), None);
    let away: Vec<i64> = session
        .nodes
        .iter()
        .filter(|node| meta(&node.metadata)["compactedAway"] == json!(true))
        .map(|node| node.node_id)
        .collect();
    assert_eq!(away, [1, 2, 3]);
    assert!(contents(&session).iter().all(|content| !content.contains("Context summary")));
}

#[test]
fn a_mentioned_file_and_a_nudge() {
    let session = read("file-mention", "1796034327039_uzN9y_cli");
    let [Block::Text(said), Block::File(file)] = &session.nodes[0].blocks[..] else { panic!("text and a file") };
    assert_eq!(
        (said.text.as_str(), session.nodes[0].content.as_str()),
        ("look at @README.md please", "look at @README.md please")
    );
    assert_eq!((file.uri.as_deref(), file.name.as_deref()), (Some("/home/dev/shop/README.md"), Some("README.md")));
    assert_eq!((file.text.as_deref(), file.size), (Some("# shop\n\nA tiny shop.\n"), Some(21.0)));
    assert_eq!(meta(&session.nodes[4].metadata)["hidden"], json!(true));
    assert_eq!(session.prompt_history.len(), 2);
    assert_eq!(meta(&session.metadata)["stats"]["userPrompts"], json!(2));
    assert_eq!(session.nodes.len(), 6);
}

#[test]
fn totals_with_teammates_are_the_agents_own() {
    let metadata = meta(&Demo::sample("store").row(STORE[4].0).metadata);
    assert_eq!(metadata["aggregateUsage"]["inputTokens"], json!(680));
    assert_eq!(meta(&Demo::sample("store").row(STORE[3].0).metadata).get("aggregateUsage"), None);
    assert_eq!(metadata.get("systemPrompt"), None::<&Value>);
}
