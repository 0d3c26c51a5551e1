//! What the reader will take for typed by the person, while the records are written.

use super::content::Written;
use crate::prompt::{self, Spoken};
use crate::time;
use sepia_ir::{MessageNode, PromptHistoryEntry};

/// Characters of a prompt that the agent notes.
pub(crate) const LONGEST_PROMPT: usize = 200;

/// The prompts so far.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    /// What the person is to have typed.
    wanted: Vec<PromptHistoryEntry>,
    /// How many there are, and whether one is another than was wanted.
    count: usize,
    differs: bool,
    /// The first for the model, and the first command.
    pub(crate) first: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) last: Option<String>,
}

impl Prompts {
    pub(crate) fn new(wanted: Vec<PromptHistoryEntry>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Notes a message of the person; `text` is what its record shows.
    pub(crate) fn say(&mut self, node: &MessageNode, text: &str, written: &Written, seconds: f64) {
        let spoken = if node.blocks.is_empty() {
            Some(prompt::classify(text))
        } else {
            prompt::of_texts(written.texts.iter().map(String::as_str))
        };
        let (content, is_shell) = match spoken {
            Some(Spoken::Machine(_)) => return,
            Some(Spoken::Typed(text)) => {
                self.last = Some(text.chars().take(LONGEST_PROMPT).collect());
                if !text.is_empty() && self.first.is_none() {
                    self.first = Some(text.to_owned());
                }
                (text.to_owned(), false)
            }
            Some(Spoken::Command(text)) => {
                self.command.get_or_insert_with(|| text.clone());
                (text, false)
            }
            Some(Spoken::Shell(text)) => {
                self.command.get_or_insert_with(|| format!("!{text}"));
                (text.to_owned(), true)
            }
            None => (String::new(), false),
        };
        let entry = PromptHistoryEntry { content, timestamp: time::milliseconds(seconds), is_shell };
        self.differs |= self.wanted.get(self.count) != Some(&entry);
        self.count += 1;
    }

    /// The prompts that were wanted, when the reader will find others.
    pub(crate) fn others(&mut self) -> Option<Vec<PromptHistoryEntry>> {
        let same = !self.differs && self.count == self.wanted.len();
        (!same).then(|| std::mem::take(&mut self.wanted))
    }
}
