//! Written and read again: everything is as it was, but for the losses that were told.

use crate::demo::{Demo, S1, S2, a, base, meta, text, tr, tu, u, with};
use crate::written::{Ground, by_id, calls, chain, result, says, session};
use proptest::prelude::*;
use sepia_conformance::{InProcess, Subject, Suite, arbitrary, equal_but_for};
use sepia_driver_claude::Claude;
use sepia_ir::{Branch, HistoryQuery, LossKind, Role, Session, SessionRef, SummaryDetail, ToolCallStatus};
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_session_comes_back(session in arbitrary::sessions(arbitrary::Kind { branches: true, system: true })) {
        let ground = Ground::new();
        let report = ground.save(&session, &crate::written::NEW).map_err(|e| TestCaseError::fail(e.message))?;
        let read = ground.demo.read(&report.id);
        equal_but_for(&session, &read, &report.losses).map_err(TestCaseError::fail)?;
        prop_assert!(report.losses.iter().all(|loss| loss.kind != LossKind::Dropped));
        // Pages and rows say the same.
        let query = HistoryQuery { limit: 1000, before: None, branch: Branch::All, index: None };
        let page = InProcess::<Claude>::on(ground.demo.host()).history(&by_id(&report.id), &query).unwrap();
        prop_assert_eq!(&page.nodes, &read.nodes);
        for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
            let row = ground.demo.rows(detail).remove(0);
            prop_assert_eq!((&row.title, &row.agent_mode, &row.model), (&read.title, &read.agent_mode, &read.model));
            prop_assert_eq!((row.created_at, row.last_activity_at), (read.created_at, read.last_activity_at));
            prop_assert!(row.prompt_history.is_empty());
        }
        // Once more, from what was read: nothing wears off.
        let second = Session { id: String::new(), ..read.clone() };
        let report = ground.save(&second, &crate::written::NEW).map_err(|e| TestCaseError::fail(e.message))?;
        let again = ground.demo.read(&report.id);
        equal_but_for(&second, &again, &report.losses).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn the_laws_of_reading_hold_on_what_is_written() {
    let ground = Ground::new();
    ground.saved(&session(chain(vec![
        says(Role::System, "s"),
        says(Role::User, "Read it"),
        calls("", &[("call:1", "read file", "[1]"), ("call:1b", "Read", "{}")]),
        result("call:1", "read file", "x", ToolCallStatus::Success),
        result("call:1b", "Read", "y", ToolCallStatus::Success),
        says(Role::Assistant, ""),
    ])));
    let subject = InProcess::<Claude>::on(ground.demo.host());
    let report = Suite::new(&subject).on_store(ground.demo.root()).run();
    assert_eq!(report.failures(), Vec::<&sepia_conformance::Outcome>::new());
    assert_eq!(report.sessions(), 1);
}

/// Sessions of the store, sub-agents left out.
fn mains(demo: &Demo) -> Vec<Session> {
    demo.rows(SummaryDetail::Row).into_iter().filter(|row| row.parent_session_id.is_none()).collect()
}

#[test]
fn a_copy_of_the_agents_own_sessions_is_faithful() {
    let samples = Demo::samples();
    let rows = mains(&samples);
    assert!(rows.len() >= 12);
    for row in rows {
        let ground = Ground::new();
        let mut session = samples.read(&row.id);
        session.working_directory = "/p/demo".into();
        let (report, read) = ground.saved(&session);
        assert_eq!(report.id, row.id, "its own id is kept");
        let uuids = |session: &Session| -> Vec<Value> {
            let ids = |node: &sepia_ir::MessageNode| {
                let metadata = meta(&node.metadata);
                [metadata["uuid"].clone(), metadata["uuids"].clone(), metadata["messageId"].clone()]
            };
            session.nodes.iter().flat_map(ids).collect()
        };
        assert_eq!(uuids(&read), uuids(&session));
        // The native ids are in the file, not only carried.
        let text = std::fs::read_to_string(ground.file(&report.id)).unwrap();
        for uuid in uuids(&session).iter().filter_map(Value::as_str) {
            assert!(
                text.contains(&format!("\"uuid\":\"{uuid}\"")) || text.contains(&format!("\"id\":\"{uuid}\"")),
                "{uuid}"
            );
        }
        assert!(report.losses.is_empty(), "{:?}", report.losses);
    }
}

