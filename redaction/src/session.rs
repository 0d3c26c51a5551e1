//! Which members of a session hold text in which secrets can be. Every type is taken apart
//! whole, so that a member added to the IR doesn't compile until somebody decides here.

use crate::redactor::Redactor;
use sepia_ir::{
    AudioBlock, Block, CheckpointRef, Diff, FileBlock, ImageBlock, Location, MessageNode, PromptHistoryEntry, Session,
    TextBlock, ToolCall, ToolResult,
};
use std::borrow::Cow;

pub(crate) fn session(redactor: &mut Redactor, session: &mut Session) {
    let Session {
        id: _,
        title,
        working_directory,
        backend_type: _,
        agent_mode,
        model,
        created_at: _,
        last_activity_at: _,
        main_chain_id: _,
        shell_last_seen_index: _,
        cogs_json,
        workspace_dirs,
        hidden: _,
        parent_session_id: _,
        agent_id: _,
        checkpoints,
        metadata,
        nodes,
        prompt_history,
    } = session;
    text(redactor, title);
    text(redactor, working_directory);
    text(redactor, agent_mode);
    text(redactor, model);
    json(redactor, cogs_json);
    json(redactor, workspace_dirs);
    for CheckpointRef { ref_, created_at: _, run_count: _, kind } in checkpoints {
        text(redactor, ref_);
        optional(redactor, kind);
    }
    json(redactor, metadata);
    redactor.nodes(nodes);
    for PromptHistoryEntry { content, timestamp: _, is_shell: _ } in prompt_history {
        text(redactor, content);
    }
}

pub(crate) fn node(redactor: &mut Redactor, node: &mut MessageNode) {
    let MessageNode {
        node_id: _,
        parent_node_id: _,
        role: _,
        content,
        blocks,
        tool_calls,
        tool_call_id: _,
        tool_name,
        thinking,
        // Opaque, and of use only as it is.
        thinking_signature: _,
        usage: _,
        model,
        request_id: _,
        finish_reason,
        tool_result,
        created_at: _,
        metadata,
    } = node;
    text(redactor, content);
    for block in blocks {
        self::block(redactor, block);
    }
    for call in tool_calls {
        tool_call(redactor, call);
    }
    optional(redactor, tool_name);
    optional(redactor, thinking);
    optional(redactor, model);
    optional(redactor, finish_reason);
    if let Some(ToolResult { status: _, exit_code: _, duration_ms: _ }) = tool_result {}
    json(redactor, metadata);
}

fn block(redactor: &mut Redactor, block: &mut Block) {
    match block {
        Block::Text(TextBlock { text }) => self::text(redactor, text),
        // The data of pictures and sounds is base64.
        Block::Image(ImageBlock { data: _, mime_type, uri }) => {
            optional(redactor, mime_type);
            optional(redactor, uri);
        }
        Block::Audio(AudioBlock { data: _, mime_type }) => optional(redactor, mime_type),
        Block::File(FileBlock { uri, name, mime_type, size: _, text, data: _ }) => {
            optional(redactor, uri);
            optional(redactor, name);
            optional(redactor, mime_type);
            optional(redactor, text);
        }
    }
}

fn tool_call(redactor: &mut Redactor, call: &mut ToolCall) {
    let ToolCall { id: _, name, arguments, index: _, kind, status: _, exit_code: _, duration_ms: _, locations, diffs } =
        call;
    text(redactor, name);
    json(redactor, arguments);
    text(redactor, kind);
    for Location { path, line: _ } in locations {
        text(redactor, path);
    }
    for Diff { path, old_text, new_text } in diffs {
        text(redactor, path);
        optional(redactor, old_text);
        optional(redactor, new_text);
    }
}

fn text(redactor: &mut Redactor, text: &mut String) {
    if let Cow::Owned(changed) = redactor.text(text) {
        *text = changed;
    }
}

fn optional(redactor: &mut Redactor, text: &mut Option<String>) {
    if let Some(text) = text {
        self::text(redactor, text);
    }
}

fn json(redactor: &mut Redactor, json: &mut String) {
    if let Cow::Owned(changed) = redactor.json(json) {
        *json = changed;
    }
}
