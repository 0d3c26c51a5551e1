//! Pages of history: every window, and what all of them together are.

use sepia_tests::{Client, Machine};
use serde_json::{Value, json};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn page(client: &mut Client, id: &str, limit: u64, before: Option<u64>, branch: &str) -> (Vec<Value>, u64, u64) {
    let page = client.get("sessions.history", &json!({"id": id, "limit": limit, "before": before, "branch": branch}));
    let keys: Vec<_> = page.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messages", "start", "total"]);
    let messages = page["messages"].as_array().unwrap().clone();
    (messages, page["total"].as_u64().unwrap(), page["start"].as_u64().unwrap())
}

#[test]
fn pages_put_together_are_the_whole_whatever_their_size() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for number in 1..=12 {
        let id = id(number);
        let nodes = client.get("sessions.get", &json!({"id": id}))["nodes"].as_array().unwrap().len() as u64;
        for branch in ["live", "all"] {
            let (whole, total, start) = page(&mut client, &id, u64::from(u32::MAX), None, branch);
            assert_eq!((whole.len() as u64, start), (total, 0));
            if branch == "all" {
                assert_eq!(total, nodes, "session {number}");
            } else {
                assert!(total <= nodes, "session {number}");
            }
            for limit in [1, 2, 3, 7, total.max(1)] {
                let (mut met, mut before) = (Vec::new(), None);
                loop {
                    let (messages, again, start) = page(&mut client, &id, limit, before, branch);
                    assert_eq!(again, total);
                    assert!(messages.len() as u64 <= limit);
                    met.splice(0..0, messages);
                    if start == 0 {
                        break;
                    }
                    assert_eq!(start + met.len() as u64, total);
                    before = Some(start);
                }
                assert_eq!(met, whole, "session {number}, {branch}, pages of {limit}");
            }
        }
    }
}

#[test]
fn windows_are_clamped() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let id = id(3);
    let (whole, total, _) = page(&mut client, &id, 500, None, "live");
    assert_eq!(total, 15);
    for before in 0..=17_u64 {
        for limit in [1, 4, 15, 16] {
            let (messages, _, start) = page(&mut client, &id, limit, Some(before), "live");
            let end = before.min(total);
            assert_eq!(start, end.saturating_sub(limit), "before {before}, limit {limit}");
            let window = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            assert_eq!(messages, whole[window], "before {before}, limit {limit}");
        }
    }
    // No page is smaller than one message, and no end lies behind the newest one.
    assert_eq!(page(&mut client, &id, 0, None, "live").0, whole[14..]);
    assert_eq!(page(&mut client, &id, 3, Some(u64::MAX), "live").0, whole[12..]);
    assert_eq!(page(&mut client, &id, 3, Some(0), "live").0, Vec::<Value>::new());
}

#[test]
fn without_a_limit_a_page_has_what_the_environment_says() {
    let machine = Machine::with_samples().with("SEPIA_HISTORY_LIMIT", "2");
    let mut client = machine.serve();
    let page = client.get("sessions.history", &json!({"id": id(3)}));
    assert_eq!((page["messages"].as_array().unwrap().len(), &page["start"]), (2, &json!(13)));
}

#[test]
fn a_result_carries_its_call_even_when_the_call_is_on_an_older_page() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let (newest, ..) = page(&mut client, &id(3), 2, None, "live");
    let result = &newest[0];
    assert_eq!(
        (&result["role"], &result["toolName"], &result["toolStatus"]),
        (&json!("tool"), &json!("Write"), &json!("success"))
    );
    assert_eq!(result["args"], r#"{"file_path":"/home/dev/shop/notes.txt","content":"one\ntwo\n"}"#);
    assert_eq!(result["locations"], json!([{"path": "/home/dev/shop/notes.txt"}]));
    assert_eq!(result["diffs"], json!([{"path": "/home/dev/shop/notes.txt", "newText": "one\ntwo\n"}]));
    // Epoch milliseconds, of 2026-11-30T10:09:18.334Z.
    assert_eq!(result["createdAt"].as_f64(), Some(1_796_033_358_334.0));
    for absent in ["blocks", "thinking", "usage", "toolCalls", "exitCode"] {
        assert_eq!(result.get(absent), None, "{absent}");
    }
}

#[test]
fn a_rewind_leaves_a_branch_that_only_all_shows() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let texts = |messages: &[Value]| -> Vec<String> {
        messages.iter().filter(|m| m["role"] == "user").map(|m| m["content"].as_str().unwrap().to_owned()).collect()
    };
    let (live, of_live, _) = page(&mut client, &id(8), 500, None, "live");
    let (all, of_all, _) = page(&mut client, &id(8), 500, None, "all");
    assert!(of_all > of_live);
    assert!(texts(&all).len() > texts(&live).len());
    let ids = |messages: &[Value]| -> Vec<i64> { messages.iter().map(|m| m["nodeId"].as_i64().unwrap()).collect() };
    assert!(ids(&live).iter().all(|id| ids(&all).contains(id)));
    assert!(ids(&all).windows(2).all(|pair| pair[0] < pair[1]));
}
