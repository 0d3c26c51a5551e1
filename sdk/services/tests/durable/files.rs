//! Files.

use crate::ground::{Ground, open};
use sepia_ir::{DriverError, ErrorCode};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn code<T>(outcome: Result<T, sepia_services::ServiceError>) -> Option<ErrorCode> {
    outcome.err().map(|e| DriverError::from(e).code)
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let ground = Ground::new();
    let store = ground.writing();
    let mut file = store.create("a/b/c.txt", 0o600).unwrap();
    file.write(b"one ").unwrap();
    file.write(b"two").unwrap();
    assert!(!ground.path("store/a/b/c.txt").exists());
    file.commit(Some(0)).unwrap();
    assert_eq!(ground.read("store/a/b/c.txt"), "one two");
    let mode = fs::metadata(ground.path("store/a/b/c.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut dropped = store.create("a/b/d.txt", 0o600).unwrap();
    dropped.write(b"half").unwrap();
    drop(dropped);
    assert_eq!(ground.names("store/a/b"), ["c.txt"]);
}

#[test]
fn what_is_not_as_it_was_read_is_not_written_over() {
    let ground = Ground::new();
    let store = ground.writing();
    store.replace("a", b"12345", 0o600, Some(0)).unwrap();
    assert_eq!(code(store.replace("a", b"new", 0o600, Some(0))), Some(ErrorCode::Conflict));
    assert_eq!(code(store.replace("a", b"new", 0o600, Some(4))), Some(ErrorCode::Conflict));
    assert_eq!(code(store.replace("absent", b"new", 0o600, Some(4))), Some(ErrorCode::Conflict));
    assert_eq!(ground.read("store/a"), "12345");
    assert_eq!(ground.names("store"), ["a"]);
    store.replace("a", b"new", 0o600, Some(5)).unwrap();
    assert_eq!(ground.read("store/a"), "new");
}

#[test]
fn what_is_written_over_is_kept() {
    let ground = Ground::new();
    let store = ground.writing();
    store.replace("a", b"before", 0o600, None).unwrap();
    assert_eq!(ground.trash.items(), []);
    store.replace("a", b"after", 0o600, None).unwrap();
    let items = ground.trash.items();
    assert_eq!((items.len(), items[0].path.as_str(), items[0].taken, items[0].bytes), (1, "a", false, 6));
    assert_eq!(ground.read("trash/1/0"), "before");
    ground.trash.put_back(&items[0]).unwrap();
    assert_eq!(ground.read("store/a"), "before");
}

#[test]
fn appending_checks_length_and_last_line() {
    let ground = Ground::new();
    let store = ground.writing();
    store.append("log/x.jsonl", b"1\n", 0).unwrap();
    store.append("log/x.jsonl", b"2\n", 2).unwrap();
    assert_eq!(code(store.append("log/x.jsonl", b"3\n", 2)), Some(ErrorCode::Conflict));
    assert_eq!(code(store.append("log/x.jsonl", b"3\n", 0)), Some(ErrorCode::Conflict));
    assert_eq!(code(store.append("log/absent", b"3\n", 9)), Some(ErrorCode::Conflict));
    assert_eq!(ground.read("store/log/x.jsonl"), "1\n2\n");
    fs::write(ground.path("store/torn"), "1\n2").unwrap();
    assert_eq!(code(store.append("torn", b"3\n", 3)), Some(ErrorCode::Conflict));
    assert_eq!(ground.read("store/torn"), "1\n2");
}

#[test]
fn a_call_that_reads_writes_nothing() {
    let ground = Ground::new();
    let store = ground.reading();
    assert_eq!(code(store.replace("a", b"x", 0o600, None)), Some(ErrorCode::Unsupported));
    assert_eq!(code(store.append("a", b"x", 0)), Some(ErrorCode::Unsupported));
    assert_eq!(code(store.create("a", 0o600)), Some(ErrorCode::Unsupported));
    assert_eq!(code(store.discard("a")), Some(ErrorCode::Unsupported));
    assert_eq!(code(store.new_database("a", 0o600)), Some(ErrorCode::Unsupported));
    assert_eq!(ground.names("store"), [""; 0]);
}

#[test]
fn nothing_is_written_outside() {
    let ground = Ground::new();
    fs::write(ground.path("outside/victim"), "keep").unwrap();
    symlink(ground.path("outside"), ground.path("store/out")).unwrap();
    symlink("../outside", ground.path("store/relative")).unwrap();
    symlink(ground.path("outside/victim"), ground.path("store/file")).unwrap();
    symlink("/absent/place", ground.path("store/dangling")).unwrap();
    let store = ground.writing();
    for path in [
        "../outside/victim",
        "/etc/x",
        "a/../../outside/victim",
        "out/victim",
        "out/new",
        "relative/victim",
        "file",
        "dangling",
        "",
        ".",
        "a//b",
    ] {
        assert!(store.replace(path, b"gone", 0o600, None).is_err(), "{path}");
        assert!(store.append(path, b"gone\n", 0).is_err(), "{path}");
        assert!(store.new_database(path, 0o600).is_err(), "{path}");
    }
    for path in ["out/victim", "relative/victim", "../outside", "out/.."] {
        assert!(store.discard(path).is_err(), "{path}");
    }
    assert_eq!(ground.read("outside/victim"), "keep");
    assert_eq!(ground.names("outside"), ["victim"]);
}

#[test]
fn links_that_the_store_allows_are_followed() {
    let ground = Ground::new();
    fs::create_dir_all(ground.path("store/linked")).unwrap();
    fs::write(ground.path("outside/old"), "old").unwrap();
    symlink(ground.path("outside"), ground.path("store/linked/project")).unwrap();
    symlink("real", ground.path("store/inside")).unwrap();
    fs::write(ground.path("store/real"), "real").unwrap();
    let store = ground.writing();
    store.replace("linked/project/new", b"new", 0o600, Some(0)).unwrap();
    assert_eq!(ground.read("outside/new"), "new");
    store.discard("linked/project/old").unwrap();
    assert!(!ground.path("outside/old").exists());
    // A link to a file of the store stays a link.
    store.replace("inside", b"changed", 0o600, Some(4)).unwrap();
    assert_eq!(ground.read("store/real"), "changed");
    assert!(fs::symlink_metadata(ground.path("store/inside")).unwrap().is_symlink());
}

#[test]
fn a_store_that_does_not_exist_is_made() {
    let ground = Ground::new();
    let store = open(&ground.path("new/store")).for_writing(None);
    store.replace("a/b", b"x", 0o600, Some(0)).unwrap();
    assert_eq!(ground.read("new/store/a/b"), "x");
    let mode = fs::metadata(ground.path("new/store")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may look into it");
}

#[test]
fn what_was_written_is_read() {
    let ground = Ground::new();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let store = ground.writing().with_deadline(deadline);
    store.replace("a", b"one", 0o600, None).unwrap();
    assert_eq!(store.read("a", 0, 10).unwrap(), b"one");
    store.replace("a", b"two", 0o600, None).unwrap();
    assert_eq!(store.read("a", 0, 10).unwrap(), b"two");
    let mut file = store.create("a", 0o600).unwrap();
    file.write(b"six").unwrap();
    assert_eq!(store.read("a", 0, 10).unwrap(), b"two");
    file.commit(Some(3)).unwrap();
    assert_eq!(store.read("a", 0, 10).unwrap(), b"six");
}

/// A component gives each of its calls a new time; a file may be begun in one and committed in a later one.
#[test]
fn what_was_begun_in_an_earlier_call_is_read_once_it_is_there() {
    let ground = Ground::new();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let store = ground.writing().with_deadline(deadline);
    store.replace("a", b"one", 0o600, None).unwrap();
    let mut file = store.create("a", 0o600).unwrap();
    file.write(b"two").unwrap();
    let store = store.with_deadline(deadline);
    assert_eq!(store.read("a", 0, 10).unwrap(), b"one");
    file.commit(Some(3)).unwrap();
    assert_eq!(store.read("a", 0, 10).unwrap(), b"two");
}

#[test]
fn what_a_dead_process_left_is_taken_away() {
    let ground = Ground::new();
    fs::create_dir(ground.path("store/d")).unwrap();
    fs::write(ground.path("store/d/.sepia-4194303-1-0.tmp"), "half").unwrap();
    fs::write(ground.path("store/d/.sepia-note"), "not ours").unwrap();
    ground.writing().replace("d/a", b"x", 0o600, None).unwrap();
    assert_eq!(ground.names("store/d"), [".sepia-note", "a"]);
}

/// A session's own folder is one into which nobody writes again.
#[test]
fn what_a_dead_process_left_in_another_folder_goes_with_the_next_write() {
    let ground = Ground::new();
    // No process starts with the machine and has the greatest number.
    let name = ".sepia-4194303-1-0.tmp";
    let note = |name: &str, file: &str| {
        let folders = [ground.path("store/chats/x"), ground.path("store/chats")];
        let text = serde_json::json!({"file": ground.path(file), "folders": folders}).to_string();
        fs::create_dir_all(ground.path("unfinished")).unwrap();
        fs::write(ground.path(&format!("unfinished/{name}")), text).unwrap();
    };
    fs::create_dir_all(ground.path("store/chats/x")).unwrap();
    for suffix in ["", "-wal"] {
        fs::write(ground.path(&format!("store/chats/x/{name}{suffix}")), "half").unwrap();
    }
    fs::write(ground.path("store/kept"), "kept").unwrap();
    note(name, &format!("store/chats/x/{name}"));
    // One that speaks of something else is not obeyed.
    note(".sepia-4194303-1-1.tmp", "store/kept");
    ground.writing().replace("other/file", b"x", 0o600, None).unwrap();
    assert_eq!(ground.names("store"), ["kept", "other"]);
    assert_eq!(ground.names("unfinished"), [""; 0], "nor does a note of its own stay");
}
