//! The conversation that a model is shown: what a session holds, what a request held, and what
//! of the one is not in the other. Pure functions; nothing here runs or reads anything.

mod arguments;
mod compare;
mod request;
mod result_text;
mod wanted;

pub(crate) use compare::{Verdict, compare};
pub(crate) use request::{asks, parts};
pub(crate) use wanted::{Left, Wanted, of_session};

use serde_json::Value;

/// One thing that a model is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Text of the person.
    User(String),
    /// Text of the model.
    Assistant(String),
    /// A call of a tool.
    Call {
        /// What its result refers to.
        id: String,
        /// The tool.
        name: String,
        /// What it was called with.
        arguments: Value,
    },
    /// What a tool gave.
    Result {
        /// The call.
        id: String,
        /// All of its text.
        text: String,
    },
    /// A picture or a document: its base64.
    Media(String),
}

/// The lines of a text that say something, without the blanks at their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// A text on one line and not too long, for a report.
fn short(text: &str) -> String {
    const MOST: usize = 90;
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What steers a terminal may stand in any transcript.
    let clean: String = one_line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    match clean.char_indices().nth(MOST) {
        Some((at, _)) => format!("`{}…`", &clean[..at]),
        None => format!("`{clean}`"),
    }
}
