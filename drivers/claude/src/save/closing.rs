//! The records at the end of a file: its title, what is carried of the session, and where the conversation stands.
//! Lists look at the end of a file only.

use super::own::OwnSession;
use super::record::{Records, one_line};
use super::turn::Turns;
use crate::json::parse;
use crate::restoring::RECORD;
use sepia_ir::Session;
use sepia_sdk::carried;

/// Writes them. `header` is the session as it is to be.
pub(crate) fn write(turns: &mut Turns, mut header: Session) {
    let metadata = std::mem::take(&mut header.metadata);
    let own: OwnSession<'_> = parse(&metadata).unwrap_or_default();
    let prompts = &turns.prompts;
    let texts = [&prompts.first, &prompts.command, &prompts.last];
    let derived = texts.into_iter().flatten().map(|text| sepia_sdk::one_line(text)).find(|title| !title.is_empty());
    let last_prompt = prompts.last.clone().unwrap_or_default();
    let prompts = turns.prompts.others();
    let mut native = unlike(&header);
    native.title = title(&mut turns.records, &header, &own, derived);
    if let Some(prompts) = prompts {
        if prompts.is_empty() {
            // None are carried, too: that there are none.
            native.prompt_history = vec![sepia_ir::PromptHistoryEntry::default()];
        }
        header.prompt_history = prompts;
    }
    drop(own);
    header.metadata = metadata;
    if let Some(text) = carried::difference_of_session(&header, &native) {
        let records = &mut turns.records;
        records.json("{\"type\":\"");
        records.json(RECORD);
        records.json("\"");
        records.text("sessionId", &header.id);
        // A look for titles finds the record by the end of this name.
        records.json(",\"besidesTitle\":true");
        records.raw(carried::KEY, &one_line(&text));
        records.json("}\n");
    }
    leaf(turns, &header, &last_prompt);
}

/// A session that differs in all that is carried always: it is little, and what a reader tells of it depends on
/// where in the file things are.
fn unlike(header: &Session) -> Session {
    let mut native = header.clone();
    native.prompt_history = Vec::new();
    native.checkpoints = Vec::new();
    native.agent_mode = String::new();
    native.model = if header.model.is_empty() { "?".to_owned() } else { String::new() };
    native.created_at = -1.0;
    native.last_activity_at = -1.0;
    native.shell_last_seen_index = 0;
    "[]".clone_into(&mut native.cogs_json);
    "[]".clone_into(&mut native.workspace_dirs);
    native.hidden = 0;
    native.metadata = String::new();
    native
}

/// Writes the title unless a reader finds it anyway; the title that a reader will give.
fn title(records: &mut Records, header: &Session, own: &OwnSession<'_>, derived: Option<String>) -> String {
    let wanted = sepia_sdk::one_line(&header.title);
    let (kind, member) = match own.title_source.get() {
        Some("generated") => ("ai-title", "aiTitle"),
        Some("custom") => ("custom-title", "customTitle"),
        _ if derived.as_ref() == Some(&wanted) => return wanted,
        _ => ("custom-title", "customTitle"),
    };
    if wanted.is_empty() {
        return derived.unwrap_or_default();
    }
    title_record(records, kind, member, &wanted, &header.id);
    wanted
}

/// A record of a title, as the agent's own renaming writes it.
pub(crate) fn title_record(records: &mut Records, kind: &str, member: &str, title: &str, id: &str) {
    records.json("{\"type\":");
    records.string(kind);
    records.text(member, title);
    records.text("sessionId", id);
    records.json("}\n");
}

/// Writes where the conversation stands.
fn leaf(turns: &mut Turns, header: &Session, last_prompt: &str) {
    let last = turns.tree.last;
    let tip = Some(header.main_chain_id).filter(|tip| turns.tree.get(*tip).is_some()).or(last);
    let Some(placed) = tip.and_then(|tip| turns.tree.get(tip)) else { return };
    leaf_record(&mut turns.records, placed.uuid, tip != last, last_prompt, &header.id);
}

/// A record of where the conversation stands. Explicit: also when later records follow from there.
pub(crate) fn leaf_record(records: &mut Records, leaf: u128, explicit: bool, last_prompt: &str, id: &str) {
    records.json("{\"type\":\"last-prompt\"");
    let prompt = last_prompt.replace(['\n', '\r'], " ");
    if !prompt.is_empty() {
        records.text("lastPrompt", &prompt);
    }
    records.json(",\"leafUuid\":");
    records.uuid(leaf);
    if explicit {
        records.json(",\"explicit\":true");
    }
    records.text("sessionId", id);
    records.json("}\n");
}
