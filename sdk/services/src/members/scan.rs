//! One line of JSON, looked at once from its start to its end: nothing is built, nothing is
//! copied but the values asked for, and the depth of the line costs neither stack nor heap.
//!
//! Written by hand because it decides how fast a session opens. Ten members of 100 MB of
//! session lines (29,241 lines, 2.2 million strings), one core: this takes 40 ms; the lazy
//! values of sonic-rs 0.5, unchecked, 128 ms; jiter 0.19 needs 135 ms to step over the outer
//! members alone.

use super::pattern::{Node, Pattern};
use wide::u8x16;

/// Finds members in line after line. What is kept between lines makes that one allocates nothing.
#[derive(Debug)]
pub struct Scanner<'a> {
    pattern: &'a Pattern,
    max_value: usize,
    /// Of a value that is gone into only what is asked for inside counts.
    innermost: bool,
    frames: Vec<Frame>,
    key: Vec<u8>,
}

/// A container that something is asked of.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    array: bool,
    /// Elements of it that are behind.
    behind: u32,
    /// Position in the outermost array of the way here, below it.
    element: Option<u32>,
}

impl<'a> Scanner<'a> {
    /// Gives values of at most `max_value` bytes.
    pub fn new(pattern: &'a Pattern, max_value: u32) -> Self {
        Self { pattern, max_value: max_value as usize, innermost: false, frames: Vec::new(), key: Vec::new() }
    }

    /// Gives values of any length, and of those with members that are asked for only these.
    pub fn innermost(pattern: &'a Pattern) -> Self {
        Self { innermost: true, ..Self::new(pattern, u32::MAX) }
    }

    /// Gives the values of a line to `take`: member, position of the element, and text unless it
    /// is too long. `None` when it is not one whole object; what was given until then is to be
    /// forgotten.
    pub fn line<'l>(&mut self, line: &'l [u8], take: &mut impl FnMut(u8, u32, Option<&'l [u8]>)) -> Option<()> {
        let mut at = blanks(line, 0);
        if *line.get(at)? != b'{' {
            return None;
        }
        at += 1;
        self.frames.clear();
        let mut frame = Frame { node: 0, array: false, behind: 0, element: None };
        loop {
            at = blanks(line, at);
            let close = if frame.array { b']' } else { b'}' };
            if *line.get(at)? == close {
                at = blanks(line, at + 1);
                match self.frames.pop() {
                    None => return (at == line.len()).then_some(()),
                    Some(outer) => frame = outer,
                }
            } else {
                let node = if frame.array { self.element(&frame) } else { self.member(line, &mut at, &frame)? };
                let element = frame.element.or(frame.array.then_some(frame.behind));
                frame.behind = frame.behind.saturating_add(1);
                let first = *line.get(at)?;
                let asked = node.map(|node| self.pattern.node(node));
                let descend = asked.is_some_and(|asked| asks_inside(asked, first));
                let counts = !(descend && self.innermost);
                let wanted = asked.filter(|_| counts).map_or(&[][..], |asked| &asked.wanted);
                if !descend || !wanted.is_empty() {
                    let end = value_end(line, at)?;
                    if !wanted.is_empty() {
                        let text = Some(&line[at..end]).filter(|text| text.len() <= self.max_value);
                        for member in wanted {
                            take(*member, element.unwrap_or(0), text);
                        }
                    }
                    if !descend {
                        at = end;
                    }
                }
                if let (true, Some(node)) = (descend, node) {
                    self.frames.push(frame);
                    frame = Frame { node, array: first == b'[', behind: 0, element };
                    at += 1;
                    continue;
                }
                at = blanks(line, at);
            }
            match *line.get(at)? {
                b',' => at += 1,
                // The loop sees whether it is the right one.
                b'}' | b']' => {}
                _ => return None,
            }
        }
    }

    fn element(&self, frame: &Frame) -> Option<usize> {
        self.pattern.node(frame.node).elements
    }

