//! Facts, and the keys and pages they come in.

use std::borrow::Cow;
#[cfg(test)]
use uuid::Uuid;

/// A session, as its agent names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::plane) struct SessionKey {
    /// Id of the agent.
    pub agent: String,
    /// Id of the session, unique within the agent.
    pub id: String,
}

impl SessionKey {
    /// The session `id` of `agent`.
    pub(in crate::plane) fn new(agent: impl Into<String>, id: impl Into<String>) -> Self {
        Self { agent: agent.into(), id: id.into() }
    }
}

/// What a fact does to its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plane) enum TurnEdge {
    /// The turn is open from here on, and belongs to the process that stored the fact.
    Opens,
    /// The turn is over.
    Closes,
}

/// A fact that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plane) struct NewFact {
    /// Unique, and sorts by time.
    pub id: String,
    /// When it happened, milliseconds since 1970.
    pub at: i64,
    /// What kind of fact it is.
    pub kind: Cow<'static, str>,
    /// Turn that it belongs to.
    pub turn: Option<String>,
    /// Id of the command that caused it.
    pub command: Option<String>,
    /// JSON text; the log looks at nothing in it.
    pub data: String,
    /// Whether it opens or closes its turn. One that does has a turn.
    pub turn_edge: Option<TurnEdge>,
}

impl NewFact {
    /// A fact of now, with an id of its own (a UUID of version 7).
    #[cfg(test)]
    pub(in crate::plane) fn new(kind: impl Into<Cow<'static, str>>, data: impl Into<String>) -> Self {
        Self {
            id: Uuid::now_v7().to_string(),
            at: jiff::Timestamp::now().as_millisecond(),
            kind: kind.into(),
            turn: None,
            command: None,
            data: data.into(),
            turn_edge: None,
        }
    }

    /// In this turn.
    #[must_use]
    pub(in crate::plane) fn in_turn(mut self, turn: impl Into<String>) -> Self {
        self.turn = Some(turn.into());
        self
    }

    /// Caused by the command of this id.
    #[cfg(test)]
    #[must_use]
    pub(in crate::plane) fn caused_by(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// The first of this turn.
    #[cfg(test)]
    #[must_use]
    pub(in crate::plane) fn opening(mut self, turn: impl Into<String>) -> Self {
        self.turn_edge = Some(TurnEdge::Opens);
        self.in_turn(turn)
    }

    /// The last of this turn.
    #[must_use]
    pub(in crate::plane) fn closing(mut self, turn: impl Into<String>) -> Self {
        self.turn_edge = Some(TurnEdge::Closes);
        self.in_turn(turn)
    }

    /// What it takes on disk, bytes, as good as it can be told before.
    pub(super) fn bytes(&self) -> u64 {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = self.id.len() + self.kind.len() + self.data.len() + optional(&self.turn) + optional(&self.command);
        (texts as u64).saturating_add(ROW_OVERHEAD)
    }

    /// The fact that it became.
    pub(super) fn numbered(self, numbers: Numbers) -> Fact {
        Fact {
            position: numbers.position,
            sequence: numbers.sequence,
            generation: numbers.generation,
            id: self.id,
            at: self.at,
            kind: self.kind.into_owned(),
            turn: self.turn,
            command: self.command,
            data: self.data,
        }
    }
}

/// What a row takes beside its texts, bytes: numbers, and its entry in the index.
pub(super) const ROW_OVERHEAD: u64 = 48;

/// The numbers that a fact gets when it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) position: u64,
    pub(super) sequence: u64,
    pub(super) generation: u32,
}

/// A fact that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Place in the whole log. Grows, and is never used again, whatever is pruned.
    pub position: u64,
    /// Place in its session: 1, 2, 3, … without a hole, over restarts and rewinds.
    pub sequence: u64,
    /// The session's generation when it was stored.
    pub generation: u32,
    /// Unique, and sorts by time.
    pub id: String,
    /// When it happened, milliseconds since 1970.
    pub at: i64,
    /// What kind of fact it is.
    pub kind: String,
    /// Turn that it belongs to.
    pub turn: Option<String>,
    /// Id of the command that caused it.
    pub command: Option<String>,
    /// JSON text.
    pub data: String,
}

/// Facts of one session that follow each other without a hole, and how the session stood when
/// they were read.
///
/// A page may hold fewer than were asked for: it ends early when it gets large. It is the last
/// one when its last fact has the sequence `last`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The facts, oldest first.
    pub facts: Vec<Fact>,
    /// Newest sequence that the session ever had; 0 for none.
    pub last: u64,
    /// Oldest sequence that is still kept; 0 for none.
    pub first: u64,
    /// The session's generation.
    pub generation: u32,
}

impl Page {
    /// Whether facts between `after` and this page were pruned or forgotten.
    pub fn misses(&self, after: u64) -> bool {
        if self.first == 0 { self.last > after } else { self.first > after.saturating_add(1) }
    }
}

/// A turn that was opened and not closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plane) struct OpenTurn {
    /// Session that it is in.
    pub session: SessionKey,
    /// Its id.
    pub turn: String,
    /// The process that opened it.
    pub owner: super::Owner,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{NewFact, Page, TurnEdge};

    #[test]
    fn a_page_tells_what_is_missing_before_it() {
        let page = |first, last| Page { last, first, ..Page::default() };
        // Kept: 5 to 9. The one after 4 is there, the one after 3 is not.
        assert!(!page(5, 9).misses(4));
        assert!(page(5, 9).misses(3));
        assert!(!page(5, 9).misses(u64::MAX));
        // Nothing is kept of nine.
        assert!(page(0, 9).misses(8));
        assert!(!page(0, 9).misses(9));
        assert!(!page(0, 0).misses(0));
    }

    #[test]
    fn ids_sort_by_time_also_within_a_millisecond() {
        let ids: Vec<_> = (0..1_000).map(|_| NewFact::new("kind", "1").id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_fact_on_the_edge_of_a_turn_has_the_turn() {
        let fact = NewFact::new("kind", "1").opening("t");
        assert_eq!((fact.turn.as_deref(), fact.turn_edge), (Some("t"), Some(TurnEdge::Opens)));
        let fact = NewFact::new("kind", "1").closing("t").caused_by("c");
        assert_eq!((fact.turn.as_deref(), fact.turn_edge), (Some("t"), Some(TurnEdge::Closes)));
        assert_eq!(fact.command.as_deref(), Some("c"));
    }
}
