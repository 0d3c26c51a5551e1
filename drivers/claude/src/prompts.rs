//! What the person typed in a session, in order.

use crate::draft::Span;
use crate::ends::{Told, spoken};
use crate::lines::{Lines, MAX_LINE};
use crate::outline::outlined;
use crate::time;
use sepia_ir::{DriverError, PromptHistoryEntry};

/// The prompts of a session.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// Prompts for the model; commands are not counted.
    pub(crate) typed: u64,
    pub(crate) history: Vec<PromptHistoryEntry>,
}

/// Reads the records that may be prompts.
pub(crate) fn read(lines: &mut Lines, spans: &[Span]) -> Result<Prompts, DriverError> {
    let mut prompts = Prompts::default();
    for span in spans {
        if span.length > MAX_LINE {
            // Too long to be looked into; whatever it is, a person caused it.
            prompts.typed += 1;
            continue;
        }
        outlined(lines.get(span.offset, span.length)?, |outline| {
            let (content, is_shell) = match spoken(outline.message) {
                Some(Told::Typed(text)) => {
                    prompts.typed += 1;
                    (text, false)
                }
                Some(Told::Command(text)) => (text, false),
                Some(Told::Shell(text)) => (text, true),
                None => return,
            };
            let timestamp = time::of_part(outline.timestamp).map_or(0.0, time::milliseconds);
            prompts.history.push(PromptHistoryEntry { content, timestamp, is_shell });
        });
    }
    Ok(prompts)
}
