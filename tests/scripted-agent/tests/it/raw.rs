//! Steps that write what need be no frame.

use crate::client::{Client, command, folder};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{
    exit, raw, raw_bytes, raw_filled, raw_repeat, stderr, stderr_repeat, text, wait_for_file,
};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

#[test]
fn bytes_are_written_as_they_are() {
    let folder = folder();
    let script = Script::new().session_id("s").on_prompt([
        raw("a\r\u{1b}[?25l ${id}\n"),
        raw_bytes([0xff, 0x00, b'\n']),
        raw_filled("{\"id\":${id},\"of\":\"${sessionId}\"}\n"),
        raw_repeat("xy", 3),
        raw("\n"),
    ]);
    let (mut client, session) = Client::open(script, folder.path());
    client.send_prompt(&session, "x");
    assert_eq!(client.line().unwrap(), b"a\r\x1b[?25l ${id}\n");
    assert_eq!(client.line().unwrap(), b"\xff\0\n");
    assert_eq!(client.line().unwrap(), b"{\"id\":2,\"of\":\"s\"}\n");
    assert_eq!(client.line().unwrap(), b"xyxyxy\n");
}

#[test]
fn stderr_gets_its_text_as_often_as_wanted() {
    let folder = folder();
    let script = Script::new().on("initialize", [stderr("boom\n"), stderr_repeat("x", 1 << 20), exit(0)]);
    let mut child = command(script, folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n").unwrap();
    let mut said = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(said, format!("boom\n{}", "x".repeat(1 << 20)).as_bytes());
}

const SIZE: u64 = 600 << 20;

/// SC-40 (c) and (e): more than any buffer holds, and no memory for it.
#[test]
fn endless_output_at_the_start_takes_no_memory() {
    const ERRORS: u64 = 100 << 20;
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .on("initialize", [raw_repeat("x", SIZE), stderr_repeat("e", ERRORS), wait_for_file(&gate), exit(0)]);
    let mut child = command(script, folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n").unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let errors = thread::spawn(move || count(&mut stderr, b'e', ERRORS));
    assert_eq!(count(child.stdout.as_mut().unwrap(), b'x', SIZE), SIZE);
    assert_eq!(errors.join().unwrap(), ERRORS);
    assert_small(&mut child, &gate);
}

/// SC-40 (d).
#[test]
fn endless_output_in_a_turn_takes_no_memory() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script =
        Script::new().session_id("s").on_prompt([text("a"), raw_repeat("x", SIZE), wait_for_file(&gate), exit(0)]);
    let mut child = command(script, folder.path()).spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    for (id, method) in [(1, "session/new"), (2, "session/prompt")] {
        let params = json!({"sessionId": "s", "cwd": "/w", "mcpServers": [], "prompt": []});
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        stdin.write_all(format!("{frame}\n").as_bytes()).unwrap();
        line.clear();
        stdout.read_line(&mut line).unwrap();
    }
    assert!(line.contains("agent_message_chunk"), "{line}");
    assert_eq!(count(&mut stdout, b'x', SIZE), SIZE);
    assert_small(&mut child, &gate);
}

/// Lets the agent end, which has never had much memory.
fn assert_small(child: &mut Child, gate: &Path) {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    assert!(peak < 16 << 10, "{peak} KiB");
    fs::write(gate, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Reads so many bytes, all of them this one.
fn count(from: &mut impl Read, byte: u8, wanted: u64) -> u64 {
    let expected = vec![byte; 1 << 20];
    let mut part = vec![0; 1 << 20];
    let mut all = 0;
    while all < wanted {
        let read = from.read(&mut part).unwrap();
        assert!(read > 0 && part[..read] == expected[..read], "after {all}");
        all += read as u64;
    }
    all
}
