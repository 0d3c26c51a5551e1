//! What is written and read again is what was to be written, whatever that is.

use crate::stand::{REPLACE, Stand, WRITE, foreign};
use proptest::prelude::*;
use sepia_conformance::arbitrary::{Kind, sessions};
use sepia_conformance::equal_but_for;
use sepia_ir::{LossKind, Session};

fn comes_back(stand: &Stand, session: &Session) {
    let report = stand.save(session, &WRITE).unwrap();
    assert!(report.losses.iter().all(|loss| loss.kind == LossKind::MetadataOnly), "{:?}", report.losses);
    let read = stand.read(&report.id);
    if let Err(what) = equal_but_for(session, &read, &report.losses) {
        panic!("{what}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_session_comes_back(session in sessions(Kind { branches: true, system: true })) {
        let stand = Stand::new();
        comes_back(&stand, &session);
        stand.holds_the_laws();
    }
}

#[test]
fn a_session_of_another_agent_comes_back_to_the_byte() {
    let stand = Stand::new();
    let session = foreign();
    let (report, read) = stand.saved(&session);
    assert_eq!(equal_but_for(&session, &read, &report.losses), Ok(()));
    // Free-form JSON is the text that it was.
    let arguments = |session: &Session| session.nodes[1].tool_calls[1].arguments.clone();
    assert_eq!(arguments(&read), arguments(&session));
    assert_eq!(read.nodes[1].metadata, session.nodes[1].metadata);
    stand.holds_the_laws();
}

#[test]
fn the_list_shows_what_the_session_says() {
    let stand = Stand::new();
    let (report, read) = stand.saved(&foreign());
    assert_eq!(stand.ids(), [report.id]);
    assert_eq!((read.title.as_str(), read.working_directory.as_str()), ("Round the total", "/p/demo"));
    assert_eq!((read.created_at, read.last_activity_at), (foreign().created_at, foreign().last_activity_at));
    assert_eq!(read.backend_type, "cline");
}

#[test]
fn a_replaced_session_is_the_new_one() {
    let stand = Stand::new();
    let mut session = foreign();
    let id = stand.save(&session, &WRITE).unwrap().id;
    for (round, title) in ["Second", "Third"].into_iter().enumerate() {
        session.id.clone_from(&id);
        session.title = title.into();
        session.nodes.truncate(1);
        session.nodes[0].content = title.into();
        session.main_chain_id = 1;
        let report = stand.save(&session, &REPLACE).unwrap();
        let read = stand.read(&id);
        assert_eq!(equal_but_for(&session, &read, &report.losses), Ok(()), "{round}");
        // Nothing is left of the one before.
        assert_eq!(stand.files(&id).len(), 2, "{:?}", stand.files(&id));
        stand.holds_the_laws();
    }
}
