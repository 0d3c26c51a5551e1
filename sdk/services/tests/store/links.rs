//! Links: which are followed, which are not, and that each directory is seen once.

use crate::ground::{Ground, paths, request, text};
use sepia_ir::StoreKind;
use sepia_services::{ServiceError, SkipReason, Store};

/// Linked projects, a loop, a duplicate and a dangling link, as people have them.
fn linked_projects() -> Ground {
    let ground = Ground::new();
    ground.file("shared/-p-demo/s1.jsonl", "one\n");
    ground.file("store/projects/-p-own/s2.jsonl", "two\n");
    ground.link("store/projects/-p-demo", ground.at("shared/-p-demo"));
    ground.link("store/projects/-p-loop", ground.at("store/projects"));
    ground.link("store/projects/-p-dup", "-p-demo");
    ground.link("store/projects/-p-gone", "/nowhere/at/all");
    ground.link("store/projects/-p-self", "-p-self");
    ground
}

#[test]
fn linked_projects_are_seen_once() {
    let ground = linked_projects();
    let store = ground.open(&["projects"]);
    assert_eq!(paths(&store, ".jsonl"), ["projects/-p-demo/s1.jsonl", "projects/-p-own/s2.jsonl"]);
    assert_eq!(text(&store, "projects/-p-demo/s1.jsonl").unwrap(), "one\n");
    let links: Vec<_> = store.links().iter().map(|link| (link.path.as_str(), link.target.clone())).collect();
    assert_eq!(links, [("projects/-p-demo", ground.at("shared/-p-demo"))]);
    let skipped: Vec<_> = store.skipped_links().iter().map(|link| (link.path.as_str(), link.why)).collect();
    let expected = [
        ("projects/-p-dup", SkipReason::Duplicate),
        ("projects/-p-gone", SkipReason::Dangling),
        ("projects/-p-loop", SkipReason::Inside),
        ("projects/-p-self", SkipReason::Dangling),
    ];
    assert_eq!(skipped, expected);
}

#[test]
fn the_same_in_a_store_whose_links_are_at_its_root() {
    let ground = linked_projects();
    let open = |follow: &[&str]| ground.try_open("store/projects", follow, &|_| false).unwrap();
    assert_eq!(paths(&open(&[""]), ".jsonl"), ["-p-demo/s1.jsonl", "-p-own/s2.jsonl"]);
    assert_eq!(paths(&open(&[]), ".jsonl"), ["-p-own/s2.jsonl"]);
}

#[test]
fn without_the_stores_leave_no_link_is_followed_out() {
    let ground = linked_projects();
    let store = ground.open(&[]);
    assert_eq!(paths(&store, ".jsonl"), ["projects/-p-own/s2.jsonl"]);
    assert!(matches!(text(&store, "projects/-p-demo/s1.jsonl"), Err(ServiceError::Outside(_))));
    assert!(matches!(store.walk("projects/-p-demo", 1, &[]), Err(ServiceError::Outside(_))));
}

#[test]
fn the_store_itself_may_be_a_link_and_keeps_the_name_that_the_person_knows() {
    let ground = Ground::new();
    ground.file("real/a/s.jsonl", "here");
    ground.link("store", ground.at("real"));
    let store = ground.open(&[]);
    assert_eq!(store.place(), ground.at("store"));
    assert_eq!(paths(&store, ".jsonl"), ["a/s.jsonl"]);
    assert_eq!(text(&store, "a/s.jsonl").unwrap(), "here");
}

#[test]
fn a_place_that_is_refused_is_not_followed_and_said_to_be_missing() {
    let ground = Ground::new();
    ground.file("secret/id.jsonl", "key");
    ground.link("store/in", ground.at("secret"));
    ground.link("store/twice", ground.at("hop"));
    ground.link("hop", ground.at("secret"));
    let secret = ground.at("secret");
    let store = ground.try_open("store", &[""], &|dir| dir == secret).unwrap();
    assert_eq!(store.links().len(), 0);
    let report = store.walk("", 5, &[]).unwrap();
    assert_eq!(report.files, []);
    let failed: Vec<_> = report.failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(failed, ["in", "twice"]);
    assert!(text(&store, "in/id.jsonl").is_err());
    ground.link("root", ground.at("secret"));
    assert!(matches!(ground.try_open("root", &[], &|dir| dir == secret), Err(ServiceError::Refused(_))));
}

#[test]
fn a_link_to_what_holds_the_store_is_not_followed() {
    let ground = Ground::new();
    ground.file("store/s.jsonl", "");
    ground.file("other.jsonl", "");
    ground.link("store/up", "..");
    ground.link("store/root", "/");
    let store = ground.open(&[""]);
    let why: Vec<_> = store.skipped_links().iter().map(|link| link.why).collect();
    assert_eq!(why, [SkipReason::Around, SkipReason::Around]);
    let report = store.walk("", 64, &[".jsonl".into()]).unwrap();
    assert_eq!(report.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["s.jsonl"]);
}