#[test]
fn a_plain_session_of_the_agents_own_carries_nothing_in_its_messages() {
    let demo = Demo::new();
    let ids = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    let first = with(u(&ids(1), None, "hello", 0), &[("promptId", json!("p1"))]);
    let answer = with(
        a(&ids(2), &ids(1), text("hi"), 1),
        &[("message.usage.cache_read_input_tokens", json!(3)), ("message.usage.cache_creation_input_tokens", json!(4))],
    );
    demo.session(S1, &[first, answer]);
    let ground = Ground::new();
    let (report, _) = ground.saved(&demo.read(S1));
    let records = ground.records(&report.id);
    assert!(records[..2].iter().all(|record| record.get("sepia").is_none()), "{records:#?}");
    assert_eq!(records[0]["uuid"], json!(ids(1)));
    assert_eq!(records[1]["message"]["id"], json!(format!("msg_{}", ids(2))));
    // Titled by its first prompt, it needs no title.
    assert!(records.iter().all(|record| record["type"] != json!("custom-title")));
}

#[test]
fn reasoning_of_the_agents_own_stays_byte_exact_and_what_is_not_valid_is_told() {
    let demo = Demo::new();
    let long = "s".repeat(400);
    let ids = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    let thought = |n: u32, block: Value| a(&ids(n), &ids(n - 1), json!([block, {"type": "text", "text": "x"}]), n);
    let blocks = [
        json!({"type": "thinking", "thinking": "deep", "signature": long}),
        json!({"type": "thinking", "thinking": "", "signature": long}),
        json!({"type": "thinking", "thinking": "deep", "signature": ""}),
        json!({"type": "thinking", "thinking": "deep", "signature": "s".repeat(24)}),
        json!({"type": "redacted_thinking", "data": "sealed"}),
    ];
    let mut records = vec![u(&ids(1), None, "think", 1)];
    records.extend((2..).zip(blocks.clone()).map(|(n, block)| thought(n, block)));
    // Several of them in one message.
    let several = json!([
        {"type": "thinking", "thinking": "a", "signature": format!("{long}1")},
        {"type": "thinking", "thinking": "b", "signature": format!("{long}2")},
        {"type": "text", "text": "y"},
    ]);
    records.push(a(&ids(7), &ids(6), several.clone(), 7));
    demo.session(S1, &records);
    let ground = Ground::new();
    let (report, _) = ground.saved(&demo.read(S1));
    let written = ground.records(&report.id);
    let content: Vec<&Value> = written.iter().filter_map(|record| record["message"]["content"].get(0)).collect();
    for native in [&blocks[0], &blocks[1], &blocks[4], &several[0], &several[1]] {
        assert!(content.contains(&native), "{native}");
    }
    for refused in [&blocks[2], &blocks[3]] {
        assert!(!content.contains(&refused), "{refused}");
    }
    let told: Vec<_> = report.losses.iter().map(|loss| (loss.kind, loss.node_id)).collect();
    assert_eq!(told, [(LossKind::MetadataOnly, Some(4)), (LossKind::MetadataOnly, Some(5))]);
}

#[test]
fn reasoning_without_a_signature_is_carried_and_not_shown() {
    let ground = Ground::new();
    let mut answer = calls("b", &[]);
    answer.thinking = Some("my secret thought".into());
    let (report, _) = ground.saved(&session(chain(vec![says(Role::User, "a"), answer])));
    let records = ground.records(&report.id);
    assert_eq!(records[1]["message"]["content"], json!([{"type": "text", "text": "b"}]));
    assert_eq!(report.losses.len(), 1);
}

#[test]
fn results_side_by_side_stay_side_by_side() {
    let mut nodes = chain(vec![
        says(Role::User, "go"),
        calls("", &[("c1", "Bash", "{}"), ("c2", "Bash", "{}")]),
        result("c1", "Bash", "1", ToolCallStatus::Success),
        result("c2", "Bash", "2", ToolCallStatus::Success),
        says(Role::Assistant, "after the first"),
        says(Role::Assistant, "after the second"),
    ]);
    nodes[3].parent_node_id = Some(2);
    nodes[4].parent_node_id = Some(3);
    nodes[5].parent_node_id = Some(4);
    Ground::new().saved(&session(nodes));
}

