//! Members of single lines, where they stand.

use crate::members::{Pattern, Scanner};

/// Finds the values of members in one line after the other.
pub(in crate::native) struct Members<'a>(Scanner<'a>);

impl<'a> Members<'a> {
    /// Of these members; of one that has others of them in it only those count.
    pub(in crate::native) fn new(pattern: &'a Pattern) -> Self {
        Self(Scanner::innermost(pattern))
    }

    /// JSON texts of the values. None when the line is not one whole object.
    pub(in crate::native) fn of<'l>(&mut self, line: &'l [u8]) -> Option<Vec<&'l [u8]>> {
        let mut values = Vec::new();
        self.0.line(line, &mut |_, _, value| values.extend(value))?;
        Some(values)
    }
}
