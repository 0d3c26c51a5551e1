//! Ids of records, messages and calls: the ones that a session had, where they are of the right form and not
//! taken, and fresh ones otherwise.

use crate::ids::{IdSet, id};

/// The ids that are taken.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    uuids: IdSet,
    others: IdSet,
}

impl Fresh {
    /// This UUID if it is free, or a fresh one.
    pub(crate) fn uuid(&mut self, wanted: Option<u128>) -> u128 {
        let mut uuid = wanted.filter(|uuid| *uuid != 0).unwrap_or_else(random);
        while !self.uuids.insert(uuid) {
            uuid = random();
        }
        uuid
    }

    /// This id of a message or a call if it is free and one that providers take, or a fresh one.
    pub(crate) fn other(&mut self, wanted: Option<&str>, prefix: &str) -> String {
        if let Some(wanted) = wanted.filter(|wanted| is_taken_by_providers(wanted))
            && self.others.insert(id(wanted.as_bytes()))
        {
            return wanted.to_owned();
        }
        let fresh = format!("{prefix}{}", uuid::Uuid::new_v4().simple());
        self.others.insert(id(fresh.as_bytes()));
        fresh
    }
}

/// Longest id or name that is passed on.
const LONGEST: usize = 128;

/// Letters, digits, `_` and `-`: anything else in an id or a tool's name makes a provider refuse the whole session.
pub(crate) fn is_taken_by_providers(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// The name of a tool in a form that providers take.
pub(crate) fn tool_name(name: &str) -> String {
    if is_taken_by_providers(name) {
        return name.to_owned();
    }
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(LONGEST).map(fits).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

fn random() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}
