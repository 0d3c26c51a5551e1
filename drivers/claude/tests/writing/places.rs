//! Where a session goes: the folder of its directory, which is never guessed.

use crate::written::{Ground, NEW, chain, says, session};
use sepia_ir::{ErrorCode, Role, Session};
use serde_json::json;

fn at(directory: &str) -> Session {
    let mut session = session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")]));
    session.working_directory = directory.into();
    session
}

#[test]
fn without_an_absolute_directory_nothing_is_written() {
    let ground = Ground::new();
    for directory in ["", "demo", "./demo", "~/demo", "C:\\demo", "/p\n/demo"] {
        let error = ground.save(&at(directory), &NEW).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid, "{directory}");
        assert!(error.message.contains("working directory"));
    }
    assert!(ground.demo.bytes().is_empty());
}

#[test]
fn the_folder_is_the_one_that_the_agent_looks_in() {
    let folders = [
        ("/p/demo", "-p-demo".to_owned()),
        ("/p/demo/", "-p-demo".to_owned()),
        ("/", "-".to_owned()),
        ("/home/dev/My App_2", "-home-dev-My-App-2".to_owned()),
        ("/caf\u{e9}", "-caf-".to_owned()),
        ("/\u{1f600}", "---".to_owned()),
    ];
    for (directory, folder) in folders {
        let ground = Ground::new();
        let report = ground.save(&at(directory), &NEW).unwrap();
        let path = ground.demo.root().join(format!("projects/{folder}/{}.jsonl", report.id));
        assert!(path.exists(), "{directory}");
        assert_eq!(report.working_directory, directory);
        let text = std::fs::read_to_string(path).unwrap();
        for record in text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            if record.get("cwd").is_some() {
                assert_eq!(record["cwd"], json!(directory));
            }
        }
    }
}

#[test]
fn a_directory_with_a_quote_is_no_part_of_a_command() {
    let ground = Ground::new();
    let directory = "/p/a b'; touch canary; '";
    let report = ground.save(&at(directory), &NEW).unwrap();
    assert_eq!(report.working_directory, directory);
    assert_eq!(report.resume_command[..2], ["claude", "--resume"]);
}
