//! The walk: what it lists, what it reports, how deep it goes, and how long it takes.

use crate::ground::{Ground, paths};
use sepia_services::ServiceError;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, Instant, SystemTime};

#[test]
fn files_come_sorted_with_what_their_change_is_told_by() {
    let ground = Ground::new();
    for path in ["b/2.jsonl", "a.jsonl", "b.jsonl", "a/x.jsonl", "a/x.json", "a-/x.jsonl"] {
        ground.file(&format!("store/{path}"), path);
    }
    let at = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_764_500_000_123_456_789);
    fs::File::options().append(true).open(ground.at("store/a.jsonl")).unwrap().set_modified(at).unwrap();
    let report = ground.open(&[]).walk("", 1, &[".jsonl".into()]).unwrap();
    let seen: Vec<_> = report.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(seen, ["a-/x.jsonl", "a.jsonl", "a/x.jsonl", "b.jsonl", "b/2.jsonl"]);
    let file = &report.files[1];
    let inode = fs::metadata(ground.at("store/a.jsonl")).unwrap().ino();
    assert_eq!((file.bytes, file.modified_ns, file.inode), (7, 1_764_500_000_123_456_789, inode));
}

#[test]
fn depth_suffixes_and_the_directory_to_begin_with() {
    let ground = Ground::new();
    for path in ["0.log", "a/1.log", "a/b/2.log", "a/b/c/3.log", "a/b/c/3.txt"] {
        ground.file(&format!("store/{path}"), "");
    }
    let store = ground.open(&[]);
    let walk = |under: &str, depth: u32, suffixes: &[&str]| -> Vec<String> {
        let suffixes: Vec<String> = suffixes.iter().map(|&suffix| suffix.to_owned()).collect();
        let report = store.walk(under, depth, &suffixes).unwrap();
        assert_eq!(report.failures, []);
        report.files.into_iter().map(|file| file.path).collect()
    };
    assert_eq!(walk("", 0, &[]), ["0.log"]);
    assert_eq!(walk("", 1, &[".log"]), ["0.log", "a/1.log"]);
    assert_eq!(walk("a", 0, &[]), ["a/1.log"]);
    assert_eq!(walk("a/b", u32::MAX, &[]), ["a/b/2.log", "a/b/c/3.log", "a/b/c/3.txt"]);
    assert_eq!(walk("", 9, &["3.txt", "0.log"]), ["0.log", "a/b/c/3.txt"]);
    assert_eq!(walk("absent", 9, &[]), [""; 0]);
    assert_eq!(walk("absent/below", 9, &[]), [""; 0]);
    assert_eq!(walk("0.log", 9, &[]), [""; 0]);
}

#[test]
fn a_name_that_is_no_utf8_is_reported_and_the_rest_listed() {
    let ground = Ground::new();
    ground.file("store/good.jsonl", "");
    fs::write(ground.at("store").join(OsStr::from_bytes(b"bad\xff.jsonl")), "").unwrap();
    fs::write(ground.at("store").join(OsStr::from_bytes(b"no matter\xff")), "").unwrap();
    fs::create_dir(ground.at("store").join(OsStr::from_bytes(b"folder\xfe"))).unwrap();
    let report = ground.open(&[""]).walk("", 1, &[".jsonl".into()]).unwrap();
    assert_eq!(report.files.len(), 1);
    let failed: Vec<_> = report.failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(failed, ["bad\u{fffd}.jsonl", "folder\u{fffd}"]);
}

#[test]
fn a_folder_that_may_not_be_read_is_reported_and_the_rest_listed() {
    let ground = Ground::new();
    ground.file("store/open/s.jsonl", "");
    ground.file("store/shut/s.jsonl", "");
    ground.file("store/secret.jsonl", "");
    fs::set_permissions(ground.at("store/shut"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(ground.at("store/secret.jsonl"), fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything; a thread of its own gives that up for itself alone.
    let (report, read) = std::thread::scope(|scope| {
        let as_anybody = || {
            caps::clear(None, caps::CapSet::Effective).unwrap();
            let store = ground.open(&["", "shut"]);
            (store.walk("", 5, &[]).unwrap(), store.read("secret.jsonl", 0, 1))
        };
        scope.spawn(as_anybody).join().unwrap()
    });
    fs::set_permissions(ground.at("store/shut"), fs::Permissions::from_mode(0o755)).unwrap();
    let seen: Vec<_> = report.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(seen, ["open/s.jsonl", "secret.jsonl"]);
    let failed: Vec<_> = report.failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(failed, ["shut"]);
    assert!(matches!(read, Err(ServiceError::Io { path, .. }) if path == "secret.jsonl"));
}

#[test]
fn a_very_deep_tree_ends() {
    let ground = Ground::new();
    let path = vec!["d"; 300].join("/");
    ground.file(&format!("store/{path}/s.jsonl"), "");
    assert_eq!(ground.open(&[]).walk("", 1000, &[]).unwrap().files.len(), 1);
    assert_eq!(ground.open(&[]).walk("", 299, &[]).unwrap().files.len(), 0);
}

#[test]
fn it_stops_when_the_time_is_over() {
    let ground = Ground::new();
    ground.file("store/a/s.jsonl", "{}\n");
    let store = ground.open(&[]).with_deadline(Instant::now());
    assert!(matches!(store.walk("", 5, &[]), Err(ServiceError::Time(_))));
}

#[test]
fn ten_thousand_files_are_listed_once_each() {
    let ground = Ground::new();
    for folder in 0..300 {
        ground.folder(&format!("store/{folder:03}"));
        for file in 0..34 {
            fs::write(ground.at(&format!("store/{folder:03}/{file:02}.jsonl")), "x").unwrap();
        }
    }
    let store = ground.open(&[""]);
    let begin = Instant::now();
    let seen = paths(&store, ".jsonl");
    let took = begin.elapsed();
    assert_eq!(seen.len(), 10_200);
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
    // Far from the 15 ms that it takes, so that a busy machine does not matter.
    assert!(took < Duration::from_secs(2), "{took:?}");
}
