//! Where the messages of a document begin and end, found without reading what is in them.
//!
//! A transcript is one JSON document: an object whose `messages` is a list, or such a list
//! alone. It may be large, cut off, or damaged, so it is never parsed as a whole: what is whole
//! comes back, element by element.

use crate::pieces::{Pieces, Place};
use sepia_ir::DriverError;
use sepia_sdk::Host;
use sepia_sdk::json::{Str, parse};
use std::borrow::Cow;

/// A longer element is not held: its node says so, with the place and the size.
pub(crate) const LONGEST: usize = 16 << 20;
/// A longer member of the document itself is not kept.
const LONGEST_MEMBER: usize = 8 << 10;

/// An element of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Its JSON text; absent when it is longer than [`LONGEST`].
    pub(crate) bytes: Option<&'a [u8]>,
}

/// How a document ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    Whole,
    /// Within an element, or before the list or the document was closed; from here on it
    /// can't be read.
    Torn { offset: u64, bytes: u64 },
    /// With something behind it.
    Trailing { offset: u64, bytes: u64 },
    /// It has no list of messages.
    NoList,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    /// Among the members of the document, before the list.
    Members,
    List,
    /// Behind the list; `true` when members of an object may follow.
    Behind(bool),
    Ended(End),
}

/// Reads the elements of a document.
pub(crate) struct Elements {
    pieces: Pieces,
    phase: Phase,
    in_object: bool,
    /// Members of the document that were met, as JSON text.
    members: Vec<(String, String)>,
}

impl Elements {
    pub(crate) fn new(host: &Host, place: Place) -> Self {
        Self::of(Pieces::new(host.clone(), place))
    }

    /// For who wants only the first elements.
    pub(crate) fn head(host: &Host, place: Place) -> Self {
        Self::of(Pieces::new(host.clone(), place).with_piece(8 << 10))
    }

    fn of(pieces: Pieces) -> Self {
        Self { pieces, phase: Phase::Start, in_object: false, members: Vec::new() }
    }

    /// A member of the document that was met already and is not long, as JSON text. The agent
    /// writes most of them before its list.
    pub(crate) fn member(&self, name: &str) -> Option<&str> {
        self.members.iter().rev().find(|(known, _)| known == name).map(|(_, json)| json.as_str())
    }

    /// As [`Elements::member`], of a text.
    pub(crate) fn text_member(&self, name: &str) -> Option<String> {
        parse::<Str<'_>>(self.member(name)?).ok()?.0.map(Cow::into_owned)
    }

    /// Reads as far as the list begins, and nothing of it.
    pub(crate) fn begin(&mut self) -> Result<(), DriverError> {
        loop {
            match self.phase {
                Phase::Start => self.start()?,
                Phase::Members => self.members_before()?,
                _ => return Ok(()),
            }
        }
    }

    /// Where the next thing begins: right behind the bracket that opens the list, once that was met,
    /// and right behind the one that closes it, once there are no more elements.
    pub(crate) fn offset(&self) -> u64 {
        self.pieces.offset()
    }

