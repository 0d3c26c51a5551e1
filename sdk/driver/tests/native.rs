//! The services of a subprocess driver: which stores they reach, and where.
#![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]

use sepia_sdk::ir::{ErrorCode, Manifest, Projection, StoreAccess, StoreKind, StoreRequest, SurveyQuery, json_text};
use sepia_sdk::packed::LineKind;
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Host, Services};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

fn manifest() -> Manifest {
    let store = |name: &str, kind, variable: &str| StoreRequest {
        name: name.into(),
        env: vec![variable.into()],
        default_path: format!("~/.example/{name}"),
        kind,
        access: StoreAccess::Read,
        follow_links_in: vec![String::new()],
    };
    Manifest {
        id: "example".into(),
        label: "Example".into(),
        version: "1.0.0".into(),
        backend_type: "example".into(),
        stores: vec![
            store("sessions", StoreKind::Directory, "EXAMPLE_DIR"),
            store("state", StoreKind::Database, "EXAMPLE_DB"),
        ],
        agent_command: Vec::new(),
        config_schema: json_text::null(),
    }
}

fn environment(values: &[(&'static str, &Path)]) -> impl Fn(&str) -> Option<OsString> + use<> {
    let values: Vec<_> = values.iter().map(|(name, path)| (*name, path.as_os_str().to_owned())).collect();
    move |name| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

#[test]
fn stores_are_where_the_environment_says() {
    let home = tempfile::tempdir().unwrap();
    let moved = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".example/sessions")).unwrap();
    fs::write(moved.path().join("s.jsonl"), "{}\n").unwrap();

    let by_default = Native::of(&manifest(), &environment(&[("HOME", home.path())])).unwrap();
    assert_eq!(by_default.directory("sessions"), Some(home.path().join(".example/sessions")));
    assert_eq!(by_default.walk("sessions", "", 1, &[]).unwrap().files, []);

    let set = environment(&[("HOME", home.path()), ("EXAMPLE_DIR", moved.path())]);
    let native = Native::of(&manifest(), &set).unwrap();
    assert_eq!(native.directory("sessions").as_deref(), Some(moved.path()));
    assert_eq!(native.location("sessions"), Some(moved.path().display().to_string()));
    assert_eq!(native.walk("sessions", "", 1, &[]).unwrap().files[0].path, "s.jsonl");
}

#[test]
fn a_database_is_located_but_is_no_directory() {
    let home = tempfile::tempdir().unwrap();
    let native = Native::of(&manifest(), &environment(&[("HOME", home.path())])).unwrap();
    assert_eq!(native.directory("state"), None);
    assert_eq!(native.location("state"), Some(home.path().join(".example/state").display().to_string()));
}

#[test]
fn without_a_home_the_error_says_which_store_has_no_place() {
    let error = Native::of(&manifest(), &environment(&[])).unwrap_err();
    assert_eq!(error.code, ErrorCode::Store);
    assert!(error.message.contains("sessions") && error.message.contains("HOME"), "{error}");
}

#[test]
fn a_test_points_declared_stores_at_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.jsonl"), "{\"type\":\"user\",\"id\":\"1\"}\ntorn").unwrap();
    let host = Host::new(Native::at(&manifest(), &[("sessions", folder.path())]).unwrap());
    assert_eq!(host.read("sessions", "s.jsonl", 2, 4).unwrap(), b"type");

    let query = SurveyQuery { needles: vec![b"user".to_vec()], head: 3, tail: 4, max_line: 10, max_lines: 1 };
    let report = host.survey("sessions", "s.jsonl", &query).unwrap();
    assert_eq!(report.lines.len(), 1);
    assert_eq!((report.head.as_slice(), report.tail.as_slice()), (&b"{\"t"[..], &b"torn"[..]));

    let query = Projection { members: vec!["type".into(), "id".into()], offset: 0, max_value: 100 };
    let rows = host.project("sessions", "s.jsonl", &query).unwrap();
    let kinds: Vec<_> = rows.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [LineKind::Object, LineKind::Unterminated]);
    let first = rows.iter().next().unwrap();
    let values: Vec<_> = first.values().map(|value| (value.member, value.plain())).collect();
    assert_eq!(values, [(0, Some("user")), (1, Some("1"))]);

    assert_eq!(host.directory("state"), None);
    assert_eq!(host.location("state"), None);
    assert_eq!(host.walk("other", "", 1, &[]).unwrap_err().code, ErrorCode::Invalid);
    assert!(Native::at(&manifest(), &[("other", folder.path())]).is_err());
}
