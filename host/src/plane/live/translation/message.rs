//! The message that is being said, and the one that is being thought.

use super::Step;
use crate::plane::live::event::SessionEvent;
use crate::plane::live::recorded::Recorded;

/// Text of one fact at most, bytes; a longer message is several, which say so.
const MOST_TEXT: usize = 4 << 20;

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
}

impl Kind {
    /// As a role of the wire.
    fn role(self) -> &'static str {
        match self {
            Self::Text => "assistant",
            Self::Reasoning => "reasoning",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Text => Self::Reasoning,
            Self::Reasoning => Self::Text,
        }
    }
}

#[derive(Debug)]
struct Open {
    id: String,
    text: String,
}

/// At most one of each kind, and the numbers of all.
#[derive(Debug)]
pub(super) struct Messages {
    base: String,
    last: u64,
    text: Option<Open>,
    reasoning: Option<Open>,
}

impl Messages {
    pub(super) fn new(base: &str) -> Self {
        Self { base: base.to_owned(), last: 0, text: None, reasoning: None }
    }

    pub(super) fn next_id(&mut self) -> String {
        self.last += 1;
        format!("message_{}_{}", self.base, self.last)
    }

    fn open(&mut self, kind: Kind) -> &mut Option<Open> {
        match kind {
            Kind::Text => &mut self.text,
            Kind::Reasoning => &mut self.reasoning,
        }
    }

    /// A piece came: the other kind is closed.
    pub(super) fn add(&mut self, kind: Kind, delta: String, step: &mut Step) {
        self.close(kind.other(), step);
        let known = self.open(kind).as_ref().map(|open| open.id.clone());
        let message_id = known.unwrap_or_else(|| self.begin(kind, step));
        if let Some(open) = self.open(kind) {
            open.text.push_str(&delta);
            if open.text.len() > MOST_TEXT {
                let text = std::mem::take(&mut open.text);
                step.facts.push(Recorded::message(&message_id, kind.role(), &text, true));
            }
        }
        step.events.push(match kind {
            Kind::Text => SessionEvent::TextMessageContent { message_id, delta },
            Kind::Reasoning => SessionEvent::ReasoningMessageContent { message_id, delta },
        });
    }

    fn begin(&mut self, kind: Kind, step: &mut Step) -> String {
        let id = self.next_id();
        *self.open(kind) = Some(Open { id: id.clone(), text: String::new() });
        let (message_id, role) = (id.clone(), kind.role());
        step.events.push(match kind {
            Kind::Text => SessionEvent::TextMessageStart { message_id, role },
            Kind::Reasoning => SessionEvent::ReasoningMessageStart { message_id, role },
        });
        id
    }

    /// It is whole.
    pub(super) fn close(&mut self, kind: Kind, step: &mut Step) {
        let Some(Open { id: message_id, text }) = self.open(kind).take() else { return };
        if !text.is_empty() {
            step.facts.push(Recorded::message(&message_id, kind.role(), &text, false));
        }
        step.events.push(match kind {
            Kind::Text => SessionEvent::TextMessageEnd { message_id },
            Kind::Reasoning => SessionEvent::ReasoningMessageEnd { message_id },
        });
    }
}
