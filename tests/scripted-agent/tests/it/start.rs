//! The start, and what is wrong with it.

use crate::client::{Client, command, folder, run_to_end};
use sepia_scripted_agent::{Event, Script};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;

#[test]
fn a_wrong_script_is_refused_with_a_sentence() {
    let folder = folder();
    let script = folder.path().join("script");
    fs::write(&script, r#"{"on": {"session/prompt": [[{"txet": "x"}]]}}"#).unwrap();
    let (code, said) = run_to_end(&[script.as_os_str()]);
    assert_eq!(code, Some(64));
    assert!(said.contains("txet") && said.lines().count() == 1, "{said}");
    let (code, said) = run_to_end(&[OsStr::new("/nowhere/script")]);
    assert_eq!((code, said.contains("/nowhere/script")), (Some(64), true));
    let (code, said) = run_to_end(&[]);
    assert_eq!((code, said.contains("no script")), (Some(64), true));
    fs::write(&script, r#"{"record": "/nowhere/record"}"#).unwrap();
    let (code, said) = run_to_end(&[script.as_os_str()]);
    assert_eq!((code, said.contains("/nowhere/record")), (Some(64), true));
}

#[test]
fn what_follows_the_last_line_end_is_a_line() {
    let folder = folder();
    let mut client = Client::start(Script::new(), folder.path());
    client.write(b"{}\n[2]").unwrap();
    client.close_stdin();
    assert_eq!(client.ended().code(), Some(0));
    let events: Vec<Event> = client.records().into_iter().skip(1).map(|record| record.event).collect();
    let received = |frame| Event::Received { frame };
    let expected = [received(json!({})), received(json!([2])), Event::StdinEnd, Event::Exit { code: Some(0) }];
    assert_eq!(events, expected);
}

#[test]
fn the_record_has_the_start_and_every_line() {
    let folder = folder();
    let mut command = command(Script::new(), folder.path());
    command.args(["--model", "ä b"]).env_clear().env("B_SET", "secret").env("A_SET", "").current_dir(folder.path());
    let mut client = Client::of(command, folder.path());
    client.write(b"\nno json\n[1]\n7\r\n\xff\n").unwrap();
    client.call("initialize", &json!({"protocolVersion": 1}));
    let records = client.records();
    let Event::Started { arguments, environment, cwd, .. } = &records[0].event else { panic!("{records:?}") };
    assert_eq!(arguments, &["--model", "ä b"]);
    assert_eq!(environment, &["A_SET", "B_SET"]);
    assert_eq!(cwd, &folder.path().canonicalize().unwrap());
    assert!(records.iter().all(|record| record.pid == client.child.id() && record.at_ms > 1_700_000_000_000));
    let events: Vec<Event> = records.into_iter().skip(1).map(|record| record.event).collect();
    let frame = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}});
    let not_json = |line: &str| Event::NotJson { line: line.to_owned() };
    let expected = [
        not_json(""),
        not_json("no json"),
        Event::Received { frame: json!([1]) },
        Event::Received { frame: json!(7) },
        not_json("\u{fffd}"),
        Event::Received { frame },
    ];
    assert_eq!(events, expected);
}
