//! What the start and the end of a transcript tell: all that a list row needs, in the
//! ordinary case, without the bytes between.

use crate::entry::{Content, Message};
use crate::json::parse;
use crate::metadata::clean;
use crate::outline::{self, Outline, Part, outlined};
use crate::place::STORE;
use crate::prompt::{self, Spoken};
use crate::time;
use sepia_ir::{DriverError, FileEntry, Warning};
use sepia_sdk::Host;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes of the start that are looked at first: nearly all first prompts end in them.
pub(crate) const FIRST_HEAD: u32 = 8 << 10;
/// Bytes of the end that are looked at first: most last [`NEWEST_AMONG`] lines begin in them.
pub(crate) const FIRST_TAIL: u32 = 16 << 10;
/// Bytes of each end that are looked at in the worst case.
const MOST: usize = 8 << 20;
/// Each further look is so many times as long.
const GROWTH: usize = 8;
/// Lines at the end among which the newest time is looked for: clocks jump, but not far.
const NEWEST_AMONG: u32 = 8;

/// What the ends of a transcript tell.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// There is a message of this session in what was seen.
    pub(crate) conversational: bool,
    pub(crate) created: Option<f64>,
    pub(crate) last_activity: Option<f64>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) git_branch: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) entrypoint: Option<String>,
    pub(crate) permission_mode: Option<String>,
    /// `sessionId` of the first line that has one.
    pub(crate) session_id: Option<String>,
    pub(crate) agent_id: Option<String>,
    /// First text that a person typed.
    pub(crate) first_prompt: Option<String>,
    /// First command, when nothing was typed.
    pub(crate) first_command: Option<String>,
    /// The newest prompt as the agent noted it, cut by the agent.
    pub(crate) last_prompt: Option<String>,
    pub(crate) warnings: Vec<Warning>,
    /// Where the newest message begins, as far as the end of the file was looked at.
    pub(crate) spoken_at: Option<u64>,
}

/// Which lines of a file are the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All but those of sub-agents.
    Main,
    /// All.
    Whole,
}

impl Scope {
    fn holds(self, outline: &Outline<'_>) -> bool {
        self == Self::Whole || !outline.is_sidechain.0
    }
}

/// Looks at the ends, given the first piece of each; reads more where that is not enough.
pub(crate) fn look(
    host: &Host,
    file: &FileEntry,
    head: Vec<u8>,
    tail: Vec<u8>,
    scope: Scope,
) -> Result<Ends, DriverError> {
    let mut ends = Ends::default();
    ends.look_at_head(host, file, head, scope)?;
    ends.look_at_tail(host, file, tail, scope)?;
    Ok(ends)
}

impl Ends {
    fn look_at_head(
        &mut self,
        host: &Host,
        file: &FileEntry,
        mut head: Vec<u8>,
        scope: Scope,
    ) -> Result<(), DriverError> {
        let mut at = 0;
        loop {
            let whole = head.len() as u64 >= file.bytes;
            while let Some(line) = next_line(&head, at, whole) {
                at = line.end + 1;
                if self.head_line(&head[line], scope) {
                    return Ok(());
                }
            }
            if whole || head.len() >= MOST {
                return Ok(());
            }
            let more = (head.len().max(1) * (GROWTH - 1)).min(MOST - head.len());
            let more = host.read(STORE, &file.path, head.len() as u64, u32::try_from(more).unwrap_or(u32::MAX))?;
            if more.is_empty() {
                return Ok(());
            }
            head.extend_from_slice(&more);
        }
    }

