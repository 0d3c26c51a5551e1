//! Transcripts hold what strangers wrote: nothing of it moves a cursor, sets a title, fills a
//! clipboard, forges a line or turns the reading direction.

use sepia_tests::Machine;
use sepia_tests::claude::{Records, S1};
use serde_json::json;

/// One of each kind, with a word inside that has to stay where it is text.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[1;31mred\u{1b}[0m\u{1b}]0;title\u{7}\u{1b}]52;c;Y2FuYXJ5\u{7}\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\\
    \u{9b}31m\u{9d}0;c1\u{9c}\u{90}dcs\u{9c}\u{1b}Pq\u{1b}\\\u{8}\u{7}\u{0}\u{7f}\u{202e}gnirts\u{202c}\u{2066}iso\u{2069}\u{200b}\u{feff}\u{e0041}end";

fn assert_harmless(what: &str, text: &str) {
    for c in text.chars() {
        let allowed = c == '\n' || c == '\t' || !c.is_control();
        assert!(allowed, "{what}: {c:?} in {text:?}");
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
        assert!(!turns, "{what}: {c:?} in {text:?}");
    }
}

fn with_hostile_store() -> Machine {
    let machine = Machine::empty();
    let records = Records::of(S1)
        .in_directory(&format!("/p/{HOSTILE}"))
        .user(&format!("ask {HOSTILE}\r\nFORGED\tline"), 1)
        .blocks(
            &json!([
                {"type": "thinking", "thinking": format!("think {HOSTILE}"), "signature": HOSTILE},
                {"type": "text", "text": format!("say {HOSTILE}")},
                {"type": "tool_use", "id": "t1", "name": format!("Tool{HOSTILE}"), "input": {HOSTILE: HOSTILE}}
            ]),
            2,
        )
        .result("t1", &format!("result {HOSTILE}\nmore"), 3)
        .blocks(&json!([{"type": "hologram\u{1b}[5m", HOSTILE: HOSTILE}]), 4)
        .line(&json!({"type": "custom-title", "customTitle": format!("title {HOSTILE}"), "sessionId": S1}).to_string())
        .line(&format!("{{\"type\":\"{}", HOSTILE.escape_default()))
        .line(&json!({"type": format!("odd{HOSTILE}")}).to_string());
    machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), records.text());
    machine
}

#[test]
fn nothing_of_a_store_reaches_a_terminal_as_it_is() {
    let mut machine = with_hostile_store();
    // The places of stores and drivers are names that somebody chose, too.
    let moved = machine.place(&format!("store{}", HOSTILE.replace(['/', '\0'], "")));
    std::fs::rename(machine.claude(), &moved).unwrap();
    machine.set("SEPIA_CLAUDE_DIR", &moved);
    machine.add_driver_file(&format!("x{}.wasm", HOSTILE.replace(['/', '\0'], "")), b"no component");
    let commands: [&[&str]; 12] = [
        &["list"],
        &["list", "--stats", "--subagents"],
        &["show", S1],
        &["show", "--full", "--all", S1],
        &["search", "red"],
        &["search", ".", "--regex"],
        &["search", HOSTILE_ID],
        &["doctor"],
        &["driver", "list"],
        &["show", HOSTILE_ID],
        &["list", "--agent", HOSTILE_ID],
        &["list", "--cwd", "/\u{1b}[2J"],
    ];
    for arguments in commands {
        let ran = machine.run(arguments);
        assert_harmless(&format!("stdout of {arguments:?}"), &ran.stdout);
        assert_harmless(&format!("stderr of {arguments:?}"), &ran.stderr);
    }
    let shown = machine.run(&["show", "--full", S1]).ok();
    for word in ["ask", "think", "say", "Tool", "result", "red", "link", "end", "title"] {
        assert!(shown.contains(word), "{word} in {shown}");
    }
    let listed = machine.run(&["list"]).ok();
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert_eq!(listed.trim_end().split('\t').count(), 5, "{listed}");
}

/// An id that nobody has.
const HOSTILE_ID: &str = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}id";

#[test]
fn the_log_is_as_clean() {
    let machine = with_hostile_store().with("SEPIA_LOG", "trace");
    for arguments in [&["list"][..], &["show", S1], &["doctor"]] {
        assert_harmless(&format!("{arguments:?}"), &machine.run(arguments).stderr);
    }
}

#[test]
fn nothing_of_a_driver_does_either() {
    let machine = Machine::empty().with("SEPIA_PROCESS_TIMEOUT_MS", "2000");
    for misdeed in ["exits-in-probe", "floods-stderr", "logs"] {
        machine.add_program(misdeed);
    }
    for arguments in [&["list"][..], &["doctor"], &["driver", "list"], &["show", "s0"], &["export", "s1"]] {
        let ran = machine.run(arguments);
        assert_harmless(&format!("stdout of {arguments:?}"), &ran.stdout);
        assert_harmless(&format!("stderr of {arguments:?}"), &ran.stderr);
    }
}

#[test]
fn exported_json_says_it_in_escapes() {
    let machine = with_hostile_store();
    for arguments in [&["export", S1][..], &["list", "--json"], &["show", "--json", S1], &["search", "red", "--json"]] {
        let said = machine.run(arguments).ok();
        assert!(!said.contains(['\u{1b}', '\u{7}', '\u{8}', '\0']), "{arguments:?}");
        let _value: serde_json::Value = serde_json::from_str(&said).unwrap();
    }
}
