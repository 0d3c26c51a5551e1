//! Messages as they stand in a transcript, of the session folders and of the older tasks. Only
//! what the driver looks at is named; what it does not know is kept as text or skipped, never
//! an error.

use sepia_sdk::json::{Flag, Number, Raw, Str, members};

members! {
    /// A message.
    Message {
        id: Str<'a> = "id",
        role: Str<'a> = "role",
        content: Content<'a> = "content",
        /// Epoch milliseconds.
        ts: Raw<'a> = "ts",
        metadata: Raw<'a> = "metadata",
        model_info: ModelInfo<'a> = "modelInfo",
        metrics: Metrics<'a> = "metrics",
        /// What a session that came from elsewhere carries beside the message.
        carried: Raw<'a> = "sepia",
    }
}

members! {
    /// `metadata` of a message.
    Marks {
        /// `system` or `error`.
        display_role: Str<'a> = "displayRole",
        display_only: Flag = "displayOnly",
        /// 0: the message begins no turn of the person.
        user_run_span: Number = "userRunSpan",
        kind: Str<'a> = "kind",
        summary: Str<'a> = "summary",
        tokens_before: Number = "tokensBefore",
    }
}

members! {
    /// `modelInfo`.
    ModelInfo {
        id: Str<'a> = "id",
        /// Tasks.
        model_id: Str<'a> = "modelId",
        provider: Str<'a> = "provider",
    }
}

members! {
    /// `metrics`: tokens and dollars of one model call.
    Metrics {
        input: Number = "inputTokens",
        output: Number = "outputTokens",
        cache_read: Number = "cacheReadTokens",
        cache_write: Number = "cacheWriteTokens",
        cost: Number = "cost",
    }
}

members! {
    /// A block of a message's content, or of a tool's result.
    ContentBlock {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
        /// Sealed reasoning, or an image in base64.
        data: Str<'a> = "data",
        media_type: Str<'a> = "mediaType",
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        input: Raw<'a> = "input",
        tool_use_id: Str<'a> = "tool_use_id",
        is_error: Flag = "is_error",
        /// Of a tool's result, or of a file as text.
        content: Raw<'a> = "content",
        path: Str<'a> = "path",
        /// Images and documents of the older tasks.
        source: Source<'a> = "source",
        title: Str<'a> = "title",
        /// An item of a batch of results, which has no `type`.
        query: Str<'a> = "query",
        result: Raw<'a> = "result",
        success: Raw<'a> = "success",
        error: Raw<'a> = "error",
    }
}

members! {
    /// `source` of an image or a document.
    Source {
        kind: Str<'a> = "type",
        media_type: Str<'a> = "media_type",
        data: Str<'a> = "data",
        url: Str<'a> = "url",
    }
}

/// Content: one text, or blocks.
pub(crate) type Content<'a> = sepia_sdk::json::Content<'a, ContentBlock<'a>>;
