//! One look through a transcript: its index, its counts, what was typed in it, and what of it
//! can't be read.

use crate::carried::{Answered, Carried};
use crate::elements::{Element, Elements, End};
use crate::index::{Dialect, Index, MessagePlan, Source, number};
use crate::nodes::{self, Made};
use crate::pieces::Place;
use crate::record::Message;
use crate::stats;
use crate::task::shown;
use crate::text::Text;
use crate::time;
use sepia_ir::{Block, DriverError, MessageNode, PromptHistoryEntry, Role, Warning};
use sepia_sdk::Host;
use sepia_sdk::stats::Stats;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Nodes of files up to this size are kept from the first look, bytes.
pub(crate) const KEPT: u64 = 4 << 20;

/// Bytes of either end of a long message that are looked at.
const ENDS: u32 = 4 << 10;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) index: Index,
    pub(crate) stats: Stats,
    pub(crate) prompts: Vec<PromptHistoryEntry>,
    pub(crate) warnings: Vec<Warning>,
    /// What is carried without being understood, by type.
    pub(crate) opaque: BTreeMap<String, u64>,
    /// All nodes, complete, if they were to be kept.
    pub(crate) nodes: Option<Vec<MessageNode>>,
    /// The document ended before it was closed.
    pub(crate) torn: bool,
    /// The compaction is of these messages.
    pub(crate) compacted: bool,
}

/// Looks through a transcript. With `keep` the nodes of one that is not large stay.
pub(crate) fn gather(host: &Host, source: &Source, keep: bool) -> Result<Gathered, DriverError> {
    let keep = keep && source.place.bytes <= KEPT;
    let mut gathering = Gathering::new(source, keep);
    let mut elements = Elements::new(host, source.place.clone());
    while let Some(element) = elements.next()? {
        gathering.take(host, element)?;
    }
    gathering.ended(elements.end()?);
    Ok(gathering.finish())
}

/// The nodes of an element, as they stand in it alone.
pub(crate) fn made(text: &Text<'_>, first: u32, dialect: Dialect) -> serde_json::Result<Option<Made>> {
    if dialect == Dialect::Shown {
        return Ok(shown::nodes(text.parse()?, first));
    }
    let message: Message<'_> = text.parse()?;
    Ok((!message.odd).then(|| nodes::of(message, text.get(), first, dialect)))
}

/// The node of a message that is too long to be read.
pub(crate) fn stub(
    host: &Host,
    place: &Place,
    (offset, length): (u64, u64),
    first: u32,
) -> Result<MessageNode, DriverError> {
    let head = host.read(place.store, &place.path, offset, ENDS)?;
    let tail = host.read(place.store, &place.path, offset + length.saturating_sub(ENDS.into()), ENDS)?;
    Ok(nodes::stub([&head, &tail], offset, length, first))
}

struct Gathering<'a> {
    source: &'a Source,
    found: Gathered,
    /// Elements met.
    elements: u32,
    next: u32,
    last_time: f64,
    /// The latest call of an id.
    calls: HashMap<String, Called>,
    ids: HashSet<String>,
    /// Position of each message that the model sees, with its id, as far as the compaction looked.
    looked_at: Vec<(u32, Option<String>)>,
}

/// A call that was met.
struct Called {
    node: u32,
    /// Among the calls of the node.
    position: u32,
    name: String,
    /// Its node tells the outcome by itself.
    settled: bool,
}

impl<'a> Gathering<'a> {
    fn new(source: &'a Source, keep: bool) -> Self {
        let mut found = Gathered { nodes: keep.then(Vec::new), ..Gathered::default() };
        found.index.file_time = source.file_time;
        Self {
            source,
            found,
            elements: 0,
            next: 1,
            last_time: 0.0,
            calls: HashMap::new(),
            ids: HashSet::new(),
            looked_at: Vec::new(),
        }
    }

