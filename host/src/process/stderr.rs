//! The last lines of a program's stderr.

use crate::text::clean_line;
use memchr::memchr;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What is kept of one line, bytes.
const LINE: usize = 1 << 10;
const READ_AT_ONCE: usize = 64 << 10;

/// Keeps the last lines; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct StderrTail(Arc<Mutex<Lines>>);

#[derive(Debug)]
struct Lines {
    kept: VecDeque<Vec<u8>>,
    most: usize,
    /// The last of `kept` has not ended yet.
    open: bool,
}

impl StderrTail {
    /// Keeps at most so many lines.
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Lines { kept: VecDeque::new(), most: most.max(1), open: false })))
    }

    /// Reads to the end, so that the program never waits for a reader.
    pub(crate) async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut part = vec![0; READ_AT_ONCE];
        loop {
            match source.read(&mut part).await {
                Ok(0) => return,
                Ok(bytes) => self.lines().take(&part[..bytes]),
                Err(e) => {
                    tracing::debug!("the stderr of a program could not be read on: {e}");
                    return;
                }
            }
        }
    }

    /// The lines, cleaned for a terminal.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines();
        let clean = |line: &Vec<u8>| cleaned(line, LINE);
        lines.kept.iter().map(clean).collect::<Vec<_>>().join("\n")
    }

    /// The last line that says something.
    pub(crate) fn last(&self) -> Option<String> {
        let lines = self.lines();
        let clean = |line: &Vec<u8>| cleaned(line, 200);
        lines.kept.iter().rev().map(clean).find(|line| !line.trim().is_empty())
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cleaned(line: &[u8], max: usize) -> String {
    clean_line(&String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)), max)
}

impl Lines {
    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let end = memchr(b'\n', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if !self.open {
                // The memory of a line that goes serves the one that comes.
                let full = self.kept.len() >= self.most;
                let mut line = if full { self.kept.pop_front() } else { None }.unwrap_or_default();
                line.clear();
                self.kept.push_back(line);
            }
            if let Some(line) = self.kept.back_mut() {
                let room = LINE.saturating_sub(line.len());
                line.extend_from_slice(&part[..part.len().min(room)]);
            }
            self.open = end.is_none();
            bytes = &bytes[end.map_or(bytes.len(), |at| at + 1)..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StderrTail;

    #[tokio::test]
    async fn the_last_lines_stay_and_are_bounded_and_clean() {
        let tail = StderrTail::new(3);
        let mut input: Vec<u8> = (0..10_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        input.extend(b"\x1b[31mred\x1b[0m \xff\r\n");
        input.extend(vec![b'x'; 200_000]);
        tail.clone().drain(&input[..]).await;
        let text = tail.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "line 9999");
        assert!(lines[1].starts_with("red \u{fffd}") && !lines[1].contains('\x1b'));
        assert!(lines[2].starts_with("xxx") && lines[2].len() <= 1024);
        assert_eq!(tail.last().map(|line| line.len() <= 200), Some(true));
    }

    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_one() {
        let tail = StderrTail::new(2);
        for part in [&b"a\nhel"[..], b"lo", b"\n\nb"] {
            tail.lines().take(part);
        }
        assert_eq!(tail.text(), "\nb");
        let tail = StderrTail::new(9);
        for part in [&b"a\nhel"[..], b"lo", b"\n"] {
            tail.lines().take(part);
        }
        assert_eq!(tail.text(), "a\nhello");
    }
}
