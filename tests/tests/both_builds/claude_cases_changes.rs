//! Stores that change while they are read, seen through both builds.

use crate::both::Both;
use crate::store::{S1, S2, Store, lines, talk, user};
use sepia_ir::SessionRef;
use std::fs;
use std::io::Write;

/// The agent writes on while its session is read: what was there comes, nothing is torn, and
/// the next reading has the rest.
#[test]
fn a_session_that_grows() {
    let store = Store::new();
    let file = store.session(S1, lines(&talk(3_000)));
    let both = Both::over(store.root());
    for driver in [&both.component, &both.program] {
        fs::write(&file, lines(&talk(3_000))).unwrap();
        let nodes = both.runtime().block_on(async {
            let session = SessionRef { id: S1.into(), agent_id: None };
            let mut transcript = driver.session_read().unwrap().open(session).await.unwrap();
            let mut nodes = transcript.batches.recv().await.unwrap().unwrap();
            let more = lines(&[user("m6001", Some("m6000"), "meanwhile", 6001)]);
            let mut grows = fs::File::options().append(true).open(&file).unwrap();
            grows.write_all(more.as_bytes()).unwrap();
            grows.write_all(b"{\"type\":\"user\",\"uuid\":\"half").unwrap();
            while let Some(batch) = transcript.batches.recv().await {
                nodes.extend(batch.unwrap());
            }
            nodes
        });
        assert!(nodes.len() == 6_000 || nodes.len() == 6_001, "{}", nodes.len());
        assert_eq!((nodes[0].content.as_str(), nodes[5_999].content.as_str()), ("prompt m1", "answer m6000"));
    }
    let page = both.newest(S1, 1);
    assert_eq!((page.nodes[0].content.as_str(), page.total), ("meanwhile", 6_001));
    assert_eq!(both.read(S1).nodes.len(), 6_001);
}

/// Removed between the scan and the question for its row: no session, no failure.
#[test]
fn a_session_that_goes_away() {
    let store = Store::new();
    let gone = store.session(S1, lines(&talk(1)));
    store.session(S2, lines(&talk(1)));
    let both = Both::over(store.root());
    let keys: Vec<String> = both.scan().entries.into_iter().map(|entry| entry.key).collect();
    fs::remove_file(gone).unwrap();
    let found: Vec<usize> = both.summaries(&keys).iter().map(|summary| summary.sessions.len()).collect();
    assert_eq!(found, [0, 1]);
    assert_eq!(both.ids(), [S2]);
}

/// Cut down while it is open: fewer nodes, or a fault of that call; the next call works.
#[test]
fn a_session_that_shrinks() {
    let store = Store::new();
    let file = store.session(S1, lines(&talk(3_000)));
    let both = Both::over(store.root());
    for driver in [&both.component, &both.program] {
        fs::write(&file, lines(&talk(3_000))).unwrap();
        both.runtime().block_on(async {
            let session = SessionRef { id: S1.into(), agent_id: None };
            let mut transcript = driver.session_read().unwrap().open(session).await.unwrap();
            transcript.batches.recv().await.unwrap().unwrap();
            fs::write(&file, lines(&talk(2))).unwrap();
            let mut nodes = 0;
            while let Some(Ok(batch)) = transcript.batches.recv().await {
                nodes += batch.len();
            }
            assert!(nodes <= 6_000);
        });
        assert_eq!(both.read(S1).nodes.len(), 4);
    }
}
