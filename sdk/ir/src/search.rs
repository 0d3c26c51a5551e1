//! What is looked for in the texts of sessions, and what was found.

use crate::session::Session;
use crate::warning::Warning;
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Longest text of a query, bytes.
pub const MOST_QUERY: usize = 4 << 10;
/// Most hits of one session.
pub const MOST_HITS: u32 = 100;
/// Most text on each side of a match, bytes.
pub const MOST_CONTEXT: u32 = 1_000;
/// Longest snippet, bytes: a match is shown cut when it is longer than the rest of it.
pub const MOST_SNIPPET: usize = 2 * MOST_CONTEXT as usize + 1_024;

/// What a person looks for in the texts of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SearchQuery {
    /// Text to find as it stands, or a regular expression. Not empty, at most [`MOST_QUERY`].
    pub text: String,
    /// `text` is a regular expression in the syntax of the crate `regex`; `^` and `$` match at
    /// the ends of lines.
    pub regex: bool,
    /// Letters match whatever their case, by Unicode's simple folding.
    #[cfg_attr(feature = "component", component(name = "ignore-case"))]
    pub ignore_case: bool,
    /// Where to look; empty: everywhere.
    pub parts: Vec<SearchPart>,
    /// Hits of one session at most, 1 to [`MOST_HITS`].
    pub hits: u32,
    /// Bytes of text to show on each side of a match, at most [`MOST_CONTEXT`].
    pub context: u32,
}

impl SearchQuery {
    /// Whether texts of this part are looked at.
    pub fn looks_at(&self, part: SearchPart) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }
}

/// What of a session a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum SearchPart {
    /// The title.
    #[cfg_attr(feature = "component", component(name = "title"))]
    Title,
    /// What a person typed, or the agent in the person's name.
    #[cfg_attr(feature = "component", component(name = "user"))]
    User,
    /// What the model said.
    #[cfg_attr(feature = "component", component(name = "assistant"))]
    Assistant,
    /// What the agent program said.
    #[cfg_attr(feature = "component", component(name = "system"))]
    System,
    /// Reasoning that is not sealed.
    #[cfg_attr(feature = "component", component(name = "thinking"))]
    Thinking,
    /// The text values in the arguments of a tool call; no key and no number.
    #[cfg_attr(feature = "component", component(name = "call"))]
    Call,
    /// What a tool gave.
    #[cfg_attr(feature = "component", component(name = "result"))]
    Result,
}

impl SearchPart {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Title, Self::User, Self::Assistant, Self::System, Self::Thinking, Self::Call, Self::Result];

    /// Name on the wires.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
        }
    }
}

/// Part of a text, in bytes of its UTF-8 form, between characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct TextSpan {
    /// First byte.
    pub start: u32,
    /// Behind the last.
    pub end: u32,
}

/// One text of a session in which the query matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// What the text is.
    pub part: SearchPart,
    /// Absent for titles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "node-id"))]
    pub node_id: Option<i64>,
    /// When the node was made, epoch seconds; 0 for titles.
    #[cfg_attr(feature = "component", component(name = "created-at"))]
    pub created_at: f64,
    /// The tool of calls and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "tool-name"))]
    pub tool_name: Option<String>,
    /// The first match with the text around it, as it is in the text.
    pub snippet: String,
    /// Matches in the snippet, in order, the first of the text first.
    pub matches: Vec<TextSpan>,
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct FoundSession {
    /// Its row.
    pub session: Session,
    /// In the order of the store, the title first.
    pub hits: Vec<SearchHit>,
    /// Whether it holds more hits than these.
    pub more: bool,
}

/// What the sessions of one key hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SearchReport {
    /// Key.
    pub key: String,
    /// Sessions.
    pub sessions: Vec<FoundSession>,
    /// What could not be searched.
    pub warnings: Vec<Warning>,
}

impl SearchReport {
    /// Nothing found.
    pub fn empty(key: &str) -> Self {
        Self { key: key.to_owned(), sessions: Vec::new(), warnings: Vec::new() }
    }
}

/// A line of a file, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct LineSpan {
    /// Where it begins.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// Lines that may hold what is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct CandidateLines {
    /// The lines, in order.
    pub lines: Vec<LineSpan>,
    /// Where to go on; absent when the file is through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}
