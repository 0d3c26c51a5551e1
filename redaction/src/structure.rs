//! What is left of a session when only its structure may be seen: who spoke when and how
//! much, which tools were called with what outcome. What a person or a model wrote, the names
//! of files and folders, and free-form JSON are replaced by their lengths; ids by pseudonyms.
//!
//! The terms that an agent's program chooses from, such as models, modes and names of tools,
//! stay where they look like terms.

use crate::redactor::Redactor;
use sepia_ir::{
    AudioBlock, Block, CheckpointRef, Diff, FileBlock, ImageBlock, Location, MessageNode, PromptHistoryEntry, Session,
    TextBlock, ToolCall,
};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Longer terms are texts.
const LONGEST_TERM: usize = 80;

/// What stands for a text.
pub(crate) fn text(text: &str) -> String {
    sized("text", text)
}

/// What stands for a value: an object for an object, a list for a list, a text for the rest.
/// `null` tells nothing and stays.
pub(crate) fn json(json: &str) -> String {
    let said = |inside: String| format!("\"[json: {inside}, {}]\"", characters(json));
    let counted = |count: usize, of: &str| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
    match json.trim_start().as_bytes() {
        b"" => String::new(),
        [b'n', ..] => "null".to_owned(),
        [b'{', ..] => format!("{{\"structure\":{}}}", said(counted(size(json), "member"))),
        [b'[', ..] => match size(json) {
            0 => "[]".to_owned(),
            items => format!("[{}]", said(counted(items, "item"))),
        },
        _ => said("1 value".to_owned()),
    }
}

/// Members of an object, items of a list; 0 when it is neither.
fn size(json: &str) -> usize {
    serde_json::from_str::<Size>(json).map_or(0, |size| size.0)
}

struct Size(usize);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counting;

        impl<'de> Visitor<'de> for Counting {
            type Value = Size;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object or a list")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Size, A::Error> {
                let mut count = 0;
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Size(count))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Size, A::Error> {
                let mut count = 0;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Size(count))
            }
        }

        deserializer.deserialize_any(Counting)
    }
}

fn sized(what: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("[{what}: {}]", characters(text)) }
}

fn characters(text: &str) -> String {
    let count = text.chars().count();
    format!("{count} character{}", if count == 1 { "" } else { "s" })
}

pub(crate) fn session(redactor: &Redactor, session: &mut Session) {
    let Session {
        id,
        title,
        working_directory,
        backend_type,
        agent_mode,
        model,
        created_at: _,
        last_activity_at: _,
        main_chain_id: _,
        shell_last_seen_index: _,
        cogs_json,
        workspace_dirs,
        hidden: _,
        parent_session_id,
        agent_id,
        checkpoints,
        metadata,
        nodes,
        prompt_history,
    } = session;
    *id = pseudonym(redactor, id);
    *title = text(title);
    *working_directory = text(working_directory);
    term(backend_type);
    term(agent_mode);
    term(model);
    *cogs_json = json(cogs_json);
    *workspace_dirs = json(workspace_dirs);
    each(parent_session_id, |id| *id = pseudonym(redactor, id));
    each(agent_id, |id| *id = pseudonym(redactor, id));
    for CheckpointRef { ref_, created_at: _, run_count: _, kind } in checkpoints {
        *ref_ = pseudonym(redactor, ref_);
        each(kind, term);
    }
    *metadata = json(metadata);
    for node in nodes {
        self::node(redactor, node);
    }
    for PromptHistoryEntry { content, timestamp: _, is_shell: _ } in prompt_history {
        *content = text(content);
    }
}

pub(crate) fn node(redactor: &Redactor, node: &mut MessageNode) {
    let MessageNode {
        node_id: _,
        parent_node_id: _,
        role: _,
        content,
        blocks,
        tool_calls,
        tool_call_id,
        tool_name,
        thinking,
        thinking_signature,
        usage: _,
        model,
        request_id,
        finish_reason,
        tool_result: _,
        created_at: _,
        metadata,
    } = node;
    *content = text(content);
    for block in blocks {
        self::block(block);
    }
    for call in tool_calls {
        tool_call(redactor, call);
    }
    each(tool_call_id, |id| *id = pseudonym(redactor, id));
    each(tool_name, term);
    each(thinking, |thinking| *thinking = text(thinking));
    each(thinking_signature, |signature| *signature = sized("signature", signature));
    each(model, term);
    each(request_id, |id| *id = pseudonym(redactor, id));
    each(finish_reason, term);
    *metadata = json(metadata);
}

fn block(block: &mut Block) {
    let data = |data: &mut Option<String>| each(data, |data| *data = sized("base64", data));
    let texts = |texts: &mut Option<String>| each(texts, |it| *it = text(it));
    match block {
        Block::Text(TextBlock { text }) => *text = self::text(text),
        Block::Image(ImageBlock { data: image, mime_type, uri }) => {
            data(image);
            each(mime_type, term);
            texts(uri);
        }
        Block::Audio(AudioBlock { data: sound, mime_type }) => {
            data(sound);
            each(mime_type, term);
        }
        Block::File(FileBlock { uri, name, mime_type, size: _, text, data: content }) => {
            texts(uri);
            texts(name);
            each(mime_type, term);
            texts(text);
            data(content);
        }
    }
}

fn tool_call(redactor: &Redactor, call: &mut ToolCall) {
    let ToolCall { id, name, arguments, index: _, kind, status: _, exit_code: _, duration_ms: _, locations, diffs } =
        call;
    *id = pseudonym(redactor, id);
    term(name);
    *arguments = json(arguments);
    term(kind);
    for Location { path, line: _ } in locations {
        *path = text(path);
    }
    for Diff { path, old_text, new_text } in diffs {
        *path = text(path);
        each(old_text, |it| *it = text(it));
        each(new_text, |it| *it = text(it));
    }
}

fn each(value: &mut Option<String>, change: impl FnOnce(&mut String)) {
    if let Some(value) = value {
        change(value);
    }
}

/// Equal ids have equal pseudonyms, so that calls and results stay paired.
fn pseudonym(redactor: &Redactor, id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("id-{}", redactor.hash(id.as_bytes())) }
}

/// Leaves what may be a term of a program as it is.
fn term(value: &mut String) {
    let takes = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@+<>[]".contains(&byte);
    // A path starts with another mark, and has more slashes than the name of a model.
    let starts = value.as_bytes().first().is_none_or(|first| first.is_ascii_alphanumeric() || b"_<".contains(first));
    let slashes = value.bytes().filter(|byte| *byte == b'/').count();
    let is_term = starts && slashes <= 1 && value.len() <= LONGEST_TERM && value.bytes().all(takes);
    if !is_term || !crate::detect::spans(value).is_empty() {
        *value = text(value);
    }
}
