//! Another title.

use crate::demo::{Demo, of};
use crate::session::{ID, foreign};
use crate::store::{Chat, SAVE, read, save, writer};
use sepia_driver_cursor::Cursor;
use sepia_sdk::SessionWrite;

const A: &str = "3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11";
const G: &str = "ac900000-aaaa-4bbb-8ccc-ddddeeeeffff";

#[test]
fn a_rename_writes_the_name_and_the_title_and_nothing_else() {
    let demo = Demo::samples();
    for (id, folder) in [(A, ".cursor/chats/11e9fe063b91149eb10c6daf331adfaa"), (G, ".cursor/acp-sessions")] {
        let folder = format!("{folder}/{id}");
        let before = Chat::at(&demo, &folder);
        let (mut settings, mut note) = (before.settings(), before.note());
        let session = demo.read(id);
        Cursor::rename(&writer(&demo), &of(id), "New \"name\"").unwrap();
        let after = Chat::at(&demo, &folder);
        settings["name"] = serde_json::json!("New \"name\"");
        note["title"] = serde_json::json!("New \"name\"");
        assert_eq!((after.settings(), after.note()), (settings, note));
        let renamed = demo.read(id);
        assert_eq!((renamed.title.as_str(), &renamed.nodes), ("New \"name\"", &session.nodes));
    }
}

#[test]
fn a_secret_in_the_settings_stays_there_and_an_unknown_member_too() {
    let demo = Demo::samples();
    let folder = format!(".cursor/chats/11e9fe063b91149eb10c6daf331adfaa/{A}");
    let mut settings = Chat::at(&demo, &folder).settings();
    settings["blobEncryptionKey"] = serde_json::json!("c2VjcmV0");
    settings["future"] = serde_json::json!({"a": [1, 2.5]});
    let database = rusqlite::Connection::open(demo.path(&format!("{folder}/store.db"))).unwrap();
    database.execute("UPDATE meta SET value = ?", [crate::build::hex(settings.to_string().as_bytes())]).unwrap();
    database.close().unwrap();
    Cursor::rename(&writer(&demo), &of(A), "Other").unwrap();
    settings["name"] = serde_json::json!("Other");
    assert_eq!(Chat::at(&demo, &folder).settings(), settings);
}

#[test]
fn a_title_that_rode_along_gives_way() {
    let demo = Demo::new();
    let mut session = foreign();
    session.title = "x ".repeat(200).trim().to_owned();
    save(&demo, &session, &SAVE).unwrap();
    assert_eq!(read(&demo, ID).title, session.title);
    Cursor::rename(&writer(&demo), &of(ID), "Short").unwrap();
    assert_eq!(read(&demo, ID).title, "Short");
    assert_eq!(demo.row(ID).title, "Short");
}
