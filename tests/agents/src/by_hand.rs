//! Sessions written by hand: the least that an agent's program resumes, from the facts of its
//! store. What is proven with them is the proof itself.

use crate::Failed;
use crate::conversation::{Part, Wanted};
use crate::machine::Machine;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The id of the session in the store of Claude Code.
pub(crate) const CLAUDE_ID: &str = "5e91a000-0000-4000-8000-000000000001";
/// The id of the session in the store of Cline.
pub(crate) const CLINE_ID: &str = "1796033964419_sepia";

/// A conversation with two calls at once, a failed one, and text beyond ASCII.
pub(crate) fn conversation(tool: &str) -> Vec<Part> {
    let call = |id: &str, command: &str| Part::Call {
        id: id.to_owned(),
        name: tool.to_owned(),
        arguments: json!({"commands": [command]}),
    };
    let result = |id: &str, text: &str| Part::Result { id: id.to_owned(), text: text.to_owned() };
    vec![
        Part::User("Which files are in the shop?\n\nName them, please — each of them.".to_owned()),
        Part::Assistant("I look into the folder and its parent.".to_owned()),
        call("toolu_hand_1", "ls -l"),
        call("toolu_hand_2", "ls /größe/ä"),
        result("toolu_hand_1", "total 2\nprice.py\nnotes.txt"),
        result("toolu_hand_2", "ls: /größe/ä: No such file or directory"),
        Part::Assistant("Two files: `price.py` and `notes.txt`.".to_owned()),
        Part::User("And how long is the first?".to_owned()),
        call("toolu_hand_3", "wc -l price.py"),
        result("toolu_hand_3", "12 price.py"),
        Part::Assistant("Twelve lines. 数えました。".to_owned()),
    ]
}

/// The conversation as what has to be there.
pub(crate) fn wanted(parts: &[Part]) -> Vec<Wanted> {
    (1..).zip(parts).map(|(node, part)| Wanted { node, part: part.clone(), is_orphan: false }).collect()
}

/// Writes the lines of a transcript of Claude Code: a `uuid`, the `parentUuid`, an ISO `timestamp`
/// and the message are all that it needs.
pub(crate) fn claude(machine: &Machine, parts: &[Part]) -> Result<(), Failed> {
    let project = machine.cwd().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = machine.home().join(".claude/projects").join(project);
    let mut lines = String::new();
    for (at, (role, content)) in (0_u32..).zip(messages(parts)) {
        let mut message = json!({"role": role, "content": content});
        if role == "assistant" {
            message["id"] = json!(format!("msg_hand_{at}"));
            // One that no provider has: it takes its default for the new turn.
            message["model"] = json!("by-hand");
        }
        let parent = at.checked_sub(1).map(|before| format!("node-{before}"));
        let line = json!({
            "type": role,
            "uuid": format!("node-{at}"),
            "parentUuid": parent,
            "timestamp": format!("2026-01-01T00:00:{at:02}.000Z"),
            "message": message,
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    write(&folder, &format!("{CLAUDE_ID}.jsonl"), &lines)
}

/// Writes a manifest of Cline with the fields that it requires, and a file of messages.
pub(crate) fn cline(machine: &Machine, parts: &[Part]) -> Result<(), Failed> {
    let folder = machine.home().join(".cline/data/sessions").join(CLINE_ID);
    let name = format!("{CLINE_ID}.messages.json");
    let mut messages = messages(parts);
    for block in messages.iter_mut().flat_map(|(_, blocks)| blocks) {
        // Without the tool's name on its result no prompt is accepted.
        if block["type"] == "tool_result" {
            block["name"] = block["tool_use_id"].as_str().and_then(|id| tool(parts, id)).into();
        }
    }
    let messages: Vec<Value> =
        messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    let manifest = json!({
        "version": 1,
        "session_id": CLINE_ID,
        "source": "cli",
        "started_at": "2026-01-01T00:00:00.000Z",
        "provider": "anthropic",
        "model": "by-hand",
        "cwd": machine.cwd(),
        "workspace_root": machine.cwd(),
        "pid": 0,
        "status": "completed",
        "interactive": false,
        "enable_tools": true,
        "enable_spawn": true,
        "enable_teams": false,
        "messages_path": folder.join(&name),
    });
    write(&folder, &name, &json!({"messages": messages}).to_string())?;
    write(&folder, &format!("{CLINE_ID}.json"), &manifest.to_string())
}

/// The tool of a call.
fn tool<'a>(parts: &'a [Part], call: &str) -> Option<&'a str> {
    parts.iter().find_map(|part| match part {
        Part::Call { id, name, .. } if id == call => Some(name.as_str()),
        _ => None,
    })
}

/// Role and blocks of each message: what one says in a row is one message. Both agents keep the
/// blocks of the Anthropic API.
fn messages(parts: &[Part]) -> Vec<(&'static str, Vec<Value>)> {
    let mut messages: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for part in parts {
        let (role, block) = match part {
            Part::User(text) => ("user", json!({"type": "text", "text": text})),
            Part::Assistant(text) => ("assistant", json!({"type": "text", "text": text})),
            Part::Call { id, name, arguments } => {
                ("assistant", json!({"type": "tool_use", "id": id, "name": name, "input": arguments}))
            }
            Part::Result { id, text } => ("user", json!({"type": "tool_result", "tool_use_id": id, "content": text})),
            Part::Media(data) => {
                let source = json!({"type": "base64", "media_type": "image/png", "data": data});
                ("user", json!({"type": "image", "source": source}))
            }
        };
        match messages.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => messages.push((role, vec![block])),
        }
    }
    messages
}

fn write(folder: &Path, name: &str, content: &str) -> Result<(), Failed> {
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, content));
    written.map_err(|e| format!("{} can't be written: {e}", path.display()).into())
}
