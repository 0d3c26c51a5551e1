//! Prompts, pages and batches.

use crate::demo::{Demo, answer, ids, user};
use sepia_ir::Branch;

#[test]
fn prompts_come_in_order_whatever_unit_their_times_have() {
    let demo = Demo::new();
    demo.session("s", None);
    demo.sql(
        "INSERT INTO prompt_history (content, timestamp, session_id, is_shell) VALUES
         ('third', 1767225603, 's', 0), ('first', 1767225601000, 's', 0), ('!second', 1767225602, 's', 1), ('other', 1, 'x', 0)",
    );
    let session = demo.read("s");
    let told: Vec<_> = session.prompt_history.iter().map(|p| (p.content.as_str(), p.timestamp, p.is_shell)).collect();
    assert_eq!(
        told,
        [
            ("first", 1_767_225_601_000.0, false),
            ("!second", 1_767_225_602_000.0, true),
            ("third", 1_767_225_603_000.0, false)
        ]
    );
}

#[test]
fn pages_follow_the_live_branch_or_all() {
    let demo = Demo::new();
    demo.session("s", Some(9));
    for id in 1..=9 {
        let parent = match id {
            1 => None,
            6 => Some(3),
            id => Some(id - 1),
        };
        let message = if id % 2 == 1 { user(&id.to_string()) } else { answer(&id.to_string()) };
        demo.node("s", id, parent, message, None);
    }
    let page = demo.page("s", Branch::Live, 3, None);
    assert_eq!((ids(&page.nodes), page.start, page.total), (vec![7, 8, 9], 4, 7));
    let page = demo.page("s", Branch::Live, 3, Some(page.start));
    assert_eq!((ids(&page.nodes), page.start), (vec![2, 3, 6], 1));
    let page = demo.page("s", Branch::All, 4, Some(6));
    assert_eq!((ids(&page.nodes), page.start, page.total), (vec![3, 4, 5, 6], 2, 9));
    assert_eq!(demo.keeps_the_laws(), 1);
}
