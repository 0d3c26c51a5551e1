//! The records of a transcript: one JSON object a line. Only what the driver looks at is
//! named; what it does not know is skipped, never an error.

use crate::json::{Flag, Number, Raw, Str, members};

members! {
    /// A line in full, parsed once into what a node is made of.
    Entry {
        kind: Str<'a> = "type",
        subtype: Str<'a> = "subtype",
        uuid: Str<'a> = "uuid",
        parent_uuid: Str<'a> = "parentUuid",
        logical_parent_uuid: Str<'a> = "logicalParentUuid",
        timestamp: Raw<'a> = "timestamp",
        is_sidechain: Flag = "isSidechain",
        is_meta: Flag = "isMeta",
        is_compact_summary: Flag = "isCompactSummary",
        message: Message<'a> = "message",
        request_id: Str<'a> = "requestId",
        cwd: Str<'a> = "cwd",
        version: Str<'a> = "version",
        git_branch: Str<'a> = "gitBranch",
        entrypoint: Str<'a> = "entrypoint",
        tool_use_result: ToolUseResult<'a> = "toolUseResult",
        prompt_id: Str<'a> = "promptId",
        permission_mode: Str<'a> = "permissionMode",
        prompt_source: Str<'a> = "promptSource",
        interrupted_message_id: Str<'a> = "interruptedMessageId",
        /// Text of a system record.
        content: Str<'a> = "content",
        level: Str<'a> = "level",
        compact_metadata: Raw<'a> = "compactMetadata",
        is_api_error: Flag = "isApiErrorMessage",
        error: Raw<'a> = "error",
        api_error_status: Raw<'a> = "apiErrorStatus",
        forked_from: Raw<'a> = "forkedFrom",
        carried: Raw<'a> = "sepia",
    }
}

members! {
    /// A line as far as a list row needs it, when it has to be parsed for that.
    Outline {
        kind: Str<'a> = "type",
        timestamp: Raw<'a> = "timestamp",
        is_sidechain: Flag = "isSidechain",
        is_meta: Flag = "isMeta",
        is_compact_summary: Flag = "isCompactSummary",
        message: Raw<'a> = "message",
        session_id: Str<'a> = "sessionId",
        agent_id: Str<'a> = "agentId",
        cwd: Str<'a> = "cwd",
        version: Str<'a> = "version",
        git_branch: Str<'a> = "gitBranch",
        entrypoint: Str<'a> = "entrypoint",
        permission_mode: Str<'a> = "permissionMode",
        custom_title: Str<'a> = "customTitle",
        ai_title: Str<'a> = "aiTitle",
        summary: Str<'a> = "summary",
        last_prompt: Str<'a> = "lastPrompt",
        message_id: Str<'a> = "messageId",
        snapshot: Raw<'a> = "snapshot",
        carried: Raw<'a> = "sepia",
    }
}

members! {
    /// `message` of a user or assistant record.
    Message {
        id: Str<'a> = "id",
        model: Str<'a> = "model",
        content: Content<'a> = "content",
        stop_reason: Str<'a> = "stop_reason",
        usage: Usage<'a> = "usage",
    }
}

members! {
    /// Token counts of one model call.
    Usage {
        input: Number = "input_tokens",
        output: Number = "output_tokens",
        cache_read: Number = "cache_read_input_tokens",
        cache_write: Number = "cache_creation_input_tokens",
        /// Ties the record to its line, as its siblings are.
        service_tier: Str<'a> = "service_tier",
    }
}

members! {
    /// One content block of any type.
    ContentBlock {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
        data: Str<'a> = "data",
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        input: Raw<'a> = "input",
        tool_use_id: Str<'a> = "tool_use_id",
        content: Content<'a> = "content",
        is_error: Flag = "is_error",
        source: Source<'a> = "source",
        title: Str<'a> = "title",
    }
}

members! {
    /// Where the bytes of an image or document are.
    Source {
        kind: Str<'a> = "type",
        media_type: Str<'a> = "media_type",
        data: Str<'a> = "data",
        url: Str<'a> = "url",
    }
}

members! {
    /// What the agent noted of a tool's outcome for its own display. Everything stays text
    /// until a diff is made of it: it often repeats whole files.
    ToolUseResult {
        file_path: Raw<'a> = "filePath",
        old_string: Raw<'a> = "oldString",
        new_string: Raw<'a> = "newString",
        original_file: Raw<'a> = "originalFile",
        content: Raw<'a> = "content",
        edits: Raw<'a> = "edits",
        notebook_path: Raw<'a> = "notebook_path",
        notebook_before: Raw<'a> = "original_file",
        notebook_after: Raw<'a> = "updated_file",
        duration_ms: Number = "durationMs",
        total_duration_ms: Number = "totalDurationMs",
        agent_id: Str<'a> = "agentId",
        interrupted: Flag = "interrupted",
        persisted_output_path: Str<'a> = "persistedOutputPath",
        persisted_output_size: Number = "persistedOutputSize",
        background_task_id: Str<'a> = "backgroundTaskId",
    }
}

/// Content of a message or of a tool result.
pub(crate) type Content<'a> = sepia_sdk::json::Content<'a, ContentBlock<'a>>;
