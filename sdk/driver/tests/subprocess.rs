//! The loop on stdio, seen from the other end.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

use sepia_sdk::ir::{
    DriverError, ErrorCode, Manifest, MessageNode, PromptHistoryEntry, Role, ScanEntry, ScanReport, Session,
    SessionRef, Summary, SummaryDetail,
};
use sepia_sdk::subprocess::{Native, answer};
use sepia_sdk::{Driver, Host, NativeCopy, SessionRead, Transcript};
use serde_json::{Value, json};
use std::io::Cursor;

/// Sessions `s<n>` have n nodes; `bad<n>` fail after n nodes; `crash` panics.
struct Counting;

struct Nodes {
    session: Session,
    left: i64,
    next: i64,
    fails: bool,
}

impl Driver for Counting {
    fn manifest() -> Manifest {
        Manifest {
            id: "counting".into(),
            label: "Counting".into(),
            version: "1.2.3".into(),
            backend_type: "numbers".into(),
            stores: Vec::new(),
            agent_command: vec!["count".into(), "--acp".into()],
            config_schema: "{\n\"type\":\"object\"}".into(),
        }
    }
}

fn row(id: &str, at: f64) -> Session {
    let metadata = "{\n \"nodes\":[], \"note\": \"\u{2028}\"\n}".to_owned();
    Session { last_activity_at: at, metadata, ..Session::new(id, "numbers") }
}

impl SessionRead for Counting {
    type Transcript = Nodes;

    fn scan(_: &Host) -> Result<ScanReport, DriverError> {
        let entry = |key: &str| ScanEntry {
            key: key.into(),
            stamp: "1".into(),
            bytes: 1,
            changed_at: 0.0,
            session_id: Some(key.into()),
            sub_agent: false,
        };
        Ok(ScanReport { entries: vec![entry("s3"), entry("s2000")], warnings: Vec::new() })
    }

    fn summaries(_: &Host, keys: &[String], _: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        let summary = |key: &String| Summary {
            key: key.clone(),
            sessions: vec![row(key, if key == "s3" { 1.0 } else { 2.0 })],
            warnings: Vec::new(),
        };
        Ok(keys.iter().map(summary).collect())
    }

    fn open(_: &Host, session: &SessionRef) -> Result<Nodes, DriverError> {
        assert_ne!(session.id, "crash", "asked to");
        let (fails, count) = match (session.id.strip_prefix("bad"), session.id.strip_prefix('s')) {
            (Some(count), _) => (true, count),
            (_, Some(count)) => (false, count),
            _ => return Err(DriverError::unknown_session(&session.id)),
        };
        let left = count.parse().map_err(|_| DriverError::unknown_session(&session.id))?;
        let prompt = PromptHistoryEntry { content: "go".into(), timestamp: 5.0, is_shell: false };
        let session = Session { prompt_history: vec![prompt], ..row(&session.id, 1.0) };
        Ok(Nodes { session, left, next: 1, fails })
    }

    fn native(_: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        Ok(Box::new(Bytes(session.id.len())))
    }
}

impl Transcript for Nodes {
    fn header(&self) -> Session {
        self.session.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        if self.left == 0 && self.fails {
            return Err(DriverError::new(ErrorCode::Conflict, "the file changed"));
        }
        let count = self.left.min(i64::try_from(max).unwrap());
        let node = |id| MessageNode { content: "x".repeat(5000), ..MessageNode::new(id, Role::User, 1.0) };
        let nodes = (self.next..self.next + count).map(node).collect();
        self.left -= count;
        self.next += count;
        Ok(nodes)
    }
}

/// Two pieces of two bytes.
struct Bytes(usize);

impl NativeCopy for Bytes {
    fn name(&self) -> String {
        "copy.bin".into()
    }

    fn next(&mut self, _: usize) -> Result<Vec<u8>, DriverError> {
        let piece = if self.0 == 0 { vec![] } else { vec![0xff, 0x0a] };
        self.0 = self.0.saturating_sub(1);
        Ok(piece)
    }
}

