//! The laws of all drivers, on this one.

use crate::demo::Demo;
use sepia_conformance::{InProcess, Outcome, Suite};
use sepia_driver_cursor::Cursor;

/// Number of sessions; no law is broken and no byte changes.
pub fn keeps_the_laws(demo: &Demo) -> usize {
    let report = Suite::new(&InProcess::<Cursor>::on(demo.host())).on_store(demo.home()).run();
    assert_eq!(report.failures(), Vec::<&Outcome>::new());
    report.sessions()
}

#[test]
fn the_samples_keep_the_laws() {
    // Six of chats (one with a sub-agent), one of the agent protocol, two transcripts, one of the IDE.
    assert_eq!(keeps_the_laws(&Demo::samples()), 10);
}

#[test]
fn stores_that_are_not_there_are_empty() {
    assert_eq!(keeps_the_laws(&Demo::new()), 0);
}
