//! What is asked of every line when a whole transcript is looked through, and the answer.

use crate::ids::{Id, id};
use sepia_ir::Projection;
use sepia_sdk::packed::{LineKind, Row, Value};
use std::ops::Range;

/// Values longer than this are of no use here: ids, names, times and counts are short.
const MAX_VALUE: u32 = 256;

/// First those that tell the tree alone, then those that every look needs, then those that only counts need.
const MEMBERS: [&str; 26] = [
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "message.content[].tool_use_id",
    "message.content[].id",
    "leafUuid",
    "messageId",
    "sourceToolAssistantUUID",
    "agentId",
    "explicit",
    "sepia.exact",
    "type",
    "subtype",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "message.id",
    "message.content[].type",
    "message.content[].is_error",
    "timestamp",
    "message.usage.output_tokens",
    "sepia.node",
    "message.model",
    "message.usage.input_tokens",
    "message.usage.cache_read_input_tokens",
    "message.usage.cache_creation_input_tokens",
];
/// The first member that is not of the tree alone.
const SHARED: usize = 11;
/// The first of the members that only counts need.
const OF_COUNTS: usize = 22;

/// How much a look through a transcript is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its tree: which lines make which nodes, and who follows whom.
    Tree,
    /// Models and tokens, too.
    Counts,
    /// Models and tokens without the tree: what a row of a list counts. Lines of sub-agents can't be told apart.
    Tally,
}

impl Detail {
    /// Whether it tells who follows whom.
    pub(crate) fn has_tree(self) -> bool {
        self != Self::Tally
    }

    /// The members that are asked for, of [`MEMBERS`].
    fn members(self) -> Range<usize> {
        match self {
            Self::Tree => 0..OF_COUNTS,
            Self::Counts => 0..MEMBERS.len(),
            Self::Tally => SHARED..MEMBERS.len(),
        }
    }
}

/// The members of a transcript that a look needs.
pub(crate) fn query(offset: u64, detail: Detail) -> Projection {
    let members = MEMBERS[detail.members()].iter().map(|&member| member.to_owned()).collect();
    Projection { members, offset, max_value: MAX_VALUE }
}

/// What a line says of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ParentMember {
    /// There is no such member.
    #[default]
    Missing,
    /// `null`: a root.
    Null,
    Is(Id),
}

/// One content block, as far as the tree needs it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockLine<'r> {
    element: u32,
    pub(crate) kind: &'r str,
    pub(crate) tool_use_id: Id,
    pub(crate) id: Id,
    pub(crate) is_error: bool,
}

/// One line of the projection.
#[derive(Debug, Default)]
pub(crate) struct Line<'r> {
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) kind: &'r str,
    pub(crate) subtype: &'r str,
    pub(crate) uuid: Option<&'r [u8]>,
    pub(crate) parent: ParentMember,
    pub(crate) logical_parent: Id,
    pub(crate) sidechain: bool,
    pub(crate) meta: bool,
    pub(crate) compact_summary: bool,
    pub(crate) message_id: Id,
    pub(crate) leaf: Id,
    /// The leaf holds although the newest record follows it.
    pub(crate) explicit: bool,
    /// A record for a node that the agent has no place for.
    pub(crate) carries_node: bool,
    /// The parent is just what is recorded, whatever parallel calls look like.
    pub(crate) exact: bool,
    /// `messageId` of a file-history record.
    pub(crate) alias: Id,
    pub(crate) source: Id,
    pub(crate) time: Option<f64>,
    pub(crate) agent_id: Option<&'r str>,
    pub(crate) model: Option<&'r str>,
    /// Tokens: input, output, read from and written to the cache.
    pub(crate) usage: [u64; 4],
    pub(crate) blocks: Vec<BlockLine<'r>>,
}

impl<'r> Line<'r> {
    /// Reads a row of a look of this detail into this line, reusing its memory. False when the row is no object.
    pub(crate) fn read(&mut self, row: &Row<'r>, detail: Detail) -> bool {
        let blocks = std::mem::take(&mut self.blocks);
        *self = Self { offset: row.offset, length: row.length, blocks, ..Self::default() };
        self.blocks.clear();
        if !matches!(row.kind, LineKind::Object | LineKind::Unterminated) {
            return false;
        }
        let first = detail.members().start;
        let mut any = false;
        for value in row.values() {
            any = true;
            self.take(first + usize::from(value.member), value);
        }
        any || row.kind == LineKind::Object
    }

    /// Takes a value, by its place in [`MEMBERS`].
    fn take(&mut self, member: usize, value: Value<'r>) {
        let id_of = |value: Value<'r>| value.string().map_or(0, id);
        match member {
            0 => self.uuid = value.string(),
            1 => {
                self.parent = match value.string() {
                    Some(text) => ParentMember::Is(id(text)),
                    None => ParentMember::Null,
                }
            }
            2 => self.logical_parent = id_of(value),
            3 => self.block(value).tool_use_id = id_of(value),
            4 => self.block(value).id = id_of(value),
            5 => self.leaf = id_of(value),
            6 => self.alias = id_of(value),
            7 => self.source = id_of(value),
            8 => self.agent_id = value.plain(),
            9 => self.explicit = value.is_true(),
            10 => self.exact = value.is_true(),
            11 => self.kind = value.plain().unwrap_or_default(),
            12 => self.subtype = value.plain().unwrap_or_default(),
            13 => self.sidechain = value.is_true(),
            14 => self.meta = value.is_true(),
            15 => self.compact_summary = value.is_true(),
            16 => self.message_id = id_of(value),
            17 => self.block(value).kind = value.plain().unwrap_or_default(),
            18 => self.block(value).is_error = value.is_true(),
            19 => self.time = crate::time::of_part(value.json),
            20 => self.usage[1] = number(value),
            21 => self.carries_node = value.is_true(),
            22 => self.model = value.plain(),
            23 => self.usage[0] = number(value),
            24 => self.usage[2] = number(value),
            _ => self.usage[3] = number(value),
        }
    }

    fn block(&mut self, value: Value<'r>) -> &mut BlockLine<'r> {
        // The values of an element stand together.
        if self.blocks.last().is_none_or(|block| block.element != value.element) {
            self.blocks.push(BlockLine { element: value.element, ..BlockLine::default() });
        }
        let at = self.blocks.len() - 1;
        &mut self.blocks[at]
    }

    /// Whether it is a message of the conversation.
    pub(crate) fn conversational(&self) -> bool {
        matches!(self.kind, "user" | "assistant")
    }

    pub(crate) fn tool_results(&self) -> impl Iterator<Item = &BlockLine<'r>> {
        self.blocks.iter().filter(|b| b.kind == "tool_result")
    }

    /// A user record that is more than tool results.
    pub(crate) fn speaks(&self) -> bool {
        self.blocks.is_empty() || self.blocks.iter().any(|b| b.kind != "tool_result")
    }
}

/// A count; whatever is none reads as 0, and no count is taken for more than 2^48, so that sums stay
/// exact and can't overflow.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(crate) fn count(number: f64) -> u64 {
    number.clamp(0.0, 281_474_976_710_656.0) as u64
}

fn number(value: Value<'_>) -> u64 {
    let Some(json) = value.json else { return 0 };
    // Nearly all of them are a few digits; a longer number may be rounded.
    if json.len() <= 14 && json.iter().all(u8::is_ascii_digit) {
        return json.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    }
    let text = std::str::from_utf8(json).ok();
    text.and_then(|text| text.parse().ok()).map_or(0, count)
}
