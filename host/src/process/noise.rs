//! What a program writes to stdout that is no answer: passed over, counted, and quoted when
//! the call fails.

use crate::text::clean_line;

/// What is quoted of the first one, bytes.
const QUOTED: usize = 120;

/// The lines since the last answer.
#[derive(Debug, Default)]
pub(crate) struct Noise {
    lines: u32,
    first: String,
    all: u64,
}

impl Noise {
    /// One more; how many there are since the last answer.
    pub(crate) fn add(&mut self, line: &str) -> u32 {
        if self.lines == 0 {
            self.first = clean_line(line, QUOTED);
        }
        self.lines = self.lines.saturating_add(1);
        self.all = self.all.saturating_add(1);
        self.lines
    }

    /// An answer came.
    pub(crate) fn clear(&mut self) {
        self.lines = 0;
    }

    /// How many there were in all.
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// A half sentence for a message; empty when there was none.
    pub(crate) fn describe(&self) -> String {
        match self.lines {
            0 => String::new(),
            1 => format!("; a line on its stdout answers nothing: `{}`", self.first),
            lines => format!("; {lines} lines on its stdout answer nothing, the first of them: `{}`", self.first),
        }
    }
}
