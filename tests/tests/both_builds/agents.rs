//! The suite on both builds of every driver, over the samples of its agent.

use crate::both::Both;
use crate::laws::both_keep_the_laws_over;
use crate::store::Store;

#[test]
fn of_cline() {
    // Sessions that the samples' README counts: with sub-agents and teammates, and in `wal` the
    // one that is only in the log.
    for (sample, sessions) in
        [("store", 13), ("hub", 4), ("wal", 14), ("truncated", 1), ("compacted", 1), ("file-mention", 1)]
    {
        let store = Store::sample(&format!("cline/{sample}"));
        let both = Both::of("cline", &[("cline", store.root())]);
        assert_eq!(both_keep_the_laws_over(&both, &store), sessions, "{sample}");
    }
}

#[test]
fn of_cursor() {
    let store = Store::sample("cursor/home");
    let [cursor, config, ide] =
        [".cursor", ".config/cursor", ".config/Cursor/User"].map(|place| store.root().join(place));
    let both = Both::of("cursor", &[("cursor", &cursor), ("config", &config), ("ide", &ide)]);
    // Chats with a sub-agent, one of the agent protocol, transcripts alone, one of the IDE.
    assert_eq!(both_keep_the_laws_over(&both, &store), 10);
}

#[test]
fn of_devin() {
    // Rows of the tables, with the sub-agents that are trees of their own.
    for (sample, sessions) in [
        ("basic", 2),
        ("tools", 1),
        ("branches", 3),
        ("subagent", 4),
        ("twins", 2),
        ("hidden", 3),
        ("locked", 3),
        ("compaction", 1),
        ("malformed", 1),
        ("old-schema", 1),
        ("wal", 1),
    ] {
        let store = Store::sample(&format!("devin/{sample}"));
        let folder = store.root().join("cli");
        let both = Both::of("devin", &[("database", &folder.join("sessions.db")), ("cli", &folder)]);
        assert_eq!(both_keep_the_laws_over(&both, &store), sessions, "{sample}");
    }
}
