//! A row of `message_nodes`, and the message that it holds.

use crate::value::Columns;
use sepia_ir::SqlValue;
use sepia_sdk::json::{Flag, List, Noted, Number, Object, Raw, Str, Text, Whole, members, parse};
use std::borrow::Cow;

/// Columns of a row, in the order in which [`Row::of`] takes them.
pub(crate) const COLUMNS: [&str; 5] = ["node_id", "parent_node_id", "created_at", "metadata", "chat_message"];

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    /// When the row was written, as stored.
    pub(crate) written: f64,
    /// JSON text that tells how the row came about.
    pub(crate) metadata: Option<String>,
    /// JSON text of the message.
    pub(crate) message: String,
}

impl Row {
    /// A row of the store; none when its id can't be one.
    pub(crate) fn of(row: Vec<SqlValue>) -> Option<Self> {
        let mut columns = Columns::of(row);
        let id = columns.whole().filter(|id| *id >= 0)?;
        Some(Self {
            id,
            parent: columns.whole(),
            written: columns.number().unwrap_or_default(),
            metadata: columns.text(),
            message: columns.text().unwrap_or_default(),
        })
    }

    /// Bytes that the row holds, about.
    pub(crate) fn bytes(&self) -> usize {
        self.message.len() + self.metadata.as_ref().map_or(0, String::len)
    }
}

members! {
    /// `chat_message`.
    Chat {
        message_id: Str<'a> = "message_id",
        role: Str<'a> = "role",
        content: Text<'a> = "content",
        tool_calls: List<Call<'a>> = "tool_calls",
        thinking: Raw<'a> = "thinking",
        tool_call_id: Str<'a> = "tool_call_id",
        /// Pictures as an older writer keeps them.
        images: Raw<'a> = "images",
        about: About<'a> = "metadata",
    }
}

members! {
    Call {
        id: Str<'a> = "id",
        name: Str<'a> = "name",
        arguments: Raw<'a> = "arguments",
        index: Whole = "index",
        kind: Str<'a> = "kind",
    }
}

members! {
    /// `chat_message.metadata`.
    About {
        is_user_input: Noted<Flag> = "is_user_input",
        request_id: Str<'a> = "request_id",
        finish_reason: Str<'a> = "finish_reason",
        generation_model: Str<'a> = "generation_model",
        created_at: Str<'a> = "created_at",
        acu_cost: Number = "committed_acu_cost",
        metrics: Metrics<'a> = "metrics",
        extensions: Object<'a> = "extensions",
    }
}

members! {
    Metrics {
        /// Without what was read from the cache.
        input: Number = "input_tokens",
        output: Number = "output_tokens",
        cache_read: Number = "cache_read_tokens",
        cache_write: Number = "cache_creation_tokens",
    }
}

members! {
    /// `message_nodes.metadata`.
    Marks {
        /// The tip of the window that this row sums up.
        summarized_from: Noted<Whole> = "summarized_from",
        is_system_prefix: Flag = "is_system_prefix",
        extensions: Object<'a> = "extensions",
    }
}

/// What had to be done to read a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repair {
    /// So many halves of surrogate pairs had no partner.
    Surrogates(usize),
}

/// A message, and what had to be done to read it; none when it is no JSON object.
pub(crate) type Reading<'a> = Option<(Chat<'a>, Option<Repair>)>;

/// Reads a message and hands it on with the text that it was read from, mended where need be.
pub(crate) fn read<R>(text: &str, then: impl FnOnce(Reading<'_>, &str) -> R) -> R {
    if !text.trim_start().starts_with('{') {
        return then(None, text);
    }
    if let Ok(chat) = parse::<Chat<'_>>(text) {
        return then(Some((chat, None)), text);
    }
    let (mended, count) = sepia_ir::json_text::replace_lone_surrogates(text.as_bytes());
    let mended = match mended {
        Cow::Owned(bytes) if count > 0 => String::from_utf8_lossy(&bytes).into_owned(),
        _ => return then(None, text),
    };
    match parse::<Chat<'_>>(&mended) {
        Ok(chat) => then(Some((chat, Some(Repair::Surrogates(count)))), &mended),
        Err(_) => then(None, text),
    }
}

/// Reads the marks of a row. The word `null` and nothing at all are no marks; `false` says that
/// the text is no JSON object.
pub(crate) fn marks(metadata: Option<&str>) -> (Option<Marks<'_>>, bool) {
    match metadata.map(str::trim) {
        None | Some("" | "null") => (None, true),
        Some(text) if text.starts_with('{') => match parse(text) {
            Ok(marks) => (Some(marks), true),
            Err(_) => (None, false),
        },
        Some(_) => (None, false),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may fail by panicking")]
    use super::{Repair, marks, read};

    #[test]
    fn a_lone_half_of_a_pair_costs_itself_alone() {
        read(r#"{"role":"user","content":"a\ud83db"}"#, |reading, _| {
            let Some((chat, repair)) = reading else { panic!("it is read") };
            assert!(matches!(&chat.content, super::Text::Is(text) if text == "a\u{fffd}b"));
            assert_eq!(repair, Some(Repair::Surrogates(1)));
        });
    }

    #[test]
    fn what_is_no_object_is_broken() {
        for text in ["", "null", "[1]", "not json", "{\"a\":", "{} {}", "\"\\ud83d"] {
            assert!(read(text, |reading, _| reading.is_none()), "{text}");
        }
    }

    #[test]
    fn marks_are_an_object_or_nothing() {
        assert!(marks(None).1 && marks(Some("null")).1 && marks(Some(" ")).1);
        assert!(!marks(Some("not-json{")).1 && !marks(Some("[1]")).1 && !marks(Some("{\"a\"")).1);
        let (found, fine) = marks(Some(r#"{"summarized_from":5,"is_system_prefix":true}"#));
        assert!(
            fine && found.is_some_and(|marks| marks.summarized_from.value.0 == Some(5) && marks.is_system_prefix.0)
        );
    }
}