fn answers(input: &str) -> Vec<Value> {
    lines(input).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn lines(input: &str) -> Vec<String> {
    let mut output = Vec::new();
    let host = || Native::at(&Counting::manifest(), &[]).map(Host::new);
    answer::<Counting>(&host, &mut Cursor::new(input), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(str::to_owned).collect()
}

fn call(method: &str, params: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let mut all = answers(&format!("{request}\n"));
    assert_eq!(all.len(), 1, "{method}");
    let answer = all.remove(0);
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
    answer
}

fn code(answer: &Value) -> i64 {
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    answer["error"]["code"].as_i64().unwrap()
}

#[test]
fn the_manifest_says_protocol_1_and_is_one_line() {
    let manifest = &call("driver.manifest", &Value::Null)["result"];
    assert_eq!(manifest["protocol"], 1);
    assert_eq!(manifest["id"], "counting");
    assert_eq!(manifest["agentCommand"], "count --acp");
    assert_eq!(manifest["backendType"], "numbers");
    assert_eq!(manifest["configSchema"], json!({"type": "object"}));
    assert!(manifest["capabilities"].as_array().unwrap().contains(&json!("sessionStore")));
    assert!(!manifest["capabilities"].as_array().unwrap().contains(&json!("sessionWrite")));
}

#[test]
fn a_session_of_any_size_comes_whole_in_one_line() {
    for count in [0, 1, 3, 255, 256, 257, 2000] {
        let session: Session = serde_json::from_value(
            call("session.get", &json!({"id": format!("s{count}"), "agentId": null}))["result"].clone(),
        )
        .unwrap();
        let ids: Vec<i64> = session.nodes.iter().map(|node| node.node_id).collect();
        assert_eq!(ids, (1..=count).collect::<Vec<_>>());
        assert_eq!(session.prompt_history.len(), 1);
        assert_eq!(serde_json::from_str::<Value>(&session.metadata).unwrap(), json!({"nodes": [], "note": "\u{2028}"}));
    }
}

#[test]
fn a_small_answer_that_fails_is_an_error_and_nothing_else() {
    let answer = call("session.get", &json!({"id": "bad5"}));
    assert_eq!(code(&answer), -32007);
}

#[test]
fn a_large_answer_that_fails_ends_its_line_and_the_error_follows() {
    let lines = lines(
        "{\"id\":1,\"method\":\"session.get\",\"params\":{\"id\":\"bad2000\"}}\n{\"id\":2,\"method\":\"session.locks\"}\n",
    );
    assert_eq!(lines.len(), 3);
    assert!(serde_json::from_str::<Value>(&lines[0]).is_err());
    let failure: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!((&failure["id"], code(&failure)), (&json!(1), -32007));
    assert_eq!(serde_json::from_str::<Value>(&lines[2]).unwrap(), json!({"jsonrpc": "2.0", "id": 2, "result": []}));
}

#[test]
fn the_list_is_newest_first() {
    let rows = call("session.list", &Value::Null)["result"].clone();
    let ids: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s2000", "s3"]);
}

#[test]
fn pages_follow_the_live_branch() {
    let page =
        call("session.history", &json!({"id": "s3", "limit": 2, "before": null, "agentId": null}))["result"].clone();
    assert_eq!((&page["total"], &page["start"], &page["backendType"]), (&json!(1), &json!(0), &json!("numbers")));
    let page = call("session.history", &json!({"id": "s3", "limit": 2, "branch": "all"}))["result"].clone();
    assert_eq!((&page["total"], &page["start"]), (&json!(3), &json!(1)));
}

#[test]
fn a_native_copy_comes_in_pieces() {
    let copy = &call("session.native", &json!({"id": "s3"}))["result"];
    assert_eq!(copy, &json!({"name": "copy.bin", "data": ["/wo=", "/wo="]}));
}

#[test]
fn each_failure_has_its_code() {
    assert_eq!(code(&call("session.get", &json!({"id": "nope"}))), -32001);
    assert_eq!(code(&call("session.summary", &json!({"id": "nope"}))), -32001);
    assert_eq!(code(&call("session.get", &json!({}))), -32602);
    assert_eq!(code(&call("session.get", &Value::Null)), -32602);
    assert_eq!(code(&call("session.history", &json!({"id": "s3", "limit": -1}))), -32602);
    assert_eq!(code(&call("session.bogus", &Value::Null)), -32601);
    for method in [
        "session.save",
        "session.rename",
        "session.delete",
        "session.rewind",
        "file.restore",
        "config.read",
        "config.write",
    ] {
        assert_eq!(code(&call(method, &json!({}))), -32004, "{method}");
    }
}

#[test]
fn a_crash_costs_its_own_call() {
    let all = answers(
        "{\"id\":1,\"method\":\"session.get\",\"params\":{\"id\":\"crash\"}}\n{\"id\":2,\"method\":\"session.locks\"}\n",
    );
    assert_eq!(code(&all[0]), -32603);
    assert!(all[0]["error"]["message"].as_str().unwrap().contains("asked to"));
    assert_eq!(all[1]["result"], json!([]));
}

#[test]
fn lines_that_are_no_requests() {
    // Notifications, and requests whose id is none of this wire; responses; blank lines.
    let ignored = "\n \r\n{\"method\":\"session.locks\"}\n{\"id\":\"a\",\"method\":\"session.locks\"}\n\
        {\"id\":-1,\"method\":\"session.locks\"}\n{\"id\":1.5,\"method\":\"session.locks\"}\n{\"id\":3}\n{\"id\":3,\"result\":1}\n";
    assert!(answers(ignored).is_empty());
    let wrong =
        "{\n[]\n7\nnull\n{}\n{\"id\":null}\n\u{FEFF}x\n{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"session.locks\"}";
    let all = answers(wrong);
    let ids: Vec<i64> = all.iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [0, 0, 0, 0, 0, 0, 0, 9]);
    let codes: Vec<i64> = all[..7].iter().map(code).collect();
    assert_eq!(codes, [-32700, -32600, -32600, -32600, -32600, -32600, -32700]);
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_of_that_line() {
    let mut output = Vec::new();
    let host = || Native::at(&Counting::manifest(), &[]).map(Host::new);
    let input = b"{\"id\":1,\"method\":\"\xff\"}\n{\"id\":2,\"method\":\"session.locks\"}\n";
    answer::<Counting>(&host, &mut Cursor::new(input), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(text.lines().next().unwrap().contains("\"id\":0"));
    assert!(text.lines().nth(1).unwrap().contains("\"id\":2"));
}
