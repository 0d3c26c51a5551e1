//! How much was taken out.

use crate::kind::Kind;
use serde::Serialize;
use std::fmt;

/// How often a kind of secret was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Different secrets.
    pub secrets: usize,
    /// Places that they were taken out of; one secret often stands in several.
    pub places: usize,
}

/// What was taken out so far. Its text is for people:
/// `3 secrets in 7 places (github-token 2, password 1)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Different secrets, of all kinds.
    pub secrets: usize,
    /// Places that they were taken out of.
    pub places: usize,
    /// The kinds that were found, in the order of [`Kind::ALL`].
    #[serde(rename = "byKind")]
    pub by_kind: Vec<(Kind, Count)>,
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if self.secrets == 0 {
            return out.write_str("no secrets");
        }
        write!(out, "{} secret{} in ", self.secrets, plural(self.secrets))?;
        write!(out, "{} place{} (", self.places, plural(self.places))?;
        for (at, (kind, count)) in self.by_kind.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(out, "{separator}{} {}", kind.name(), count.secrets)?;
        }
        out.write_str(")")
    }
}
