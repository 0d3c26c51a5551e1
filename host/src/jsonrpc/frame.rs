//! Lines from a stream of bytes, each of bounded size.

use memchr::memchr;
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

const BOM: &[u8] = "\u{FEFF}".as_bytes();
const READ_AHEAD: usize = 64 << 10;

/// One line of the stream, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line that is not blank, without its line end.
    Line(String),
    /// A line over the limit was, or is being, passed over.
    TooLong {
        /// Its size, bytes, as far as it was read.
        bytes: u64,
    },
    /// A line that is not UTF-8 was passed over.
    NotUtf8 {
        /// Its size, bytes.
        bytes: usize,
        /// Offset of the first wrong byte in the line.
        at: usize,
    },
}

/// Reads lines. The separator is the byte `0x0A` and nothing else; a `\r` before it, one
/// byte order mark at the start of the stream, and blank lines are passed over. What follows
/// the last line feed is a line too.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Bytes of the present line, those passed over included.
    bytes: u64,
    at_start: bool,
    early: bool,
    /// The present line has been reported already.
    reported: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads lines of at most `limit` bytes, the line feed not counted.
    pub fn new(source: R, limit: usize) -> Self {
        let source = BufReader::with_capacity(READ_AHEAD, source);
        Self { source, limit, line: Vec::new(), bytes: 0, at_start: true, early: false, reported: false }
    }

    /// Reports a line over the limit at once, not when it ends: it may never end.
    #[must_use]
    pub fn reporting_early(mut self) -> Self {
        self.early = true;
        self
    }

    /// The next frame; `None` at the end of the stream. Nothing is lost when the future is
    /// dropped before it is ready.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let ahead = self.source.fill_buf().await?;
            if ahead.is_empty() {
                if self.bytes == 0 {
                    return Ok(None);
                }
                match self.finish() {
                    None => return Ok(None),
                    frame => return Ok(frame),
                }
            }
            let (part, ended) = match memchr(b'\n', ahead) {
                Some(at) => (&ahead[..at], true),
                None => (ahead, false),
            };
            self.bytes = self.bytes.saturating_add(part.len() as u64);
            if self.bytes <= self.limit as u64 {
                self.line.extend_from_slice(part);
            } else {
                // Not cleared: the memory itself is given back.
                self.line = Vec::new();
            }
            let consumed = part.len() + usize::from(ended);
            self.source.consume(consumed);
            if ended {
                if let Some(frame) = self.finish() {
                    return Ok(Some(frame));
                }
            } else if self.early && !self.reported && self.bytes > self.limit as u64 {
                self.reported = true;
                return Ok(Some(Frame::TooLong { bytes: self.bytes }));
            }
        }
    }

    /// Whether a whole line is already in memory, so that the next one costs no waiting.
    pub fn has_line_ahead(&self) -> bool {
        memchr(b'\n', self.source.buffer()).is_some()
    }

    /// The frame of the line that has ended; `None` when it is blank.
    fn finish(&mut self) -> Option<Frame> {
        let bytes = std::mem::take(&mut self.bytes);
        let at_start = std::mem::replace(&mut self.at_start, false);
        if bytes > self.limit as u64 {
            if std::mem::take(&mut self.reported) {
                return None;
            }
            return Some(Frame::TooLong { bytes });
        }
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if at_start && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return None;
        }
        match String::from_utf8(line) {
            Ok(line) => Some(Frame::Line(line)),
            Err(e) => Some(Frame::NotUtf8 { bytes: e.as_bytes().len(), at: e.utf8_error().valid_up_to() }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Frame, FrameReader};
    use std::io::Cursor;

    fn line(text: &str) -> Frame {
        Frame::Line(text.to_owned())
    }

    /// All frames of these bytes, read through a pipe that hands over `step` bytes at once.
    async fn frames(bytes: &[u8], limit: usize, step: usize) -> Vec<Frame> {
        let (mut input, output) = tokio::io::duplex(step);
        let bytes = bytes.to_vec();
        let feed = tokio::spawn(async move {
            tokio::io::copy(&mut Cursor::new(bytes), &mut input).await.unwrap();
        });
        let mut reader = FrameReader::new(output, limit);
        let mut all = Vec::new();
        while let Some(frame) = reader.next().await.unwrap() {
            all.push(frame);
        }
        feed.await.unwrap();
        all
    }

    #[tokio::test]
    async fn only_the_line_feed_separates() {
        let text = "\u{FEFF}{\"a\":\"x\u{2028}y\u{2029}z\u{85}\"}\r\n\n\r\n \t\n2\u{b}\u{c}\n3";
        for step in [1, 2, 3, 7, 4096] {
            let expected = [line("{\"a\":\"x\u{2028}y\u{2029}z\u{85}\"}"), line("2\u{b}\u{c}"), line("3")];
            assert_eq!(frames(text.as_bytes(), 100, step).await, expected, "step {step}");
        }
    }

    #[tokio::test]
    async fn a_byte_order_mark_is_taken_off_at_the_very_start_only() {
        assert_eq!(frames("\u{FEFF}1\n\u{FEFF}2\n".as_bytes(), 100, 64).await, [line("1"), line("\u{FEFF}2")]);
        assert_eq!(frames("\u{FEFF}\n1".as_bytes(), 100, 64).await, [line("1")]);
    }

    #[tokio::test]
    async fn a_line_at_the_limit_passes_and_one_over_it_costs_itself_alone() {
        let mut bytes = vec![b'x'; 10];
        bytes.push(b'\n');
        bytes.extend([b'y'; 11]);
        bytes.extend(b"\n1\n");
        bytes.extend(vec![b'z'; 500_000]);
        for step in [1, 10, 11, 100_000] {
            let expected =
                [line("xxxxxxxxxx"), Frame::TooLong { bytes: 11 }, line("1"), Frame::TooLong { bytes: 500_000 }];
            assert_eq!(frames(&bytes, 10, step).await, expected, "step {step}");
        }
    }

    #[tokio::test]
    async fn an_endless_line_is_reported_once_and_before_its_end() {
        use tokio::io::AsyncWriteExt;
        let (mut input, output) = tokio::io::duplex(64);
        let mut reader = FrameReader::new(output, 10).reporting_early();
        input.write_all(&[b'x'; 30]).await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(Frame::TooLong { bytes: 30 }));
        input.write_all(b"xxx\nnext\n").await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(line("next")));
    }

    #[tokio::test]
    async fn a_line_that_is_not_utf8_costs_itself_alone() {
        let expected = [Frame::NotUtf8 { bytes: 4, at: 2 }, line("ok")];
        assert_eq!(frames(b"ab\xffd\nok\n", 100, 3).await, expected);
    }

    #[tokio::test]
    async fn nothing_is_lost_when_a_read_is_given_up() {
        use tokio::io::AsyncWriteExt;
        let (mut input, output) = tokio::io::duplex(64);
        let mut reader = FrameReader::new(output, 100);
        input.write_all(b"first ha").await.unwrap();
        for _ in 0..3 {
            tokio::select! {
                biased;
                frame = reader.next() => unreachable!("{frame:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        input.write_all(b"lf\n").await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(line("first half")));
        drop(input);
        assert_eq!(reader.next().await.unwrap(), None);
    }
}