    /// The next element; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Element<'_>>, DriverError> {
        loop {
            match self.phase {
                Phase::Start | Phase::Members => self.begin()?,
                Phase::List => {
                    self.blanks(true)?;
                    let from = self.pieces.offset();
                    match self.peek()? {
                        None | Some(b'}' | b':') => self.tear(from),
                        Some(b']') => {
                            self.pieces.advance(1);
                            self.phase = Phase::Behind(self.in_object);
                        }
                        Some(_) => {
                            if !self.value(LONGEST)? {
                                self.tear(from);
                                continue;
                            }
                            let length = self.pieces.offset() - from;
                            let whole = self.pieces.held() as u64 == length;
                            let bytes = whole.then(|| self.pieces.marked());
                            return Ok(Some(Element { offset: from, length, bytes }));
                        }
                    }
                }
                Phase::Behind(_) | Phase::Ended(_) => return Ok(None),
            }
        }
    }

    /// How the document ends: looks through what follows the list.
    pub(crate) fn end(&mut self) -> Result<End, DriverError> {
        if let Phase::Behind(in_object) = self.phase {
            let end = if in_object { self.members_behind()? } else { None };
            let end = match end {
                Some(end) => end,
                None => self.trailing()?,
            };
            self.phase = Phase::Ended(end);
        }
        match self.phase {
            Phase::Ended(end) => Ok(end),
            _ => Ok(End::NoList),
        }
    }

    fn tear(&mut self, offset: u64) {
        self.pieces.unmark();
        self.phase = Phase::Ended(self.torn(offset));
    }

    fn torn(&self, offset: u64) -> End {
        End::Torn { offset, bytes: self.pieces.size().saturating_sub(offset) }
    }

    fn peek(&mut self) -> Result<Option<u8>, DriverError> {
        Ok(self.pieces.rest()?.first().copied())
    }

    /// Passes over white space, and over commas if they may stand here.
    fn blanks(&mut self, commas: bool) -> Result<(), DriverError> {
        self.pieces.unmark();
        loop {
            let rest = self.pieces.rest()?;
            let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r') || (commas && *b == b',');
            let bytes = rest.iter().position(|b| !blank(b)).unwrap_or(rest.len());
            let done = bytes < rest.len() || rest.is_empty();
            self.pieces.advance(bytes);
            if done {
                return Ok(());
            }
        }
    }

    fn start(&mut self) -> Result<(), DriverError> {
        if self.pieces.rest()?.starts_with("\u{feff}".as_bytes()) {
            self.pieces.advance(3);
        }
        self.blanks(false)?;
        self.phase = match self.peek()? {
            Some(b'[') => Phase::List,
            Some(b'{') => {
                self.in_object = true;
                Phase::Members
            }
            _ => Phase::Ended(End::NoList),
        };
        self.pieces.advance(1);
        Ok(())
    }

    /// Reads members up to the list of messages.
    fn members_before(&mut self) -> Result<(), DriverError> {
        while let Some((name, from)) = self.name()? {
            if name == b"\"messages\"" && self.peek()? == Some(b'[') {
                self.pieces.advance(1);
                self.phase = Phase::List;
                return Ok(());
            }
            if !self.value(LONGEST_MEMBER)? {
                self.tear(from);
                return Ok(());
            }
            self.keep(&name);
        }
        let at = self.pieces.offset();
        let closed = self.peek()? == Some(b'}');
        self.phase = Phase::Ended(if closed { End::NoList } else { self.torn(at) });
        Ok(())
    }

    /// Keeps the member whose value was read last, unless it was too long.
    fn keep(&mut self, name: &[u8]) {
        let value = String::from_utf8_lossy(self.pieces.marked()).into_owned();
        let name = std::str::from_utf8(name).ok().and_then(|name| parse::<Str<'_>>(name).ok()?.0);
        if let Some(name) = name.filter(|_| !value.is_empty()) {
            self.members.push((name.into_owned(), value));
        }
    }

    /// Reads members behind the list; says if the document is not closed.
    fn members_behind(&mut self) -> Result<Option<End>, DriverError> {
        while let Some((name, from)) = self.name()? {
            if !self.value(LONGEST_MEMBER)? {
                return Ok(Some(self.torn(from)));
            }
            self.keep(&name);
        }
        if self.peek()? == Some(b'}') {
            self.pieces.advance(1);
            return Ok(None);
        }
        let at = self.pieces.offset();
        Ok(Some(self.torn(at)))
    }

    fn trailing(&mut self) -> Result<End, DriverError> {
        self.blanks(false)?;
        let offset = self.pieces.offset();
        let bytes = self.pieces.size().saturating_sub(offset);
        Ok(if bytes == 0 { End::Whole } else { End::Trailing { offset, bytes } })
    }

    /// The JSON text of a member's name, its value next, and where it began; none when no
    /// member follows.
    fn name(&mut self) -> Result<Option<(Vec<u8>, u64)>, DriverError> {
        self.blanks(true)?;
        let from = self.pieces.offset();
        if self.peek()? != Some(b'"') || !self.value(LONGEST_MEMBER)? {
            return Ok(None);
        }
        let name = self.pieces.marked().to_vec();
        self.blanks(false)?;
        if self.peek()? != Some(b':') {
            return Ok(None);
        }
        self.pieces.advance(1);
        self.blanks(false)?;
        Ok(Some((name, from)))
    }

    /// Passes over a value and marks it, as long as it is no longer than that; whether it ends
    /// before the document does.
    fn value(&mut self, longest: usize) -> Result<bool, DriverError> {
        self.pieces.mark();
        let mut scan = Scan::default();
        loop {
            let rest = self.pieces.rest()?;
            if rest.is_empty() {
                // A number that stands alone ends with the document, too.
                return Ok(scan.scalar);
            }
            let (bytes, done) = scan.over(rest);
            self.pieces.advance(bytes);
            if self.pieces.held() > longest {
                self.pieces.unmark();
            }
            if done {
                return Ok(true);
            }
        }
    }
}

/// Finds the end of a value, piece by piece.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    begun: bool,
    scalar: bool,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Bytes of a piece that belong to the value, and whether it ends with them. At least one
    /// byte is the value's, whatever it is.
    fn over(&mut self, piece: &[u8]) -> (usize, bool) {
        let mut at = 0;
        if !self.begun {
            self.begun = true;
            match piece[0] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = 1,
                _ => self.scalar = true,
            }
            at = 1;
        }
        if self.scalar {
            let ends = |b: &u8| matches!(b, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'{' | b'[');
            return match piece[at..].iter().position(ends) {
                Some(end) => (at + end, true),
                None => (piece.len(), false),
            };
        }
        while at < piece.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
            } else if self.in_string {
                let Some(found) = memchr::memchr2(b'"', b'\\', &piece[at..]) else { return (piece.len(), false) };
                at += found + 1;
                if piece[at - 1] == b'\\' {
                    self.escaped = true;
                    continue;
                }
                self.in_string = false;
                if self.depth == 0 {
                    return (at, true);
                }
            } else {
                let structural = |b: &u8| matches!(b, b'"' | b'{' | b'}' | b'[' | b']');
                let Some(found) = piece[at..].iter().position(structural) else { return (piece.len(), false) };
                at += found + 1;
                match piece[at - 1] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    _ => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return (at, true);
                        }
                    }
                }
            }
        }
        (at, false)
    }
}
