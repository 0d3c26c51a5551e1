//! What metadata tells of a node that was this agent's own: the ids and fields that its records had.

use super::target::uuid_of;
use crate::json::{Flag, List, Raw, Str, Whole, members, parse};

members! {
    /// Metadata of a node.
    Own {
        uuid: Str<'a> = "uuid",
        uuids: List<Str<'a>> = "uuids",
        message_id: Str<'a> = "messageId",
        synthetic: Flag = "synthetic",
        api_error: Raw<'a> = "apiError",
        is_meta: Flag = "isMeta",
        is_compact_summary: Flag = "isCompactSummary",
        prompt_id: Str<'a> = "promptId",
        prompt_source: Str<'a> = "promptSource",
        permission_mode: Str<'a> = "permissionMode",
        interrupted_message_id: Str<'a> = "interruptedMessageId",
        kind: Str<'a> = "kind",
        logical_parent_uuid: Str<'a> = "logicalParentUuid",
        compact_metadata: Raw<'a> = "compactMetadata",
        thinking_bytes: List<Whole> = "thinkingBytes",
        opaque_blocks: Raw<'a> = "opaqueBlocks",
    }
}

members! {
    /// What the agent notes of an error of the provider.
    ApiError {
        error: Raw<'a> = "error",
        status: Raw<'a> = "status",
    }
}

members! {
    /// Metadata of a session.
    OwnSession {
        git_branch: Str<'a> = "gitBranch",
        version: Str<'a> = "version",
        entrypoint: Str<'a> = "entrypoint",
        title_source: Str<'a> = "titleSource",
    }
}

impl<'a> Own<'a> {
    /// Reads metadata; nothing of a node that was another agent's.
    pub(crate) fn of(metadata: &'a str) -> Self {
        // Parsing is spared where there is nothing to find.
        if memchr::memmem::find(metadata.as_bytes(), b"\"uuid").is_none() {
            return Self::default();
        }
        let own: Self = parse(metadata).unwrap_or_default();
        if own.uuids().next().is_some() { own } else { Self::default() }
    }

    /// The ids of its records, in order.
    pub(crate) fn uuids(&self) -> impl Iterator<Item = u128> {
        let several = self.uuids.items.iter().filter_map(|uuid| uuid_of(uuid.get()?));
        self.uuid.get().and_then(uuid_of).into_iter().chain(several)
    }

    /// Whether a node is this agent's own at all.
    pub(crate) fn is_own(&self) -> bool {
        self.uuids().next().is_some()
    }
}
