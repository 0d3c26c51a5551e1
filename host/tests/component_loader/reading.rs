//! A good guest: what it gives arrives, whole and in order.

use crate::guests::{Place, driver, host, limits, prepare, read, session, still_serves};
use sepia::loader::component::GrantedStore;
use sepia::loader::{Capability, FaultKind, Form};
use sepia_ir::{Branch, ErrorCode, HistoryQuery, SummaryDetail};
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_guest_is_introduced_and_read() {
    let (host, place) = (host(limits()), Place::new());
    let prepared = prepare(&host, "well_behaved").await.unwrap();
    let about = prepared.about().clone();
    assert_eq!(about.manifest.id, "guest");
    assert_eq!(about.capabilities, [Capability::SessionRead]);
    assert_eq!(about.form, Form::Component);
    assert_eq!(about.build, prepared.sha256());
    assert!(prepared.imports().iter().any(|name| name == "sepia:driver/bulk-files@1.0.0"));
    let stores = place.grant(&prepared);
    let good = prepared.into_driver(stores);
    let rows = read(&good).summaries(vec!["a.txt".into(), "b.txt".into()], SummaryDetail::Row).await.unwrap();
    let ids: Vec<_> = rows.iter().flat_map(|summary| &summary.sessions).map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    let query = HistoryQuery { limit: 2, before: None, branch: Branch::All, index: None };
    let page = read(&good).history(session("a"), query).await.unwrap();
    assert_eq!(page.nodes.iter().map(|node| node.content.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(read(&good).locks().await.unwrap().is_empty());
    let fault = read(&good).summary_of(session("c")).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::NotFound), "{fault}");
}

/// Twenty thousand nodes come in batches, each once and in order, on both kinds of executor.
async fn a_long_transcript() {
    let (host, place) = (host(limits()), Place::new());
    let mut text = String::new();
    for line in 0..20_000 {
        writeln!(text, "line {line} {}", "x".repeat(100)).unwrap();
    }
    fs::write(place.path("home/long.txt"), &text).unwrap();
    let good = driver(&host, &place, "well_behaved").await;
    let mut transcript = read(&good).open(session("long")).await.unwrap();
    assert_eq!(transcript.header.id, "long");
    let (mut nodes, mut batches) = (Vec::new(), 0);
    while let Some(batch) = transcript.batches.recv().await {
        nodes.extend(batch.unwrap());
        batches += 1;
    }
    assert!(batches > 4, "{batches} batches");
    let lines: Vec<_> = nodes.iter().map(|node| node.content.as_str()).collect();
    assert_eq!(lines, text.lines().collect::<Vec<_>>());
    assert!(nodes.iter().map(|node| node.node_id).eq(1..=20_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_transcript_on_two_threads() {
    a_long_transcript().await;
}

#[tokio::test]
async fn a_long_transcript_on_one_thread() {
    a_long_transcript().await;
}

#[tokio::test]
async fn a_native_copy_comes_byte_for_byte() {
    let (host, place) = (host(limits()), Place::new());
    let good = driver(&host, &place, "well_behaved").await;
    let mut copy = read(&good).native(session("a")).await.unwrap();
    assert_eq!(copy.name, "a.txt");
    let mut bytes = Vec::new();
    while let Some(chunk) = copy.chunks.recv().await {
        bytes.extend(chunk.unwrap());
    }
    assert_eq!(bytes, b"one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_reading() {
    let (host, place) = (host(limits()), Place::new());
    fs::write(place.path("home/long.txt"), "line\n".repeat(10_000)).unwrap();
    let good = driver(&host, &place, "well_behaved").await;
    let mut transcript = read(&good).open(session("long")).await.unwrap();
    transcript.batches.recv().await.unwrap().unwrap();
    drop(transcript);
    still_serves(&host).await;
}

#[tokio::test]
async fn a_store_that_is_not_there_is_empty_and_one_that_is_a_file_is_an_error() {
    let (host, place) = (host(limits()), Place::new());
    let granted = |at: &str| {
        let host = host.clone();
        let at = place.path(at);
        async move {
            let prepared = prepare(&host, "well_behaved").await.unwrap();
            let request = prepared.about().manifest.stores[0].clone();
            let store = GrantedStore { request, place: at, write: false, refuse: Arc::new(|_| false) };
            prepared.into_driver(vec![store])
        }
    };
    let absent = granted("nowhere").await;
    assert!(read(&absent).scan().await.unwrap().entries.is_empty());
    let file = granted("secret.txt").await;
    let fault = read(&file).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::Store), "{fault}");
}

#[tokio::test]
async fn a_root_that_is_a_link_is_read() {
    let (host, place) = (host(limits()), Place::new());
    std::os::unix::fs::symlink(place.path("home"), place.path("link")).unwrap();
    let prepared = prepare(&host, "well_behaved").await.unwrap();
    let mut stores = place.grant(&prepared);
    stores[0].place = place.path("link");
    let good = prepared.into_driver(stores);
    assert_eq!(read(&good).scan().await.unwrap().entries.len(), 2);
}
