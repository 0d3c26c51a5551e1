//! Whole sessions: every member that holds text, and nothing else.

use crate::planted::*;
use sepia_ir::{
    Block, CheckpointRef, Diff, FileBlock, ImageBlock, Location, MessageNode, PromptHistoryEntry, Role, Session,
    TextBlock, ToolCall,
};
use sepia_redaction::{Kind, Redactor};
use serde_json::{Value, json};

/// A session with this in every member that text can be in.
pub(crate) fn full_of(marker: &str) -> Session {
    let mut session = Session::new("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "claude");
    let text = |member: &str| format!("{member} {marker} end");
    session.title = text("title");
    session.working_directory = format!("/home/dev/{marker}/src");
    session.model = "model-1".into();
    session.created_at = 1000.5;
    session.last_activity_at = 2000.5;
    session.main_chain_id = 2;
    session.cogs_json = json!([text("cogs")]).to_string();
    session.workspace_dirs = json!([format!("/home/{marker}")]).to_string();
    session.parent_session_id = Some("parent-1".into());
    session.agent_id = Some("agent-1".into());
    session.checkpoints =
        vec![CheckpointRef { ref_: text("refs"), created_at: 5.0, run_count: Some(1), kind: Some("stash".into()) }];
    session.metadata =
        json!({ "lastPrompt": text("last"), "nested": json!({ "a": marker }).to_string(), marker: 1 }).to_string();
    session.prompt_history = vec![PromptHistoryEntry { content: text("prompt"), timestamp: 7.0, is_shell: true }];
    let mut said = MessageNode::new(1, Role::Assistant, 1000.5);
    said.content = text("content");
    said.thinking = Some(text("thinking"));
    said.thinking_signature = Some("EqQBCkYIBxgCKkD".repeat(8));
    said.request_id = Some("req_011CSHoEeqs5C35K2UUqR7Fy".into());
    said.model = Some("model-1".into());
    said.finish_reason = Some("tool_use".into());
    said.metadata = json!({ "a": [text("metadata")] }).to_string();
    said.blocks = vec![
        Block::Text(TextBlock { text: text("content") }),
        Block::Image(ImageBlock {
            data: Some("iVBORw0KGgo=".into()),
            mime_type: Some("image/png".into()),
            uri: Some(text("uri")),
        }),
        Block::File(FileBlock {
            uri: Some(text("uri")),
            name: Some(text("name")),
            mime_type: Some("text/plain".into()),
            size: Some(3.0),
            text: Some(text("file")),
            data: Some("AAAA".into()),
        }),
    ];
    let mut call =
        ToolCall::new("toolu_01A09q90qw90lq917835lq9q", "Bash", json!({ "command": text("command") }).to_string());
    call.locations = vec![Location { path: format!("/srv/{marker}.txt"), line: Some(3) }];
    call.diffs =
        vec![Diff { path: format!("/srv/{marker}.txt"), old_text: Some(text("old")), new_text: Some(text("new")) }];
    said.tool_calls = vec![call];
    let mut result = MessageNode::new(2, Role::Tool, 1001.5);
    result.parent_node_id = Some(1);
    result.content = text("result");
    result.tool_call_id = Some("toolu_01A09q90qw90lq917835lq9q".into());
    result.tool_name = Some("Bash".into());
    session.nodes = vec![said, result];
    session
}

#[test]
fn one_secret_in_every_member() {
    let key = github();
    let mut redactor = Redactor::new();
    let mut session = full_of(&key);
    redactor.session(&mut session);
    let placeholder = redactor.text(&key).into_owned();
    // Nothing else is touched, and the secret is the same everywhere.
    let expected = serde_json::to_string(&full_of(&key)).unwrap().replace(&key, &placeholder);
    assert_eq!(serde_json::to_string(&session).unwrap(), expected);
    assert_eq!(redactor.count(), 1);
    assert_eq!(redactor.summary().to_string(), "1 secret in 24 places (github-token 1)");
    // Once more changes nothing.
    let mut again = session.clone();
    redactor.session(&mut again);
    assert_eq!(again, session);
}

#[test]
fn as_many_are_counted_as_were_planted() {
    let mut redactor = Redactor::new();
    let mut session = Session::new("s", "b");
    session.title = format!("Fix {}", github());
    session.working_directory = format!("/home/dev/{}/src", anthropic());
    let text = [
        openai(),
        format!("{} {}", aws_id(), aws_secret()),
        private_key("RSA ", "\n"),
        "postgres://u:pw@h/db".to_owned(),
        format!("Authorization: Bearer {}", random(80, 30)),
        jwt(),
        "PASSWORD=x y".to_owned(),
        json!({ "a": json!({ "b": json!({ "c": format!("{}{}_{}", "gh", "o", random(81, 36)) }).to_string() }).to_string() }).to_string(),
        crate::decoys::decoys().join("\n"),
    ];
    let mut node = MessageNode::new(1, Role::Tool, 0.0);
    node.content = text.join("\n\n");
    // The text of a message stands in its blocks too.
    node.blocks = vec![Block::Text(TextBlock { text: node.content.clone() })];
    redactor.session(&mut session);
    redactor.nodes(std::slice::from_mut(&mut node));
    assert_eq!(redactor.count(), 11, "{}", redactor.summary());
    let summary = redactor.summary();
    assert_eq!(summary.secrets, 11);
    assert_eq!(summary.places, 2 + 2 * 9);
    let github = summary.by_kind.iter().find(|(kind, _)| *kind == Kind::GithubToken).unwrap().1;
    assert_eq!((github.secrets, github.places), (2, 3));
    for decoy in crate::decoys::decoys() {
        assert!(node.content.contains(&decoy), "{decoy}");
    }
}

#[test]
fn two_exports_have_nothing_in_common() {
    let key = github();
    let (first, second) = (Redactor::new().text(&key).into_owned(), Redactor::new().text(&key).into_owned());
    assert_ne!(first, second);
    let salted = || Redactor::with_salt([7; 32]).text(&key).into_owned();
    assert_eq!(salted(), salted());
}

#[test]
fn the_summary_as_json_has_no_secret_in_it() {
    let mut redactor = Redactor::new();
    let _out = redactor.text("PASSWORD=hunter2");
    let json: Value = serde_json::to_value(redactor.summary()).unwrap();
    assert_eq!(json, json!({ "secrets": 1, "places": 1, "byKind": [["password", { "secrets": 1, "places": 1 }]] }));
    assert!(!format!("{redactor:?}").contains("hunter2"));
    assert_eq!(Redactor::new().summary().to_string(), "no secrets");
}
