//! Guests that lie about ids, JSON and counts.

use crate::guests::{Place, driver, host, limits, read, session, still_serves};
use sepia::loader::{Fault, FaultKind};
use sepia_ir::{Branch, HistoryQuery, MessageNode, SummaryDetail};

/// Reads a session to its end or its fault.
async fn nodes(guest: &str, id: &str) -> Result<Vec<MessageNode>, Fault> {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, guest).await;
    let mut transcript = read(&bad).open(session(id)).await?;
    let mut nodes = Vec::new();
    while let Some(batch) = transcript.batches.recv().await {
        nodes.extend(batch?);
    }
    still_serves(&host).await;
    Ok(nodes)
}

async fn breach(guest: &str, id: &str) -> String {
    let fault = nodes(guest, id).await.map(|nodes| nodes.len()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Contract, "{id}: {fault}");
    fault.message
}

#[tokio::test]
async fn rows_with_impossible_ids_are_left_out_with_a_warning() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "lies_about_ids").await;
    let rows = read(&bad).summaries(vec!["k".into()], SummaryDetail::Row).await.unwrap();
    let ids: Vec<_> = rows[0].sessions.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["../../x", "other-driver:1"]);
    let warnings = &rows[0].warnings;
    assert_eq!(warnings.iter().filter(|warning| warning.code == "invalid-id").count(), 7);
    assert!(
        warnings.iter().all(|warning| warning.message.len() < 200 && !warning.message.contains(['\0', '\x1b', '\n']))
    );
    let held: Vec<_> = read(&bad).locks().await.unwrap().into_iter().map(|lock| lock.id).collect();
    assert_eq!(held, ["../../x", "other-driver:1"]);
    let fault = read(&bad).summary_of(session("x")).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Contract, "{fault}");
    still_serves(&host).await;
}

#[tokio::test]
async fn text_that_is_no_json_breaks_the_contract() {
    for id in ["deep", "broken", "two", "empty"] {
        let message = breach("lies_about_json", id).await;
        assert!(message.contains("node 1: metadata is no JSON value"), "{id}: {message}");
    }
    assert!(breach("lies_about_json", "arguments").await.contains("arguments of a tool call"));
    assert!(breach("lies_about_json", "number").await.contains("created-at"));
}

#[tokio::test]
async fn halves_of_surrogates_are_replaced_and_oddities_stay() {
    let nodes_of = nodes("lies_about_json", "surrogate").await.unwrap();
    assert_eq!(nodes_of[0].metadata, r#"{"a":"\ufffd \ufffdx"}"#);
    let nodes_of = nodes("lies_about_json", "odd").await.unwrap();
    assert_eq!(nodes_of[0].metadata, r#"{"a":1,"a":2,"b":1e999}"#);
}

#[tokio::test]
async fn a_transcript_that_does_not_end_or_is_out_of_order_breaks_the_contract() {
    assert!(breach("lies_about_counts", "endless").await.contains("does not end"));
    assert!(breach("lies_about_counts", "more").await.contains("were asked for"));
    assert!(breach("lies_about_counts", "repeats").await.contains("node 2 comes after node 2"));
    assert!(breach("lies_about_counts", "backwards").await.contains("node 1 comes after"));
    assert!(breach("lies_about_counts", "negative").await.contains("not negative"));
    assert!(nodes("lies_about_counts", "nothing").await.unwrap().is_empty());
}

#[tokio::test]
async fn pages_that_do_not_fit_the_query_break_the_contract() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "lies_about_counts").await;
    let page = |id: &'static str, before: Option<u64>| {
        let query = HistoryQuery { limit: 3, before, branch: Branch::Live, index: None };
        read(&bad).history(session(id), query)
    };
    for id in ["overflow", "beyond", "more"] {
        let fault = page(id, None).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Contract, "{id}: {fault}");
    }
    assert_eq!(page("fine", None).await.unwrap().total, 10);
    assert_eq!(page("fine", Some(0)).await.unwrap_err().kind, FaultKind::Contract);
    still_serves(&host).await;
}

#[tokio::test]
async fn summaries_answer_the_keys_that_were_asked() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "lies_about_counts").await;
    let rows = |key: &str| read(&bad).summaries(vec![key.into()], SummaryDetail::Row);
    assert_eq!(rows("a").await.unwrap_err().kind, FaultKind::Contract);
    assert_eq!(rows("nodes").await.unwrap_err().kind, FaultKind::Contract);
    let late = rows("late").await.unwrap();
    assert!(late[0].sessions[0].last_activity_at.abs() < f64::EPSILON);
    assert_eq!(late[0].warnings[0].code, "impossible-time");
}

#[tokio::test]
async fn a_key_that_comes_twice_is_read_once() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "lies_about_counts").await;
    let report = read(&bad).scan().await.unwrap();
    assert_eq!(report.entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(report.warnings[0].code, "duplicate-key");
}
