//! Calls and their results in the forms that they have.

use crate::demo::{Demo, S1, a, call, contents, meta, of_role, result, text, u, user};
use sepia_ir::{Role, Session, ToolCallStatus};
use serde_json::{Value, json};

/// A session of one call and this result.
fn answered(name: &str, input: Value, content: Value) -> Session {
    let demo = Demo::new();
    let messages = [
        u("m1", "go", 1),
        a("m2", json!([call("c1", name, input)]), 2),
        user("m3", json!([result("c1", name, content)]), 3),
    ];
    demo.session(S1, &messages);
    demo.read(S1)
}

fn outcome(session: &Session) -> (bool, Option<i64>, &str) {
    let (tool, call) = (of_role(session, Role::Tool)[0], &session.nodes[1].tool_calls[0]);
    let told = tool.tool_result.unwrap();
    assert_eq!((call.status, call.exit_code), (Some(told.status), told.exit_code));
    (told.status == ToolCallStatus::Success, told.exit_code, &tool.content)
}

#[test]
fn items_strings_and_strings_of_json() {
    let run = |content: Value| answered("run_commands", json!({"commands": ["x"]}), content);
    let item = |success: bool, result: &str, error: Option<&str>| json!([{"query": "x", "result": result, "success": success, "error": error}]);
    assert_eq!(outcome(&run(item(true, "out", None))), (true, None, "out"));
    assert_eq!(
        outcome(&run(item(false, "[Command exited with code 127]\nno", Some("Command exited with code 127")))),
        (false, Some(127), "[Command exited with code 127]\nno")
    );
    assert_eq!(
        outcome(&run(item(false, "", Some("Command failed: Command was aborted")))),
        (false, None, "Command failed: Command was aborted")
    );
    assert_eq!(outcome(&run(json!("1: red"))), (true, None, "1: red"));
    assert_eq!(
        outcome(&run(json!("{\"query\":\"edit:/a\",\"result\":\"Edited\",\"success\":true}"))),
        (true, None, "Edited")
    );
    assert_eq!(
        outcome(&run(json!("{\"error\":\"User rejected the tool call\"}"))),
        (false, None, "User rejected the tool call")
    );
    // Other JSON is what the tool said.
    let said = "{\"text\":\"There are 3 files.\",\"usage\":{}}";
    assert_eq!(outcome(&run(json!(said))), (true, None, said));
    assert_eq!(outcome(&run(json!([]))), (true, None, ""));
    assert_eq!(outcome(&run(Value::Null)), (true, None, ""));
    assert_eq!(
        outcome(&run(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]))),
        (true, None, "a\nb")
    );
}

#[test]
fn a_batch_tells_each_item() {
    let items = json!([
        {"query": "a.txt", "result": "one", "success": true},
        {"query": "b.txt", "result": "", "success": false, "error": "ENOENT"},
    ]);
    let session = answered("read_files", json!({"files": [{"path": "a.txt"}, {"path": "b.txt"}]}), items);
    assert_eq!(outcome(&session), (false, None, "a.txt:\none\nb.txt:\nENOENT"));
    let told = meta(&of_role(&session, Role::Tool)[0].metadata)["items"].clone();
    assert_eq!(told[1], json!({"query": "b.txt", "success": false, "error": "ENOENT"}));
}

#[test]
fn what_has_no_partner_stays_as_it_is() {
    let demo = Demo::new();
    demo.session(
        S1,
        &[
            u("m1", "go", 1),
            a("m2", json!([call("A", "run_commands", json!({})), call("B", "run_commands", json!({}))]), 2),
            user("m3", json!([result("A", "run_commands", json!("ok"))]), 3),
            u("m4", "on", 4),
            user("m5", json!([result("Z", "run_commands", json!("lost"))]), 5),
            user("m6", json!([{"type": "tool_result", "content": "of nothing"}]), 6),
            a("m7", json!([{"type": "tool_use", "name": "x", "input": {}}, {"type": "tool_use", "id": "i"}]), 7),
        ],
    );
    let session = demo.read(S1);
    let status: Vec<_> = session.nodes[1].tool_calls.iter().map(|call| call.status).collect();
    assert_eq!(status, [Some(ToolCallStatus::Success), None]);
    assert_eq!(contents(&session), ["go", "", "ok", "on", "lost", "", ""]);
    assert_eq!(session.nodes[4].tool_call_id.as_deref(), Some("Z"));
    assert_eq!(session.nodes[5].role, Role::User);
    assert_eq!(meta(&session.nodes[5].metadata)["opaque"][0]["content"], json!("of nothing"));
    assert_eq!(session.nodes[6].tool_calls, []);
    assert_eq!(demo.stats(S1)["toolResults"], json!(2));
}

#[test]
fn an_id_that_comes_again_answers_the_latest_call() {
    let demo = Demo::new();
    let failing = json!([{"query": "x", "result": "", "success": false, "error": "no"}]);
    demo.session(
        S1,
        &[
            a("m1", json!([call("c", "run_commands", json!({})), call("c", "twice", json!({}))]), 1),
            user("m2", json!([result("c", "run_commands", json!("fine"))]), 2),
            a("m3", json!([call("c", "run_commands", json!({}))]), 3),
            user("m4", json!([result("c", "run_commands", failing), {"type": "text", "text": "said beside"}]), 4),
        ],
    );
    let session = demo.read(S1);
    let status = |node: usize| session.nodes[node].tool_calls[0].status;
    assert_eq!((status(0), status(2)), (Some(ToolCallStatus::Success), Some(ToolCallStatus::Error)));
    assert_eq!(session.nodes[0].tool_calls.len(), 1);
    assert_eq!(contents(&session), ["", "fine", "", "no", "said beside"]);
}

#[test]
fn tokens_count_once_a_message() {
    let demo = Demo::new();
    let mut odd = a("m3", text("x"), 3);
    // Against the agent's own rule: more from the cache than went in.
    odd["metrics"] = json!({"inputTokens": 10, "outputTokens": 1, "cacheReadTokens": 500});
    demo.session(S1, &[u("m1", "go", 1), a("m2", text("a"), 2), a("m2", text("a"), 2), odd]);
    let session = demo.read(S1);
    let usage: Vec<_> = session
        .nodes
        .iter()
        .map(|node| node.usage.map(|usage| (usage.input, usage.output, usage.cache_read)))
        .collect();
    assert_eq!(usage, [None, Some((60.0, 20.0, Some(40.0))), None, Some((10.0, 1.0, Some(500.0)))]);
    assert_eq!(meta(&session.nodes[2].metadata)["usageCountedElsewhere"], json!(true));
    assert_eq!(meta(&session.nodes[3].metadata)["inputWithoutCache"], json!(true));
    assert_eq!(demo.stats(S1)["usage"], json!({"input": 70, "output": 21, "cacheRead": 540, "cacheWrite": 0}));
}
