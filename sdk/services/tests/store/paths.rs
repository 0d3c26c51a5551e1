//! Paths that try to get out, and things that are no files.

use crate::ground::{Ground, text};
use sepia_ir::{DriverError, ErrorCode, Projection, SurveyQuery};
use sepia_services::{ServiceError, Stores};
use std::os::unix::net::UnixListener;

const SURVEY: SurveyQuery = SurveyQuery { needles: Vec::new(), head: 10, tail: 10, max_line: 10, max_lines: 10 };

#[test]
fn no_path_leaves_the_store() {
    let ground = Ground::new();
    ground.file("victim", "secret");
    ground.file("store/a/b", "x");
    let store = ground.open(&[]);
    let absolute = ground.at("victim").display().to_string();
    let paths = [
        "..",
        "../victim",
        "a/../../victim",
        "a/../b",
        "./a",
        "a//b",
        "a/b/",
        "/",
        "",
        ".",
        "/etc/passwd",
        "a/./b",
        "a\0b",
        "../victim\0",
        absolute.as_str(),
    ];
    let projection = Projection { members: vec!["a".into()], offset: 0, max_value: 10 };
    for path in paths {
        assert!(matches!(text(&store, path), Err(ServiceError::Outside(_))), "read {path:?}");
        assert!(matches!(store.survey(path, &SURVEY), Err(ServiceError::Outside(_))), "survey {path:?}");
        assert!(matches!(store.project(path, &projection), Err(ServiceError::Outside(_))), "project {path:?}");
        if !path.is_empty() {
            assert!(matches!(store.walk(path, 9, &[]), Err(ServiceError::Outside(_))), "walk {path:?}");
        }
    }
    assert_eq!(text(&store, "a/b").unwrap(), "x");
}

#[test]
fn planted_links_lead_nowhere() {
    let ground = Ground::new();
    ground.file("victim/file", "secret");
    ground.link("store/absolute", ground.at("victim/file"));
    ground.link("store/relative", "../victim/file");
    ground.link("store/folder", "../victim");
    ground.link("store/slash", "../victim/");
    ground.link("store/chain", "folder");
    ground.link("store/up", "..");
    let store = ground.open(&["places", "folder"]);
    let paths = [
        "absolute",
        "relative",
        "folder/file",
        "slash/file",
        "chain/file",
        "up/victim/file",
        "up/store/up/victim/file",
    ];
    for path in paths {
        let error = text(&store, path).unwrap_err();
        assert!(matches!(error, ServiceError::Outside(_)), "{path}: {error}");
        assert_eq!(DriverError::from(error).code, ErrorCode::Invalid);
    }
    assert_eq!(store.walk("", 9, &[]).unwrap().files, []);
}

#[test]
fn strange_names_are_names() {
    let ground = Ground::new();
    let names = ["a\\..\\b", "-h", "%2e%2e%2fx", "x\"; touch canary; \"", "CON", "a\u{202e}b", "...", " "];
    for name in names {
        ground.file(&format!("store/{name}"), name);
    }
    let store = ground.open(&[]);
    for name in names {
        assert_eq!(text(&store, name).unwrap(), name);
    }
    assert!(matches!(text(&store, &"x".repeat(5000)), Err(ServiceError::Io { .. })));
    assert!(matches!(text(&store, "..\\x"), Err(ServiceError::NotFound(_))));
    assert!(matches!(text(&store, "CON/x"), Err(ServiceError::NotFound(_))));
}

#[test]
fn pipes_sockets_devices_and_folders_are_no_files_and_nobody_waits_for_them() {
    let ground = Ground::new();
    ground.folder("store/folder");
    ground.pipe("store/pipe");
    let _socket = UnixListener::bind(ground.at("store/socket")).unwrap();
    let store = ground.open(&[]);
    for path in ["folder", "pipe", "socket"] {
        let error = text(&store, path).unwrap_err();
        assert!(matches!(error, ServiceError::NotRegular(_)), "{path}: {error}");
        assert!(store.survey(path, &SURVEY).is_err());
    }
    assert_eq!(store.walk("", 9, &[]).unwrap().files, []);
    let devices = ground.try_open("../../dev", &[], &|_| false).ok();
    if let Some(devices) = devices.filter(sepia_services::Store::exists) {
        assert!(matches!(text(&devices, "zero"), Err(ServiceError::NotRegular(_))));
    }
}

#[test]
fn a_read_gives_what_is_there_and_no_more_than_one_call_may() {
    let ground = Ground::new();
    ground.file("store/f", "0123456789");
    let store = ground.open(&[]);
    assert_eq!(store.read("f", 3, 4).unwrap(), b"3456");
    assert_eq!(store.read("f", 8, 8 << 20).unwrap(), b"89");
    assert_eq!(store.read("f", 10, 5).unwrap(), b"");
    assert_eq!(store.read("f", u64::MAX, 5).unwrap(), b"");
    assert_eq!(store.read("f", 0, 0).unwrap(), b"");
    assert!(matches!(store.read("f", 0, (8 << 20) + 1), Err(ServiceError::Query(_))));
}

#[test]
fn another_drivers_store_has_no_name() {
    let ground = Ground::new();
    let stores = Stores::new(vec![ground.open(&[])]);
    assert!(stores.get("sessions").is_ok());
    let error = stores.get("other\u{1b}[2J").unwrap_err();
    assert_eq!(error.to_string(), "store `other\u{fffd}[2J` was not granted to this driver");
}
