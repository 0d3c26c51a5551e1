//! What is written is read back as it was, up to what is declared.

use crate::demo::{Demo, of, shown};
use crate::session::{ID, foreign};
use crate::store::{Chat, REPLACE, SAVE, hash, read, save};
use proptest::prelude::*;
use sepia_conformance::arbitrary::{Kind, sessions};
use sepia_conformance::{InProcess, Outcome, Suite, equal_but_for};
use sepia_driver_cursor::Cursor;
use sepia_ir::{Branch, HistoryQuery, Role, SaveOptions, Session, SummaryDetail};
use sepia_sdk::SessionRead;

fn keeps_the_laws(demo: &Demo) -> usize {
    let report = Suite::new(&InProcess::<Cursor>::on(demo.host())).on_store(demo.home()).run();
    assert_eq!(report.failures(), Vec::<&Outcome>::new());
    report.sessions()
}

#[test]
fn a_session_of_another_agent_comes_back_whole() {
    let demo = Demo::new();
    let report = save(&demo, &foreign(), &SAVE).unwrap();
    equal_but_for(&foreign(), &read(&demo, ID), &report.losses).unwrap();
    let row = demo.row(ID);
    assert_eq!(
        (row.title.as_str(), row.model.as_str(), row.agent_mode.as_str()),
        ("Fix the sum", "some-model", "accept-edits")
    );
    assert_eq!(row.last_activity_at, foreign().last_activity_at);
    assert_eq!(keeps_the_laws(&demo), 1);
    // Reasoning is the one thing that the model does not see.
    let losses: Vec<Option<i64>> = report.losses.iter().map(|loss| loss.node_id).collect();
    assert_eq!(losses, [Some(1)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_session_comes_back_but_for_what_is_declared(session in sessions(Kind { branches: true, system: true })) {
        let demo = Demo::new();
        let report = save(&demo, &session, &SAVE).unwrap();
        let back = read(&demo, &report.id);
        prop_assert_eq!(equal_but_for(&session, &back, &report.losses), Ok(()));
        // And a second time, from here to a second store, and over itself.
        let second = Demo::new();
        let again = save(&second, &back, &SAVE).unwrap();
        prop_assert_eq!(equal_but_for(&back, &read(&second, &again.id), &again.losses), Ok(()));
        let over = save(&demo, &back, &REPLACE).unwrap();
        prop_assert_eq!(equal_but_for(&back, &read(&demo, &over.id), &over.losses), Ok(()));
        Chat::of(&demo, &report.id).is_sound();
        keeps_the_laws(&demo);
        history_is_the_live_branch(&demo, &back);
    }
}

/// Pages of history put together are the live branch.
fn history_is_the_live_branch(demo: &Demo, session: &Session) {
    let live: Vec<_> = sepia_ir::chain::live(&session.nodes, session.main_chain_id)
        .into_iter()
        .map(|at| session.nodes[at].clone())
        .collect();
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let query = HistoryQuery { limit: 3, before, branch: Branch::Live, index: None };
        let page = Cursor::history(&demo.host(), &of(&session.id), &query).unwrap();
        assert_eq!(page.total, live.len() as u64);
        before = Some(page.start);
        pages.splice(0..0, page.nodes);
        if page.start == 0 {
            break;
        }
    }
    assert_eq!(pages, live);
}

#[test]
fn a_copy_of_the_agents_own_session_has_the_same_messages() {
    for id in [
        "3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11",
        "7c2d9b10-4e8a-4b61-8f35-0c1d2e3f4a22",
        "ac900000-aaaa-4bbb-8ccc-ddddeeeeffff",
    ] {
        let source = Demo::samples();
        let session = source.read(id);
        let target = Demo::new();
        let mut copy = session.clone();
        copy.id = String::new();
        let report = save(&target, &copy, &SAVE).unwrap();
        let back = read(&target, &report.id);
        equal_but_for(&session, &back, &report.losses).unwrap();
        let folder = back.working_directory.clone();
        assert_eq!(folder, "/home/dev/shop");
        // All but results, of whose details the session has only what matters, are the same bytes.
        let chat = Chat::at(&target, &format!(".cursor/chats/11e9fe063b91149eb10c6daf331adfaa/{}", report.id));
        chat.is_sound();
        for node in session.nodes.iter().filter(|node| node.role != Role::Tool) {
            let blob = crate::demo::meta(&node.metadata)["blob"].as_str().unwrap().to_owned();
            let found: i64 =
                chat.database.query_row("SELECT count(*) FROM blobs WHERE id = ?", [&blob], |row| row.get(0)).unwrap();
            assert_eq!(found, 1, "{id} {blob}");
        }
        let metadata = crate::demo::meta(&session.metadata);
        assert_eq!(chat.root().todos.len(), metadata["todos"].as_array().map_or(0, Vec::len));
        assert_eq!(chat.root().archives.len(), usize::from(metadata["compactions"].is_u64()));
        assert_eq!(chat.turns().len(), usize::try_from(metadata["turns"].as_u64().unwrap_or(0)).unwrap());
        assert_eq!(shown(&back).len(), shown(&session).len());
    }
}

#[test]
fn signatures_of_its_own_stay_as_they_are_and_nobody_elses_are_made_up() {
    let source = Demo::samples();
    let mut session = source.read("3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11");
    session.id = String::new();
    let target = Demo::new();
    let report = save(&target, &session, &SAVE).unwrap();
    let chat = Chat::at(&target, &format!(".cursor/chats/11e9fe063b91149eb10c6daf331adfaa/{}", report.id));
    let messages = chat.messages();
    assert_eq!(
        messages[3]["content"][0],
        serde_json::json!({"type": "redacted-reasoning", "data": "b3BhcXVlLXNlYWxlZC1yZWFzb25pbmctMQ=="})
    );
    assert_eq!(messages[8]["content"][0]["signature"], serde_json::json!("c2lnLXNhbXBsZQ=="));
}

#[test]
fn what_the_agent_adds_later_is_shown_and_what_rode_along_stays() {
    use crate::build::hex;
    use prost::Message;
    use rusqlite::{Connection, params};
    use sha2::{Digest, Sha256};
    let demo = Demo::new();
    let mut session = foreign();
    // A system message and a branch that was left, between the messages.
    session.nodes.insert(
        0,
        sepia_ir::MessageNode { content: "Be brief.".into(), ..sepia_ir::MessageNode::new(-1, Role::System, 5.0) },
    );
    for node in &mut session.nodes {
        node.node_id += 1;
        node.parent_node_id = node.parent_node_id.map(|id| id + 1);
    }
    session.nodes[1].parent_node_id = Some(0);
    let left = sepia_ir::MessageNode {
        content: "Left.".into(),
        parent_node_id: Some(1),
        ..sepia_ir::MessageNode::new(8, Role::User, 6.0)
    };
    session.nodes.push(left);
    session.main_chain_id = 7;
    let report = save(&demo, &session, &SAVE).unwrap();
    equal_but_for(&session, &read(&demo, ID), &report.losses).unwrap();
    let folder = format!(".cursor/chats/{}/{ID}", crate::store::DEMO);
    let database = Connection::open(demo.path(&format!("{folder}/store.db"))).unwrap();
    let blob = |data: &[u8]| {
        let id = Sha256::digest(data).to_vec();
        database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", params![hex(&id), data]).unwrap();
        id
    };
    let mut root = Chat::of(&demo, ID).root();
    root.messages
        .push(blob(br#"{"role":"user","content":[{"type":"text","text":"<user_query>\nMore.\n</user_query>"}]}"#));
    root.messages.push(blob(br#"{"role":"assistant","content":[{"type":"text","text":"Fixed."}],"id":"1"}"#));
    let root = hex(&blob(&root.encode_to_vec()));
    let mut settings = Chat::of(&demo, ID).settings();
    settings["latestRootBlobId"] = serde_json::json!(root);
    settings["lastUsedModel"] = serde_json::json!("composer-2");
    database.execute("UPDATE meta SET value = ? WHERE key = '0'", [hex(settings.to_string().as_bytes())]).unwrap();
    database.close().unwrap();
    let back = read(&demo, ID);
    let contents: Vec<&str> = back.nodes.iter().map(|node| node.content.as_str()).collect();
    assert_eq!(contents[0], "Be brief.");
    assert_eq!(contents[8..], ["Left.", "More.", "Fixed."]);
    assert_eq!(back.nodes[9].parent_node_id, Some(8), "the live branch goes on where it was");
    assert_eq!(back.main_chain_id, 11);
    assert_eq!(back.model, "composer-2");
    let metadata = crate::demo::meta(&back.metadata);
    assert_eq!(metadata["elsewhere"], serde_json::json!({"kept": true}));
    assert!(metadata["stats"]["messages"].as_u64().unwrap() > 9, "counts are those of now");
    assert_eq!(back.prompt_history.last().unwrap().content, "More.");
    assert_eq!(back.nodes[2].metadata, r#"{"elsewhere":{"line":2}}"#);
    keeps_the_laws(&demo);
    // It is found by what is carried too.
    assert_eq!(demo.rows(SummaryDetail::Stats).len(), 1);
}

#[test]
fn a_dry_run_tells_the_same_and_leaves_nothing() {
    let demo = Demo::new();
    let told =
        save(&demo, &foreign(), &SaveOptions { dry_run: true, replace: false, ..SaveOptions::default() }).unwrap();
    assert!(!demo.path(".cursor").exists());
    assert_eq!(save(&demo, &foreign(), &SAVE).unwrap(), told);
    let before = hash(&demo);
    save(&demo, &foreign(), &SaveOptions { dry_run: true, replace: true, ..SaveOptions::default() }).unwrap();
    assert_eq!(hash(&demo), before);
}

#[test]
fn what_rides_along_is_hostile_too() {
    use rusqlite::Connection;
    let demo = Demo::new();
    save(&demo, &foreign(), &SAVE).unwrap();
    let path = demo.path(&format!(".cursor/chats/{}/{ID}/store.db", crate::store::DEMO));
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    for value in [
        "",
        "null",
        "[]",
        "{",
        "{\"metadata\":7,\"role\":\"king\"}",
        "{\"content\":[1],\"toolCalls\":{}}",
        deep.as_str(),
    ] {
        let database = Connection::open(&path).unwrap();
        database.execute("UPDATE meta SET value = ? WHERE key LIKE 'sepia:%'", [value]).unwrap();
        database.close().unwrap();
        keeps_the_laws(&demo);
        let back = read(&demo, ID);
        assert!(back.nodes.iter().any(|node| node.content == "Fixed."), "{value:.40}");
    }
    for value in [
        "",
        "7",
        "{}",
        "{\"generation\":\"aa\",\"root\":\"\",\"session\":{\"nodes\":[{}],\"createdAt\":\"x\"}}",
        deep.as_str(),
    ] {
        let database = Connection::open(&path).unwrap();
        database.execute("UPDATE meta SET value = ? WHERE key = 'sepia'", [value]).unwrap();
        database.close().unwrap();
        keeps_the_laws(&demo);
        assert_eq!(read(&demo, ID).nodes.len(), 7, "{value:.40}");
    }
}
