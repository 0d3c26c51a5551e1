//! Where in a text secrets are. No regular expressions: each form of secret has a byte at
//! which the search stops, and is checked by hand from there, within bounds, so that the time
//! is that of one pass on any input.

mod assignment;
mod aws_secret;
mod bytes;
mod jwt;
mod name;
mod private_key;
mod reference;
mod stand_in;
mod token;
mod url;
mod value;
mod vendors;
mod wrapped_prefix;

use crate::anchors::Anchors;
use crate::kind::Kind;
use token::Vendors;

pub(crate) use aws_secret::is_secret as is_aws_secret;
pub(crate) use name::{Class, classify};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte, at the start of a character.
    pub(crate) start: usize,
    /// Behind the last byte.
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    /// The secret itself, where line wraps or armour stand between its parts.
    pub(crate) joined: Option<Vec<u8>>,
}

/// All secrets of a text, rising, none overlapping.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let text = text.as_bytes();
    let vendors = Vendors::get();
    let (mut found, mut beside) = (Vec::new(), Vec::new());
    let mut done = 0;
    // One whose mark stands at a distance before it, with room for others between.
    let mut ahead: Option<Span> = None;
    let mut anchors = Anchors::new(text);
    while let Some(at) = anchors.next() {
        if let Some(span) = ahead.take_if(|span| span.start <= at) {
            done = span.end;
            anchors.skip_to(done);
            found.push(span);
            if at < done {
                continue;
            }
        }
        let Some(span) = at_anchor(vendors, text, at, done) else { continue };
        let taken = ahead.as_ref().is_some_and(|ahead| ahead.start <= span.start);
        if span.start < done || span.end <= span.start || taken {
            continue;
        }
        if span.kind == Kind::AwsAccessKey {
            aws_secret::beside(text, span.start, span.end, &mut beside);
        }
        if span.start > at && ahead.is_none() {
            ahead = Some(span);
        } else {
            done = span.end;
            anchors.skip_to(done);
            beside.extend(ahead.take_if(|span| span.start < done));
            found.push(span);
        }
    }
    found.extend(ahead);
    if beside.is_empty() {
        return found;
    }
    found.append(&mut beside);
    merged(found)
}

/// All secrets of a text that is the value of a name of this class.
pub(crate) fn spans_of_value(class: Class, text: &str) -> Vec<Span> {
    let mut found = spans(text);
    let Some(named) = assignment::in_value(class, text) else { return found };
    found.push(named);
    merged(found)
}

/// Rising, and overlapping ones as one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup_by(|later, earlier| {
        let overlaps = later.start < earlier.end;
        if overlaps && later.end > earlier.end {
            earlier.end = later.end;
            earlier.joined = None;
        }
        overlaps
    });
    spans
}

#[inline]
fn at_anchor(vendors: &Vendors, text: &[u8], at: usize, floor: usize) -> Option<Span> {
    match text[at] {
        b':' => url::at_colon(text, at).or_else(|| assignment::at_separator(text, at, floor)),
        b'=' => assignment::at_separator(text, at, floor),
        b'-' => match at.checked_sub(1).map(|before| text[before]) {
            Some(b'-') => match text.get(at + 1) {
                Some(b'B' | b'E') => private_key::at_dash(text, at, floor).or_else(|| assignment::at_option(text, at)),
                Some(byte) if byte.is_ascii_alphabetic() => assignment::at_option(text, at),
                _ => None,
            },
            _ => vendors.at_mark(text, at, floor),
        },
        b'I' => token::at_capital(text, at, floor),
        b'J' => jwt::at_capital(text, at, floor),
        b'B' => assignment::at_bearer(text, at),
        b'\n' => wrapped_prefix::at_line_break(text, at, floor),
        // `_` and `.`
        _ => vendors.at_mark(text, at, floor),
    }
}

/// The span of a value, under the kind of what it holds when that is known: the same secret
/// then has the same name wherever it stands, and one that a line wrap cuts is taken whole.
fn recognized(text: &[u8], start: usize, end: usize, kind: Kind) -> Span {
    match token::starting(text, start).or_else(|| jwt::starting(text, start, start)) {
        Some(span) if span.end >= end => span,
        _ => Span { start, end, kind, joined: None },
    }
}
