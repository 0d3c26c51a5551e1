//! A JSON value inside the line that it came in.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::ops::Range;

/// The text of one JSON value, kept in the line that it came in so that a large one is not
/// copied. Known to be well-formed; what is in it is parsed by who knows its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    line: String,
    range: Range<usize>,
}

impl Fragment {
    /// The value at `range` of a line, which must hold one JSON value and nothing else.
    pub(super) fn new(line: String, range: Range<usize>) -> Self {
        Self { line, range }
    }

    /// JSON text.
    pub fn get(&self) -> &str {
        &self.line[self.range.clone()]
    }

    /// The value as a type.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }
}

/// Where in `line` a value that was borrowed from it stands.
pub(super) fn range_in(line: &str, value: &RawValue) -> Range<usize> {
    let start = (value.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    start..start + value.get().len()
}
