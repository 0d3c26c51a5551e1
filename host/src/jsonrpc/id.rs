//! The id that ties an answer to its request.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// Id of a request: a number, a string or `null`, kept as the text that came, so that it goes
/// back exactly (`1.0`, `1e3` and 40 digits included).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Box<str>);

impl Id {
    /// `null`: for errors about a line whose id could not be read.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// A whole number.
    pub fn number(n: u64) -> Self {
        Self(n.to_string().into())
    }

    /// From JSON text; `None` when that is neither number, string nor `null`.
    pub(super) fn from_raw(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let fits = matches!(text.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'));
        fits.then(|| Self(text.into()))
    }

    /// JSON text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// The number, when it is a whole one that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
