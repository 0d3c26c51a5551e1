//! What a compaction left the model.
//!
//! The transcript keeps every message; beside it stands what the model sees instead of those
//! that were there: a summary, and the messages that were kept as they are. What came later
//! follows. The agent checks a hash over the earlier messages, whose exact form is not known;
//! here the number of them and the id of the last tell whether the two belong together.

use crate::elements::Elements;
use crate::index::Compacted;
use crate::pieces::Place;
use crate::record::{Content, Marks, Message};
use crate::text::Text;
use crate::time;
use sepia_ir::{DriverError, Warning};
use sepia_sdk::Host;
use sepia_sdk::json::Number;
use serde::Serialize;

/// `metadata.compaction` of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compaction {
    /// Messages that the model saw.
    pub(crate) source_messages: u32,
    /// Messages of those that the model still sees.
    pub(crate) kept_messages: u32,
    /// What it sees instead of the others.
    pub(crate) summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens_before: Option<u64>,
    /// Epoch seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<f64>,
    /// It is of other messages than those in the transcript, so that the agent passes it over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stale: bool,
}

/// Reads what a compaction left; a warning when it can't be read.
pub(crate) fn read(host: &Host, place: Place) -> Result<Result<(Compacted, Compaction), Warning>, DriverError> {
    let path = place.path.clone();
    let mut elements = Elements::new(host, place);
    let (mut compacted, mut told) = (Compacted::default(), Compaction::default());
    while let Some(element) = elements.next()? {
        let text = Text::of(element.bytes.unwrap_or_default());
        let Ok(message) = text.parse::<Message<'_>>() else { continue };
        let marks: Marks<'_> =
            message.metadata.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        if marks.kind.is("compaction_summary") {
            told.summary = marks.summary.filled().map_or_else(|| said(&message), str::to_owned);
            told.tokens_before = marks.tokens_before.0.and_then(whole);
        } else if let Some(id) = message.id.filled() {
            compacted.kept.insert(id.to_owned());
            told.kept_messages += 1;
        }
    }
    elements.end()?;
    let number =
        |name: &str| u32::try_from(whole(sepia_sdk::json::parse::<Number>(elements.member(name)?).ok()?.0?)?).ok();
    let Some(messages) = number("source_message_count") else {
        let message = format!("`{path}` can't be read, so what of the session the model still sees is not known");
        return Ok(Err(Warning::new("unreadable-compaction", message).in_file(path)));
    };
    compacted.messages = messages;
    compacted.last =
        elements.text_member("source_last_message_key").and_then(|key| key.strip_prefix("id:").map(str::to_owned));
    told.source_messages = messages;
    told.at = elements.text_member("updated_at").and_then(|at| time::of_text(&at));
    Ok(Ok((compacted, told)))
}

fn said(message: &Message<'_>) -> String {
    let Content::Blocks(blocks) = &message.content else { return String::new() };
    blocks.iter().find_map(|block| block.text.get()).unwrap_or_default().to_owned()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number <= f64::from(u32::MAX)).then_some(number as u64)
}
