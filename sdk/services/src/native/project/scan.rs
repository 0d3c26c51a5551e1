//! One line of JSON, looked at once from its start to its end: nothing is built, nothing is
//! copied but the values asked for, and the depth of the line costs neither stack nor heap.

use super::pattern::{Node, Pattern};
use crate::packed::Packer;
use memchr::memchr2;

/// What is kept between lines, so that a line allocates nothing.
pub(super) struct Scanner<'a> {
    pattern: &'a Pattern,
    max_value: usize,
    frames: Vec<Frame>,
    key: Vec<u8>,
}

/// A container that something is asked of.
#[derive(Clone, Copy)]
struct Frame {
    node: usize,
    array: bool,
    /// Elements of it that are behind.
    behind: u32,
    /// Position in the outermost array of the way here, below it.
    element: Option<u32>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(pattern: &'a Pattern, max_value: u32) -> Self {
        Self { pattern, max_value: max_value as usize, frames: Vec::new(), key: Vec::new() }
    }

    /// Adds the values of a line to the packer's open line. `None` when it is not one whole
    /// object; what was added until then is to be forgotten.
    pub(super) fn line(&mut self, line: &[u8], packer: &mut Packer) -> Option<()> {
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
                let (asked, descend) = node.map_or((None, false), |node| {
                    let asked = self.pattern.node(node);
                    (Some(asked), asks_inside(asked, first))
                });
                let wanted = asked.map_or(0, |asked| asked.wanted);
                if wanted != 0 || !descend {
                    let end = value_end(line, at)?;
                    self.record(wanted, element, &line[at..end], packer);
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

    fn record(&self, wanted: u32, element: Option<u32>, value: &[u8], packer: &mut Packer) {
        let text = (value.len() <= self.max_value).then_some(value);
        if wanted != 0 {
            for member in (0..32u8).filter(|member| wanted >> member & 1 == 1) {
                packer.value(member, element.unwrap_or(0), text);
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
        let end = string_end(line, start)?;
        let raw = &line[start..end - 1];
        *at = blanks(line, end);
        if *line.get(*at)? != b':' {
            return None;
        }
        *at = blanks(line, *at + 1);
        let members = &self.pattern.node(frame.node).members;
        let find = |key: &[u8]| members.iter().find(|(name, _)| name == key).map(|(_, node)| *node);
        if raw.contains(&b'\\') {
            self.key.clear();
            super::escape::unescape(raw, &mut self.key);
            return Some(find(&self.key));
        }
        Some(find(raw))
    }
}

/// Whether a value that begins with this byte is gone into.
fn asks_inside(asked: &Node, first: u8) -> bool {
    match first {
        b'{' => !asked.members.is_empty(),
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

/// Behind the closing quote of the string whose first byte is at `at`.
fn string_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
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
