//! Damaged tasks: opening one must not lose it, nor anything of it.

use crate::demo::{Demo, contents, meta, warnings};
use crate::tasks::{api, item, shown};
use serde_json::json;

/// Five tasks, each with something wrong, and a list that is cut.
pub fn five() -> Demo {
    let demo = Demo::new();
    let id = |n: u32| format!("170000000000{n}");
    demo.task(&id(1), "ui_messages.json", format!("{}]", shown()));
    demo.task(&id(1), "api_conversation_history.json", api().to_string());
    let whole = api().to_string();
    let cut = whole.find("Also this").unwrap();
    demo.task(&id(2), "api_conversation_history.json", &whole[..cut]);
    demo.task(&id(2), "ui_messages.json", shown().to_string());
    demo.task(&id(4), "api_conversation_history.json", whole);
    let mut odd = shown().to_string().into_bytes();
    let at = odd.windows(4).position(|bytes| bytes == b"Seen").unwrap();
    odd[at] = 0xD7;
    demo.task(&id(5), "ui_messages.json", odd);
    let list = json!([item(&id(1)), item(&id(2)), item(&id(3)), item(&id(5)), item(&id(9))]).to_string();
    let path = demo.list(&json!([]));
    std::fs::write(path, &list[..list.len() - 40]).unwrap();
    demo
}

#[test]
fn all_five_are_listed_with_their_states() {
    let demo = five();
    let states: Vec<_> = (1..=5)
        .map(|n| meta(&demo.row(&format!("170000000000{n}")).metadata)["state"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["complete", "complete", "no-files", "unlisted", "shown-only"]);
    assert_eq!(demo.ids().len(), 5);
    let scan = demo.scan();
    assert_eq!(scan.warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<_>>(), ["damaged-list"]);
    assert!(scan.warnings[0].offset.is_some());
}

#[test]
fn each_is_read_as_far_as_it_goes() {
    let demo = five();
    let first = demo.read("1700000000001");
    assert_eq!((first.nodes.len(), warnings(&first)), (7, vec!["trailing-bytes".to_owned()]));
    let second = demo.read("1700000000002");
    assert_eq!(contents(&second), ["Fix the parser", "I will write it.", "saved", "", "Done."]);
    assert_eq!(warnings(&second), ["torn-record"]);
    assert_eq!(demo.read("1700000000004").nodes.len(), 7);
    let fifth = demo.read("1700000000005");
    assert_eq!((contents(&fifth)[4], warnings(&fifth)), ("\u{fffd}een.", vec!["not-utf-8".to_owned()]));
}

#[test]
fn of_a_task_whose_messages_are_gone_the_shown_ones_are_read() {
    for broken in ["", "[", "{}", "[{\"role\":\"us", "nothing", "[1,2]"] {
        let demo = Demo::new();
        demo.task("1700000000001", "api_conversation_history.json", broken);
        demo.task("1700000000001", "ui_messages.json", shown().to_string());
        let session = demo.read("1700000000001");
        assert_eq!((session.nodes.len(), warnings(&session)), (5, vec!["no-messages".to_owned()]), "{broken:?}");
    }
}