    /// Takes a line of the start; says whether nothing more is to be found there.
    fn head_line(&mut self, line: &[u8], scope: Scope) -> bool {
        self.with_outline(line, scope, |ends, outline| {
            let conversational = matches!(outline.kind.get(), Some("user" | "assistant"));
            ends.conversational |= conversational;
            if let Some(time) = time::of_part(outline.timestamp) {
                ends.created.get_or_insert(time);
                if conversational && ends.last_activity.is_none_or(|known| time > known) {
                    ends.last_activity = Some(time);
                }
            }
            keep_first(&mut ends.cwd, outline.cwd.filled());
            keep_first(&mut ends.session_id, outline.session_id.filled());
            keep_first(&mut ends.agent_id, outline.agent_id.filled());
            if outline.kind.is("assistant") && ends.model.is_none() {
                ends.model = model_of(outline.message);
            }
            if outline.kind.is("user") && !outline.is_meta.0 && !outline.is_compact_summary.0 {
                match spoken(outline.message) {
                    Some(Told::Typed(text)) => keep_first(&mut ends.first_prompt, Some(&text)),
                    Some(Told::Command(text)) => keep_first(&mut ends.first_command, Some(&text)),
                    Some(Told::Shell(line)) => keep_first(&mut ends.first_command, Some(&format!("!{line}"))),
                    None => {}
                }
            }
        });
        self.first_prompt.is_some() && self.created.is_some() && self.cwd.is_some() && self.session_id.is_some()
    }

    fn look_at_tail(
        &mut self,
        host: &Host,
        file: &FileEntry,
        mut tail: Vec<u8>,
        scope: Scope,
    ) -> Result<(), DriverError> {
        loop {
            let start = file.bytes.saturating_sub(tail.len() as u64);
            let mut newest = Newest::default();
            let mut end = tail.len();
            let mut first = true;
            while let Some(line) = previous_line(&tail, end, start == 0) {
                let last_of_file = std::mem::take(&mut first) && line.end == tail.len();
                if !newest.take(start + line.start as u64, &tail[line.clone()], scope)
                    && last_of_file
                    && !line.is_empty()
                {
                    self.torn(file, start + line.start as u64, line.len());
                }
                if newest.complete() || line.start == 0 {
                    break;
                }
                end = line.start - 1;
            }
            let enough = newest.time.is_some() && newest.model.is_some();
            if enough || start == 0 || tail.len() >= MOST {
                newest.give(self);
                return Ok(());
            }
            let longer = (tail.len().max(1) * GROWTH).min(MOST);
            let from = file.bytes.saturating_sub(longer as u64);
            tail = host.read(STORE, &file.path, from, u32::try_from(longer).unwrap_or(u32::MAX))?;
        }
    }

    /// Notes that the end of the file is no record.
    fn torn(&mut self, file: &FileEntry, offset: u64, bytes: usize) {
        if self.warnings.is_empty() {
            let mut warning = torn(&file.path).passing_over(bytes as u64);
            warning.offset = Some(offset);
            self.warnings.push(warning);
        }
    }

    fn with_outline(&mut self, line: &[u8], scope: Scope, take: impl Fn(&mut Self, &Outline<'_>)) -> bool {
        outlined(line, |outline| {
            if scope.holds(outline) {
                take(self, outline);
            }
        })
    }
}

/// The warning of a file whose last line is no whole record.
pub(crate) fn torn(path: &str) -> Warning {
    let message = format!("the last record of `{path}` is cut off and was passed over; the file was left as it is");
    Warning::new("torn-record", message).in_file(path)
}

/// What is sought from the end of the file backwards.
#[derive(Default)]
struct Newest {
    lines: u32,
    time: Option<f64>,
    model: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
    entrypoint: Option<String>,
    permission_mode: Option<String>,
    last_prompt: Option<String>,
    conversational: bool,
    spoken_at: Option<u64>,
}

impl Newest {
    /// Takes a line, newest first; whether it could be parsed.
    fn take(&mut self, offset: u64, line: &[u8], scope: Scope) -> bool {
        self.lines += u32::from(!line.trim_ascii().is_empty());
        let mut read = |outline: &Outline<'_>| {
            if !scope.holds(outline) {
                return;
            }
            if matches!(outline.kind.get(), Some("user" | "assistant")) {
                self.conversational = true;
                self.spoken_at = self.spoken_at.max(Some(offset));
                if let Some(time) = time::of_part(outline.timestamp) {
                    self.time = Some(self.time.map_or(time, |known| known.max(time)));
                }
            }
            if outline.kind.is("assistant") && self.model.is_none() {
                self.model = model_of(outline.message);
            }
            keep_first(&mut self.git_branch, outline.git_branch.filled());
            keep_first(&mut self.version, outline.version.filled());
            keep_first(&mut self.entrypoint, outline.entrypoint.filled());
            keep_first(&mut self.permission_mode, outline.permission_mode.filled());
            if outline.kind.is("last-prompt") {
                keep_first(&mut self.last_prompt, outline.last_prompt.filled());
            }
        };
        outlined(line, &mut read)
    }