#[test]
fn links_below_a_linked_directory_and_beside_the_named_places_are_not_followed() {
    let ground = Ground::new();
    ground.file("shared/demo/s.jsonl", "x");
    ground.file("else/t.jsonl", "y");
    ground.link("shared/demo/more", ground.at("else"));
    ground.link("store/projects/demo", ground.at("shared/demo"));
    ground.link("store/projects/inner/deep", ground.at("else"));
    ground.link("store/top", ground.at("else"));
    ground.folder("store/projects/inner");
    let store = ground.open(&["projects"]);
    assert_eq!(paths(&store, ".jsonl"), ["projects/demo/s.jsonl"]);
    assert!(matches!(text(&store, "projects/demo/more/t.jsonl"), Err(ServiceError::Outside(_))));
    assert!(matches!(text(&store, "top/t.jsonl"), Err(ServiceError::Outside(_))));
}

#[test]
fn a_linked_file_is_seen_where_its_target_is_inside() {
    let ground = Ground::new();
    ground.file("outside.jsonl", "out");
    ground.file("shared/p/s.jsonl", "shared");
    ground.file("store/a/real.jsonl", "in");
    ground.link("store/p", ground.at("shared/p"));
    ground.link("store/b/relative.jsonl", "../a/real.jsonl");
    ground.link("store/b/absolute.jsonl", ground.at("store/a/real.jsonl"));
    ground.link("store/b/through.jsonl", ground.at("shared/p/s.jsonl"));
    ground.link("store/b/out.jsonl", ground.at("outside.jsonl"));
    ground.link("store/b/out-too.jsonl", "../../outside.jsonl");
    ground.link("store/b/chained.jsonl", "out.jsonl");
    ground.link("store/b/gone.jsonl", "nothing.jsonl");
    ground.link("store/b/folder.jsonl", "../a");
    ground.link("store/b/loop.jsonl", "loop.jsonl");
    let store = ground.open(&[""]);
    let report = store.walk("", 5, &[".jsonl".into()]).unwrap();
    let seen: Vec<_> = report.files.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
    let expected = [
        ("a/real.jsonl", 2),
        ("b/absolute.jsonl", 2),
        ("b/relative.jsonl", 2),
        ("b/through.jsonl", 6),
        ("p/s.jsonl", 6),
    ];
    assert_eq!(seen, expected);
    let failed: Vec<_> = report.failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(failed, ["b/chained.jsonl", "b/loop.jsonl", "b/out-too.jsonl", "b/out.jsonl"]);
    assert_eq!(text(&store, "b/absolute.jsonl").unwrap(), "in");
    assert_eq!(text(&store, "b/through.jsonl").unwrap(), "shared");
    for path in ["b/out.jsonl", "b/out-too.jsonl", "b/chained.jsonl"] {
        assert!(matches!(text(&store, path), Err(ServiceError::Outside(_))), "{path}");
    }
}

#[test]
fn whether_a_file_outside_exists_is_not_told() {
    let ground = Ground::new();
    ground.file("there", "x");
    ground.link("store/yes", ground.at("there"));
    ground.link("store/no", ground.at("not-there"));
    let store = ground.open(&[]);
    let told = |path: &str| text(&store, path).unwrap_err().to_string().replace(path, "PATH");
    assert_eq!(told("yes"), told("no"));
}

#[test]
fn what_does_not_exist_is_empty_and_what_is_no_directory_is_an_error() {
    let ground = Ground::new();
    let store = ground.open(&["projects"]);
    assert!(!store.exists());
    assert!(store.root().is_none());
    assert_eq!(store.walk("", 9, &[]).unwrap().files, []);
    assert!(matches!(text(&store, "x"), Err(ServiceError::NotFound(_))));
    ground.file("plain", "x");
    assert!(!ground.try_open("plain/below", &[], &|_| false).unwrap().exists());
    assert!(matches!(ground.try_open("plain", &[], &|_| false), Err(ServiceError::Io { .. })));
}

#[test]
fn a_database_has_a_place_and_no_files() {
    let ground = Ground::new();
    ground.file("state.db", "x");
    let store = Store::open(&request(StoreKind::Database, &[]), &ground.at("state.db"), &|_| false).unwrap();
    assert!(store.exists());
    assert!(store.root().is_none());
    assert!(matches!(text(&store, "x"), Err(ServiceError::Query(_))));
    assert!(matches!(store.walk("", 1, &[]), Err(ServiceError::Query(_))));
}
