//! What a program writes to stdout that is no answer: passed over, counted, and quoted when
//! the call fails.

use crate::text::clean_line;

/// Lines in a row, without an answer among them, that a program may write.
const MOST_IN_A_ROW: u32 = 10_000;
/// What is quoted of the first one, bytes.
const QUOTED: usize = 120;

/// The lines since the last answer.
#[derive(Debug, Default)]
pub(super) struct Noise {
    lines: u32,
    first: String,
}

impl Noise {
    /// One more; says whether that is more than is borne.
    #[must_use]
    pub(super) fn add(&mut self, line: &str) -> bool {
        if self.lines == 0 {
            self.first = clean_line(line, QUOTED);
        }
        self.lines = self.lines.saturating_add(1);
        self.lines > MOST_IN_A_ROW
    }

    /// An answer came.
    pub(super) fn clear(&mut self) {
        self.lines = 0;
    }

    /// A half sentence for a message; empty when there was none.
    pub(super) fn describe(&self) -> String {
        match self.lines {
            0 => String::new(),
            1 => format!("; a line on its stdout answers nothing: `{}`", self.first),
            lines => format!("; {lines} lines on its stdout answer nothing, the first of them: `{}`", self.first),
        }
    }
}
