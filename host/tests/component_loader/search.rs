//! Searching guests: what they leave to the SDK, and what they lie about.

use crate::guests::{Place, driver, host, limits, read, still_serves};
use sepia::loader::{Fault, FaultKind};
use sepia_ir::{ErrorCode, SearchPart, SearchQuery, SearchReport};
use std::fs;

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.into(), regex: false, ignore_case: false, parts: vec![], hits: 3, context: 10 }
}

fn keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// Session, part and node of each hit.
fn hits(reports: &[SearchReport]) -> Vec<(&str, SearchPart, Option<i64>)> {
    let of_session = |found: &'_ sepia_ir::FoundSession| -> Vec<_> {
        found.hits.iter().map(|hit| (hit.part, hit.node_id)).collect()
    };
    let found = reports.iter().flat_map(|report| &report.sessions);
    found
        .flat_map(|found| of_session(found).into_iter().map(|(part, node)| (found.session.id.as_str(), part, node)))
        .collect()
}

#[tokio::test]
async fn a_guest_that_leaves_it_to_the_sdk_is_searched() {
    let (host, place) = (host(limits()), Place::new());
    fs::write(place.path("home/b.txt"), "four\nonce more, one\n").unwrap();
    let good = driver(&host, &place, "well_behaved").await;
    let search = |query: SearchQuery| read_search(&good, keys(&["a.txt", "gone.txt", "b.txt"]), query);
    let found = search(query("one")).await.unwrap();
    assert_eq!(hits(&found), [("a", SearchPart::User, Some(1)), ("b", SearchPart::User, Some(2))]);
    assert!(found.iter().all(|report| report.warnings.is_empty()));
    let found = search(SearchQuery { regex: true, ..query("^t[hw]") }).await.unwrap();
    assert_eq!(hits(&found), [("a", SearchPart::User, Some(2)), ("a", SearchPart::User, Some(3))]);
    assert!(!found[0].sessions[0].more);
    let found = search(SearchQuery { hits: 1, ..query("t") }).await.unwrap();
    assert!(found[0].sessions[0].more);
    let found = search(SearchQuery { parts: vec![SearchPart::Title], ..query("session b") }).await.unwrap();
    assert_eq!(hits(&found), [("b", SearchPart::Title, None)]);
    // The host says no to what it says no to everybody.
    let fault = search(SearchQuery { regex: true, ..query("(") }).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::Invalid), "{fault}");
}

async fn read_search(
    driver: &std::sync::Arc<dyn sepia::loader::Driver>,
    keys: Vec<String>,
    query: SearchQuery,
) -> Result<Vec<SearchReport>, Fault> {
    read(driver).search(keys, &query).await
}

#[tokio::test]
async fn hits_that_can_not_be_break_the_contract() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "lies_about_hits").await;
    let told = read_search(&bad, keys(&["a"]), query("true")).await.unwrap();
    assert_eq!(hits(&told), [("s", SearchPart::User, Some(1))]);
    for nothing in ["none", "no-id"] {
        assert!(hits(&read_search(&bad, keys(&["a"]), query(nothing)).await.unwrap()).is_empty(), "{nothing}");
    }
    for lie in [
        "many",
        "no-match",
        "beyond",
        "far-beyond",
        "backwards",
        "empty",
        "out-of-order",
        "overlapping",
        "inside-a-character",
        "long",
        "no-node",
        "negative-node",
        "title-of-a-node",
        "no-time",
        "fewer",
        "other-keys",
    ] {
        let fault = read_search(&bad, keys(&["a", "b"]), query(lie)).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Contract, "{lie}: {fault}");
    }
    let user = SearchQuery { parts: vec![SearchPart::User], ..query("other-part") };
    assert_eq!(read_search(&bad, keys(&["a"]), user).await.unwrap_err().kind, FaultKind::Contract);
    still_serves(&host).await;
}
