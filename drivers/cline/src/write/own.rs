//! What a node of the agent's own has in its metadata, looked up again when it is written.

use sepia_sdk::json::{Flag, List, Raw, Str, members, parse};

members! {
    /// Metadata of a node, which may be of another agent's.
    Own {
        message_id: Str<'a> = "messageId",
        mode: Str<'a> = "mode",
        original_texts: List<Str<'a>> = "originalTexts",
        message_metadata: Raw<'a> = "messageMetadata",
        provider: Str<'a> = "provider",
        input_without_cache: Flag = "inputWithoutCache",
        /// The call was not made at all.
        refused: Flag = "refused",
        items: List<Item<'a>> = "items",
    }
}

members! {
    /// One thing that a call asked for.
    Item {
        query: Str<'a> = "query",
        success: Flag = "success",
        error: Str<'a> = "error",
    }
}

members! {
    Shown {
        display_only: Flag = "displayOnly",
    }
}

impl<'a> Own<'a> {
    /// Of the metadata of a node.
    pub(super) fn of(metadata: &'a str) -> Self {
        parse(metadata).unwrap_or_default()
    }

    /// `metadata` of the message, if it is an object.
    pub(super) fn message_metadata(&self) -> Option<&'a str> {
        self.message_metadata.map(serde_json::value::RawValue::get).filter(|json| json.starts_with('{'))
    }

    /// The message is shown to people only: the model does not see it.
    pub(super) fn is_display_only(&self) -> bool {
        self.message_metadata().is_some_and(|json| parse::<Shown<'_>>(json).unwrap_or_default().display_only.0)
    }
}