    fn complete(&self) -> bool {
        self.lines >= NEWEST_AMONG && self.time.is_some() && self.model.is_some() && self.version.is_some()
    }

    fn give(self, ends: &mut Ends) {
        ends.conversational |= self.conversational;
        ends.last_activity = self.time.or(ends.last_activity);
        ends.model = self.model.or(ends.model.take());
        ends.git_branch = self.git_branch;
        ends.version = self.version;
        ends.entrypoint = self.entrypoint;
        ends.permission_mode = self.permission_mode;
        ends.last_prompt = self.last_prompt;
        ends.spoken_at = self.spoken_at;
    }
}

fn keep_first(known: &mut Option<String>, found: Option<&str>) {
    if let (None, Some(found)) = (&known, found.filter(|found| !found.is_empty())) {
        *known = Some(found.to_owned());
    }
}

/// The model of a message that a model made.
fn model_of(message: Part<'_>) -> Option<String> {
    let model = outline::model_of(message?)?;
    (!model.is_empty() && model != "<synthetic>").then(|| model.into_owned())
}

/// What a person said with a user record.
pub(crate) enum Told {
    Typed(String),
    /// A slash command.
    Command(String),
    /// A command for the shell.
    Shell(String),
}

/// What a person said with a user record; none for tool results and for what the agent wrote.
pub(crate) fn spoken(message: Part<'_>) -> Option<Told> {
    let message = message?;
    // Checking first is several times as fast as repairing what needs no repair.
    let message = std::str::from_utf8(message).map_or_else(|_| String::from_utf8_lossy(message), Cow::Borrowed);
    let repaired = clean(&message);
    let message: Message<'_> = parse(&repaired).ok()?;
    let told = |spoken: Spoken<'_>| match spoken {
        Spoken::Machine(_) => None,
        Spoken::Typed(text) => Some(Told::Typed(text.to_owned())),
        Spoken::Command(command) => Some(Told::Command(command)),
        Spoken::Shell(line) => Some(Told::Shell(line.to_owned())),
    };
    match &message.content {
        Content::Text(text) => told(prompt::classify(text)),
        Content::Blocks(blocks) => {
            if blocks.iter().any(|block| block.kind.is("tool_result")) {
                return None;
            }
            let texts = blocks.iter().filter(|block| block.kind.is("text")).filter_map(|block| block.text.get());
            match prompt::of_texts(texts) {
                Some(spoken) => told(spoken),
                // A picture alone is a prompt too.
                None => {
                    blocks.iter().any(|block| block.source.kind.get().is_some()).then(|| Told::Typed(String::new()))
                }
            }
        }
        Content::Missing | Content::Odd => None,
    }
}

/// The line that begins at `at`; none when it isn't there whole.
fn next_line(bytes: &[u8], at: usize, whole: bool) -> Option<Range<usize>> {
    let rest = bytes.get(at..)?;
    match memchr::memchr(b'\n', rest) {
        Some(length) => Some(at..at + length),
        None => (whole && !rest.is_empty()).then_some(at..bytes.len()),
    }
}

/// The line that ends before `end`; none when its start isn't there.
fn previous_line(bytes: &[u8], end: usize, whole: bool) -> Option<Range<usize>> {
    match memchr::memrchr(b'\n', &bytes[..end]) {
        Some(feed) => Some(feed + 1..end),
        None => (whole && end > 0).then_some(0..end),
    }
}
