//! Guests that take too long: their call ends in its time, and others go on meanwhile.

use crate::guests::{Place, driver, host, hurried, limits, prepare, read, session, still_serves};
use sepia::loader::{FaultKind, LoadErrorKind};
use std::time::{Duration, Instant};

/// Half a second is the limit; the rest is for machines under load.
const SOON: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_ends_in_its_time() {
    let (host, place) = (host(hurried()), Place::new());
    let bad = driver(&host, &place, "loops_forever").await;
    let begun = Instant::now();
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Time, "{fault}");
    assert_eq!(fault.call, "session-read.scan");
    assert!(fault.message.contains("500 ms"), "{fault}");
    assert!(begun.elapsed() >= Duration::from_millis(500) && begun.elapsed() < SOON, "{:?}", begun.elapsed());
    still_serves(&host).await;
}

/// Even where there is but one thread for all.
#[tokio::test]
async fn calls_of_others_are_served_while_a_guest_loops() {
    let (host, place) = (host(hurried()), Place::new());
    let bad = driver(&host, &place, "loops_forever").await;
    let good = driver(&host, &place, "well_behaved").await;
    let begun = Instant::now();
    let looping = tokio::spawn(async move { read(&bad).scan().await.map(|_| Instant::now()) });
    for _ in 0..5 {
        read(&good).scan().await.unwrap();
    }
    assert!(!looping.is_finished(), "five calls took longer than the loop: {:?}", begun.elapsed());
    assert_eq!(looping.await.unwrap().unwrap_err().kind, FaultKind::Time);
}

#[tokio::test]
async fn waiting_for_a_far_clock_ends_in_its_time() {
    let (host, place) = (host(hurried()), Place::new());
    let bad = driver(&host, &place, "waits_forever").await;
    let begun = Instant::now();
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Time, "{fault}");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    still_serves(&host).await;
}

#[tokio::test]
async fn a_guest_that_never_says_who_it_is_is_refused() {
    let host = host(hurried());
    let begun = Instant::now();
    let error = prepare(&host, "loops_when_introduced").await.unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Start, "{error}");
    assert!(error.message.contains("500 ms"), "{error}");
    // Compiling comes on top.
    assert!(begun.elapsed() < SOON + Duration::from_secs(8), "{:?}", begun.elapsed());
    still_serves(&host).await;
}

#[tokio::test]
async fn each_pull_of_a_transcript_has_its_own_time() {
    let (host, place) = (host(hurried()), Place::new());
    let bad = driver(&host, &place, "loops_forever").await;
    let mut transcript = read(&bad).open(session("a")).await.unwrap();
    assert_eq!(transcript.batches.recv().await.unwrap().unwrap().len(), 1);
    let fault = transcript.batches.recv().await.unwrap().unwrap_err();
    assert_eq!((fault.kind, fault.call), (FaultKind::Time, "session-read.transcript.next"));
    assert!(transcript.batches.recv().await.is_none());
    still_serves(&host).await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "loops_forever").await;
    let given_up = tokio::time::timeout(Duration::from_millis(100), read(&bad).scan()).await;
    assert!(given_up.is_err());
    still_serves(&host).await;
}