    fn warn(&mut self, code: &str, what: &str, offset: u64, bytes: Option<u64>) {
        let path = &self.source.place.path;
        let mut warning = Warning::new(code, format!("{what} (`{path}`)")).in_file(path);
        warning.offset = Some(offset);
        warning.bytes = bytes;
        self.found.warnings.push(warning);
    }

    fn take(&mut self, host: &Host, element: Element<'_>) -> Result<(), DriverError> {
        let position = self.elements;
        self.elements = self.elements.saturating_add(1);
        let Element { offset, length, bytes } = element;
        let Some(bytes) = bytes else {
            let node = stub(host, &self.source.place, (offset, length), self.next)?;
            self.warn(
                "long-message",
                "a message is too long to be read; its node tells its place and size",
                offset,
                Some(length),
            );
            self.add(position, (offset, length), Made { nodes: vec![node], ..Made::default() });
            return Ok(());
        };
        let text = Text::of(bytes);
        let made = match made(&text, self.next, self.source.dialect) {
            Ok(Some(made)) => made,
            Ok(None) => {
                if self.source.dialect != Dialect::Shown || !text.get().starts_with('{') {
                    *self.found.opaque.entry("message".to_owned()).or_default() += 1;
                }
                return Ok(());
            }
            Err(error) => {
                let what = format!("a message can't be read and was passed over: {error}");
                self.warn("unreadable-message", &what, offset, Some(length));
                return Ok(());
            }
        };
        if text.repairs.any() {
            let (code, what) = text.repairs.told();
            self.warn(code, what, offset, None);
        }
        for kind in &made.opaque {
            *self.found.opaque.entry(kind.chars().take(64).collect()).or_default() += 1;
        }
        self.results(&made);
        self.add(position, (offset, length), made);
        Ok(())
    }

    /// Links the results of a message to the calls before it.
    fn results(&mut self, made: &Made) {
        let carried = made.carried.as_ref();
        let settled = carried.is_some_and(|carried| carried.settled);
        for (at, node) in made.nodes.iter().enumerate().filter(|(_, node)| node.role == Role::Tool) {
            let Some(call) = node.tool_call_id.as_ref().and_then(|id| self.calls.get(id)) else { continue };
            let outcome = match carried.and_then(|carried| carried.outcome) {
                Some(Answered::So(outcome)) => Some(outcome),
                Some(Answered::Unknown) => None,
                None => made.outcomes.get(at).copied(),
            };
            if let Some(outcome) = outcome.filter(|_| !call.settled) {
                self.found.index.note(call.node, call.position, outcome);
            }
            let name = if settled { String::new() } else { call.name.clone() };
            self.found.index.calls.insert(number(node), (call.node, name));
        }
    }

    fn add(&mut self, position: u32, (offset, length): (u64, u64), made: Made) {
        let Made { nodes, time, message_id, display_only, carried, .. } = made;
        let message = u32::try_from(self.found.index.messages.len()).unwrap_or(u32::MAX);
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        self.found.index.messages.push(MessagePlan { offset, length, first: self.next, nodes: count });
        if let Some(carried) = &carried {
            self.place(self.next, carried);
        }
        self.next = self.next.saturating_add(count);
        match (time, self.source.times.get(&position)) {
            (Some(time), _) => self.last_time = time,
            (None, Some(time)) => {
                self.last_time = *time;
                self.found.index.times.insert(message, *time);
            }
            (None, None) => {
                let time = if self.last_time > 0.0 { self.last_time } else { self.source.file_time };
                self.found.index.times.insert(message, time);
            }
        }
        if let Some(tokens) = self.source.tokens.get(&position) {
            self.found.index.tokens.insert(message, *tokens);
        }
        let compacts =
            self.source.compaction.as_ref().is_some_and(|known| self.looked_at.len() < known.messages as usize);
        if compacts && !display_only {
            self.looked_at.push((message, message_id.clone()));
        }
        let Carried { settled, side, .. } = carried.unwrap_or_default();
        for mut node in nodes {
            self.repetition(&node, message_id.as_deref());
            for (at, call) in (0u32..).zip(&node.tool_calls) {
                let called = Called { node: number(&node), position: at, name: call.name.clone(), settled };
                if side {
                    // A branch that was left may have been begun again with calls of the same ids.
                    self.calls.entry(call.id.clone()).or_insert(called);
                } else {
                    self.calls.insert(call.id.clone(), called);
                }
            }
            self.found.index.complete_early(&mut node, message);
            self.count(&node);
            if let Some(kept) = &mut self.found.nodes {
                kept.push(node);
            }
        }
    }