    /// Reads a key and its colon; the outer `None` is for what is no member of an object.
    #[expect(clippy::option_option, reason = "the inner one is whether the member is asked for")]
    fn member(&mut self, line: &[u8], at: &mut usize, frame: &Frame) -> Option<Option<usize>> {
        if *line.get(*at)? != b'"' {
            return None;
        }
        let start = *at + 1;
        let (end, escapes) = key_end(line, start)?;
        let raw = &line[start..end - 1];
        *at = blanks(line, end);
        if *line.get(*at)? != b':' {
            return None;
        }
        *at = blanks(line, *at + 1);
        let asked = self.pattern.node(frame.node);
        if escapes && raw.contains(&b'\\') {
            self.key.clear();
            super::escape::unescape(raw, &mut self.key);
            return Some(asked.member(&self.key));
        }
        Some(asked.member(raw))
    }
}

/// Whether a value that begins with this byte is gone into.
fn asks_inside(asked: &Node, first: u8) -> bool {
    match first {
        b'{' => asked.has_members(),
        b'[' => asked.elements.is_some(),
        _ => false,
    }
}

fn blanks(line: &[u8], mut at: usize) -> usize {
    while matches!(line.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Behind the closing quote of the key whose first byte is at `at`, and whether it may hold an
/// escape.
#[inline]
fn key_end(line: &[u8], at: usize) -> Option<(usize, bool)> {
    let Some(bytes) = line.get(at..)?.first_chunk() else { return Some((short_end(line, at)?, true)) };
    let stops = stops_in(bytes);
    let place = stops.trailing_zeros() as usize;
    // Names are short: what this does not find at once is rare.
    if stops != 0 && bytes[place] == b'"' { Some((at + place + 1, false)) } else { Some((string_end(line, at)?, true)) }
}

/// Chunks that are looked at here before a search for long strings takes over.
const NEAR: usize = 4;

/// Behind the closing quote of the string whose first byte is at `start`: the first quote with
/// an even number of backslashes before it. Text has more backslashes than quotes, so these are
/// counted only where it matters, each at most once.
#[inline]
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let closes = |quote: usize| {
        let slashes = line[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        slashes % 2 == 0
    };
    let mut at = start;
    for _ in 0..NEAR {
        let Some(bytes) = line.get(at..)?.first_chunk() else { return short_end(line, start) };
        let mut quotes = quotes_in(bytes);
        while quotes != 0 {
            let quote = at + quotes.trailing_zeros() as usize;
            if closes(quote) {
                return Some(quote + 1);
            }
            quotes &= quotes - 1;
        }
        at += bytes.len();
    }
    memchr::memchr_iter(b'"', &line[at..]).map(|place| at + place).find(|quote| closes(*quote)).map(|quote| quote + 1)
}

/// The same near the end of the line.
#[cold]
fn short_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += line.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if line[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Which of 32 bytes are quotes, bit by bit.
#[inline]
fn quotes_in(bytes: &[u8; 32]) -> u32 {
    let quote = u8x16::splat(b'"');
    let half = |at: usize| {
        let mut half = [0; 16];
        half.copy_from_slice(&bytes[at..at + 16]);
        u8x16::new(half).simd_eq(quote).to_bitmask()
    };
    half(0) | half(16) << 16
}

/// Which of 32 bytes are quotes or backslashes, bit by bit.
#[inline]
fn stops_in(bytes: &[u8; 32]) -> u32 {
    let (quote, slash) = (u8x16::splat(b'"'), u8x16::splat(b'\\'));
    let half = |at: usize| {
        let mut half = [0; 16];
        half.copy_from_slice(&bytes[at..at + 16]);
        let half = u8x16::new(half);
        (half.simd_eq(quote) | half.simd_eq(slash)).to_bitmask()
    };
    half(0) | half(16) << 16
}

/// Behind the value that begins at `at`.
fn value_end(line: &[u8], at: usize) -> Option<usize> {
    match *line.get(at)? {
        b'"' => string_end(line, at + 1),
        b'{' | b'[' => container_end(line, at + 1),
        _ => {
            let stop =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'"' | b'{' | b'[' | b':');
            let length = line[at..].iter().position(stop)?;
            (length > 0).then_some(at + length)
        }
    }
}

fn container_end(line: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1usize;
    loop {
        match *line.get(at)? {
            b'"' => {
                at = string_end(line, at + 1)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}
