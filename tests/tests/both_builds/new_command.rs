//! `sepia driver new`, and the walk from nothing to a listed session that its README tells.

use crate::both::built;
use crate::program::{check, json_of, sepia};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Builds the crate in a folder for components; the rest of what is built there is kept from
/// run to run.
fn build(folder: &Path) -> PathBuf {
    // Versions that are on this machine already: no network is needed.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = built("sepia").parent().unwrap().parent().unwrap().join("components/new");
    let built = sepia_build::cargo(folder)
        .args(["build", "--release", "--offline", "--lib", "--target", sepia_build::TARGET, "--target-dir"])
        .arg(&target)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("wasm32-wasip2/release/sepia_driver_my_notes.wasm")
}

#[test]
fn from_nothing_to_a_listed_session() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("crate");
    let told = sepia(home.path())
        .args(["driver", "new", "my-notes", "--dir"])
        .arg(&folder)
        .arg("--sdk")
        .arg(root())
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let wasm = build(&folder);

    let store = home.path().join("store");
    fs::create_dir(&store).unwrap();
    let stored = json!({"title": "First", "cwd": "/p", "model": "m", "messages": [
        {"role": "user", "text": "Hello", "at": 1_767_225_600},
        {"role": "assistant", "text": "Hello to you", "at": 1_767_225_601},
    ]});
    fs::write(store.join("first.json"), stored.to_string()).unwrap();
    for (name, content) in [
        ("torn", "{\"messages\": ["),
        ("other", "[1]"),
        ("empty", ""),
        ("bare", "{}"),
        ("late", "{\"messages\": [{\"at\": 1e300}, {\"at\": -5}]}"),
    ] {
        fs::write(store.join(format!("{name}.json")), content).unwrap();
    }
    let (report, code) = json_of(&mut check(home.path(), &wasm, &[("sessions", &store)]));
    assert_eq!((&report["failures"], &report["sessions"], code), (&json!([]), &json!(3), 0), "{report}");

    let drivers = home.path().join("drivers");
    fs::create_dir(&drivers).unwrap();
    fs::copy(&wasm, drivers.join("my-notes.wasm")).unwrap();
    let walk = |arguments: &[&str]| -> Command {
        let mut command = sepia(home.path());
        command.args(arguments).env("SEPIA_DRIVER_DIR", &drivers).env("SEPIA_MY_NOTES_DIR", &store);
        command
    };
    let state = || {
        let (list, _) = json_of(&mut walk(&["driver", "list", "--json"]));
        list.as_array().unwrap().iter().find(|found| found["id"] == "my-notes").unwrap()["state"].clone()
    };
    assert_eq!(state(), json!("blocked"));
    assert!(walk(&["driver", "allow", "my-notes"]).status().unwrap().success());
    assert_eq!(state(), json!("in use"));
    let (rows, code) = json_of(&mut walk(&["list", "--agent", "my-notes", "--json"]));
    let first = rows.as_array().unwrap().iter().find(|row| row["id"] == "first").unwrap();
    assert_eq!(
        (&first["title"], &first["agent"], &first["cwd"], code),
        (&json!("First"), &json!("my-notes"), &json!("/p"), 0)
    );
    assert!(first["updatedAt"].as_str().unwrap().starts_with("2026-01-01T00:00:01"), "{first}");
}

#[test]
fn nothing_is_written_over_and_no_name_leads_out() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("taken");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("README.md"), "mine").unwrap();
    for (name, part) in
        [("notes", "exists already"), ("../x", "no name"), ("-x", "no name"), ("", "no name"), ("Ünï", "no name")]
    {
        let mut command = sepia(home.path());
        let told = command.args(["driver", "new", "--dir"]).arg(&folder).args(["--", name]).output().unwrap();
        let message = String::from_utf8(told.stderr).unwrap();
        assert!(told.status.code() == Some(1) && message.contains(part), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "mine");
}