    /// Notes where in the tree a node is.
    fn place(&mut self, node: u32, carried: &Carried) {
        if carried.side {
            self.found.index.side.push(node);
        }
        if let Some(back) = carried.back {
            let parent = if back == 0 { 0 } else { node.saturating_sub(back) };
            self.found.index.parents.insert(node, parent);
        }
    }

    /// Notes a model message that was there before: two writers, or a copy.
    fn repetition(&mut self, node: &MessageNode, message_id: Option<&str>) {
        if node.role != Role::Assistant || node.usage.is_none() {
            return;
        }
        let Some(id) = message_id.map(str::to_owned) else { return };
        if !self.ids.insert(id) {
            self.found.index.repeated.push(number(node));
        }
    }

    fn count(&mut self, node: &MessageNode) {
        let flag = |name: &str| node.metadata.contains(name);
        let typed = node.role == Role::User && is_typed(node);
        stats::count(&mut self.found.stats, node, typed, flag("\"displayOnly\":true"));
        if typed {
            self.found.prompts.push(PromptHistoryEntry {
                content: node.content.clone(),
                timestamp: time::milliseconds(node.created_at),
                is_shell: false,
            });
        }
    }

    fn ended(&mut self, end: End) {
        match end {
            End::Whole => {}
            End::Torn { offset, bytes } => {
                self.found.torn = true;
                let what = "the file ends before its last message does; what is whole was read";
                self.warn("torn-record", what, offset, Some(bytes));
            }
            End::Trailing { offset, bytes } => {
                self.warn(
                    "trailing-bytes",
                    "there is something behind the messages, which was passed over",
                    offset,
                    Some(bytes),
                );
            }
            End::NoList => {
                self.found.torn = true;
                self.warn("no-messages", "there is no list of messages in the file", 0, Some(self.source.place.bytes));
            }
        }
    }

    fn finish(mut self) -> Gathered {
        self.found.index.total = self.next - 1;
        let away = self.source.compaction.as_ref().and_then(|compacted| {
            let (_, last) = self.looked_at.get(compacted.messages.checked_sub(1)? as usize)?;
            if compacted.last.is_some() && compacted.last != *last {
                return None;
            }
            let kept = |id: &Option<String>| id.as_ref().is_some_and(|id| compacted.kept.contains(id));
            Some(self.looked_at.iter().filter(|(_, id)| !kept(id)).map(|(at, _)| *at).collect::<Vec<_>>())
        });
        if let Some(away) = away {
            self.found.compacted = true;
            self.found.index.away = away;
        }
        let Gathered { nodes, index, .. } = &mut self.found;
        for node in nodes.iter_mut().flatten() {
            let message = u32::try_from(index.message_of(number(node))).unwrap_or(u32::MAX);
            index.complete_late(node, message);
        }
        self.found
    }
}

/// Whether a person said what a user node holds.
pub(crate) fn is_typed(node: &MessageNode) -> bool {
    let says = !node.content.trim().is_empty() || node.blocks.iter().any(|block| !matches!(block, Block::Text(_)));
    let marks = sepia_sdk::json::parse::<Marked<'_>>(&node.metadata);
    says && !marks.is_ok_and(|marked| marked.hidden.0 || marked.kind.is("tool-report"))
}

sepia_sdk::members! {
    /// What is looked up again in the metadata of a node.
    Marked {
        hidden: sepia_sdk::json::Flag = "hidden",
        kind: sepia_sdk::json::Str<'a> = "kind",
    }
}