#[test]
fn parallel_results_of_the_agents_own_come_in_a_row() {
    let demo = Demo::new();
    let ids = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    let call = |n: u32, parent: u32, id: &str| {
        with(a(&ids(n), &ids(parent), json!([tu(id, "Bash", json!({}))]), n), &[("message.id", json!("msg_1"))])
    };
    demo.session(
        S1,
        &[
            u(&ids(1), None, "go", 1),
            call(2, 1, "c1"),
            call(3, 2, "c2"),
            tr(&ids(4), &ids(2), "c1", "1", 4),
            tr(&ids(5), &ids(3), "c2", "2", 5),
            a(&ids(6), &ids(5), text("end"), 6),
        ],
    );
    let ground = Ground::new();
    let (report, _) = ground.saved(&demo.read(S1));
    let records = ground.records(&report.id);
    let parents: Vec<&Value> = records[..6].iter().map(|record| &record["parentUuid"]).collect();
    assert_eq!(parents[1..], [&json!(ids(1)), &json!(ids(2)), &json!(ids(3)), &json!(ids(4)), &json!(ids(5))]);
}

#[test]
fn what_is_carried_is_found_by_a_search() {
    let ground = Ground::new();
    let mut answer = calls("b", &[]);
    answer.thinking = Some("a needle in the thought".into());
    let (report, _) = ground.saved(&session(chain(vec![says(Role::User, "a"), answer])));
    let query = sepia_ir::SearchQuery {
        text: "NEEDLE".into(),
        regex: false,
        ignore_case: true,
        parts: Vec::new(),
        hits: 10,
        context: 20,
    };
    let host = ground.demo.host();
    let keys: Vec<String> =
        <Claude as sepia_sdk::SessionRead>::scan(&host).unwrap().entries.into_iter().map(|e| e.key).collect();
    let found = <Claude as sepia_sdk::SessionRead>::search(&host, &keys, &query).unwrap();
    let session = &found[0].sessions[0];
    assert_eq!((session.session.id.as_str(), session.hits[0].node_id), (report.id.as_str(), Some(2)));
}

#[test]
fn a_sub_agent_is_written_as_a_session_of_its_own() {
    let samples = Demo::samples();
    let row = samples.rows(SummaryDetail::Row).into_iter().find(|row| row.parent_session_id.is_some()).unwrap();
    let mut session = samples.try_read(&SessionRef { id: row.id, agent_id: None }).unwrap();
    session.id = String::new();
    session.working_directory = "/p/demo".into();
    let ground = Ground::new();
    let report = ground.save(&session, &crate::written::NEW).unwrap();
    assert!(report.losses.iter().any(|loss| loss.kind == LossKind::Dropped && loss.node_id.is_none()));
    let read = ground.demo.read(&report.id);
    assert_eq!((read.parent_session_id, read.agent_id, read.nodes.len()), (None, None, session.nodes.len()));
    assert!(ground.records(&report.id).iter().all(|record| record["isSidechain"] != json!(true)));
}

#[test]
fn a_compaction_of_the_agents_own_stays_one() {
    let samples = Demo::samples();
    let mut session = samples.read("11111111-1111-4111-8111-000000000007");
    session.working_directory = "/p/demo".into();
    let ground = Ground::new();
    let (report, _) = ground.saved(&session);
    let records = ground.records(&report.id);
    let boundary = records.iter().position(|record| record["subtype"] == json!("compact_boundary")).unwrap();
    assert_eq!(records[boundary]["parentUuid"], Value::Null);
    let kept = &records[boundary]["compactMetadata"]["preservedMessages"]["uuids"][0];
    assert!(records[..boundary].iter().any(|record| record["uuid"] == *kept));
    assert_eq!(records[boundary]["logicalParentUuid"], *kept);
    assert_eq!(records[boundary + 1]["parentUuid"], records[boundary]["uuid"]);
    assert_eq!(records[boundary + 1]["isCompactSummary"], json!(true));
}

#[test]
fn ids_that_are_there_twice_are_told_apart() {
    let demo = Demo::new();
    demo.session(S2, &base(2));
    let mut session = demo.read(S2);
    let twin = "00000000-0000-4000-8000-000000000001";
    for node in &mut session.nodes {
        node.metadata = json!({"uuid": twin, "messageId": "msg_same"}).to_string();
    }
    let ground = Ground::new();
    session.id = String::new();
    session.working_directory = "/p/demo".into();
    let (report, _) = ground.saved(&session);
    let records = ground.records(&report.id);
    let mut uuids: Vec<&str> = records.iter().filter_map(|record| record["uuid"].as_str()).collect();
    uuids.sort_unstable();
    uuids.dedup();
    assert_eq!(uuids.len(), 4);
    assert_ne!(records[1]["message"]["id"], records[3]["message"]["id"]);
}
