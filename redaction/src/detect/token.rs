//! Finding the end of a token whose prefix was found: in one piece, cut by a line wrap, or
//! cut off by the end of the text.

use super::Span;
use super::bytes::{ends_word, line_break, starts_word};
use super::stand_in::{is_blacked_out, is_stand_in};
use super::vendors::{AWS, GOOGLE, VENDORS};
use crate::kind::Kind;
use std::sync::LazyLock;

/// So much of a token decides whether it is one.
const LOOKED_AT: usize = 512;
/// A key is wrapped over no more lines.
const MOST_LINES: usize = 12;

/// What a vendor's tokens look like.
#[derive(Debug)]
pub(super) struct Shape {
    prefix: &'static [u8],
    kind: Kind,
    /// What the body is made of, beside letters and digits.
    marks: &'static [u8],
    /// Shorter bodies are none.
    least: usize,
    /// The length of the body where it is known; shorter ones may be cut by a line wrap.
    whole: Option<usize>,
    exactly: bool,
    only_random: bool,
}

impl Shape {
    pub(super) const fn new(prefix: &'static str, kind: Kind, marks: &'static [u8], least: usize) -> Self {
        Self { prefix: prefix.as_bytes(), kind, marks, least, whole: None, exactly: false, only_random: false }
    }

    pub(super) const fn whole(mut self, length: usize) -> Self {
        self.whole = Some(length);
        self
    }

    /// The body has this length and no other, in capitals where the prefix is.
    pub(super) const fn exactly(mut self) -> Self {
        self.whole = Some(self.least);
        self.exactly = true;
        self
    }

    pub(super) const fn only_random(mut self) -> Self {
        self.only_random = true;
        self
    }

    fn takes(&self, byte: u8) -> bool {
        match self.kind {
            Kind::AwsAccessKey => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            _ => byte.is_ascii_alphanumeric() || self.marks.contains(&byte),
        }
    }
}

/// The vendors by the mark that ends their prefix and the byte before it; an index that is
/// looked into at each mark of a text.
pub(super) struct Vendors {
    by_end: [Vec<&'static Shape>; 256],
}

impl Vendors {
    pub(super) fn get() -> &'static Self {
        static VENDORS_BY_END: LazyLock<Vendors> = LazyLock::new(|| {
            let mut by_end = [const { Vec::new() }; 256];
            for shape in VENDORS {
                if let [.., before, _] = shape.prefix {
                    by_end[usize::from(*before)].push(shape);
                }
            }
            Vendors { by_end }
        });
        &VENDORS_BY_END
    }

    /// The token whose prefix ends with the mark at `at`.
    #[inline]
    pub(super) fn at_mark(&self, text: &[u8], at: usize, floor: usize) -> Option<Span> {
        let [.., third, before, mark] = text.get(..=at)? else { return None };
        self.by_end[usize::from(*before)].iter().find_map(|shape| {
            // Nearly all that isn't the prefix ends here.
            let [.., expected, _, end] = shape.prefix else { return None };
            if expected != third || end != mark {
                return None;
            }
            let start = (at + 1).checked_sub(shape.prefix.len()).filter(|start| *start >= floor)?;
            text[start..=at].eq(shape.prefix).then(|| token(text, start, floor, shape)).flatten()
        })
    }
}

/// The token of a prefix without a mark, at the `I` of it.
pub(super) fn at_capital(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    let aws = || {
        let start = at.checked_sub(2).filter(|start| *start >= floor)?;
        AWS.iter().find_map(|shape| token(text, start, floor, shape))
    };
    let google = || token(text, at.checked_sub(1).filter(|start| *start >= floor)?, floor, &GOOGLE);
    match text.get(at + 1)? {
        b'A' => aws(),
        b'z' => google(),
        _ => None,
    }
}

/// The token that starts here, of whatever vendor.
pub(super) fn starting(text: &[u8], start: usize) -> Option<Span> {
    VENDORS.iter().chain(&AWS).chain([&GOOGLE]).find_map(|shape| token(text, start, start, shape))
}

fn token(text: &[u8], start: usize, floor: usize, shape: &Shape) -> Option<Span> {
    if !text[start..].starts_with(shape.prefix) || !starts_word(text, start, floor) {
        return None;
    }
    if shape.only_random {
        let longer =
            |other: &&Shape| other.prefix.len() > shape.prefix.len() && text[start..].starts_with(other.prefix);
        let inside = start > floor && matches!(text[start - 1], b'-' | b'_');
        if inside || VENDORS.iter().any(|other| longer(&other)) {
            return None;
        }
    }
    body(text, start, start + shape.prefix.len(), shape)
}

/// The token whose body starts at `from`, behind a prefix that may be broken by a line wrap.
pub(super) fn body(text: &[u8], start: usize, from: usize, shape: &Shape) -> Option<Span> {
    let mut end = run(text, from, shape);
    let mut joined = text[from..end].to_vec();
    let mut wrapped = false;
    for _ in 0..MOST_LINES {
        if !may_go_on(&joined, shape) {
            break;
        }
        let Some(next) = line_break(text, end) else { break };
        let next_end = run(text, next, shape);
        let piece = &text[next..next_end];
        if piece.is_empty() || !ends_word(text, next_end) || !belongs(&joined, piece, shape) {
            break;
        }
        joined.extend_from_slice(piece);
        end = next_end;
        wrapped = true;
    }
    // The full stop of a sentence.
    while let [.., b'.'] = joined.as_slice() {
        joined.pop();
        end -= 1;
    }
    if !(is_token(&joined, shape) || is_cut_off(text, end, &joined, shape)) || stands_in(&joined) {
        return None;
    }
    // A body longer than what was looked at is taken whole.
    if joined.len() >= LOOKED_AT {
        end += text[end..].iter().take_while(|byte| shape.takes(**byte)).count();
    }
    let mut secret = shape.prefix.to_vec();
    secret.extend_from_slice(&joined);
    let whole = wrapped || from != start + shape.prefix.len();
    // A wrap may have hidden the longer prefix of another vendor.
    let kind = VENDORS.iter().find(|vendor| secret.starts_with(vendor.prefix)).map_or(shape.kind, |vendor| vendor.kind);
    Some(Span { start, end, kind, joined: whole.then_some(secret) })
}

fn run(text: &[u8], from: usize, shape: &Shape) -> usize {
    let mut length = 0;
    for byte in text[from..].iter().take(LOOKED_AT) {
        // The dashes of an armour are none of it.
        if !shape.takes(*byte) || (*byte == b'-' && is_armour(&text[from + length..])) {
            break;
        }
        length += 1;
    }
    from + length
}

fn is_armour(text: &[u8]) -> bool {
    text.starts_with(b"-----BEGIN ") || text.starts_with(b"-----END ")
}

fn is_token(body: &[u8], shape: &Shape) -> bool {
    if shape.exactly {
        return body.len() == shape.least;
    }
    if body.len() < shape.least {
        return false;
    }
    !shape.only_random || has_random_part(body)
}

/// Whether a line break may lie inside the token.
fn may_go_on(body: &[u8], shape: &Shape) -> bool {
    shape.whole.map_or(body.len() < shape.least, |whole| body.len() < whole)
}

/// Whether the first word of the next line is more of the token rather than a word.
fn belongs(body: &[u8], piece: &[u8], shape: &Shape) -> bool {
    if VENDORS.iter().any(|vendor| piece.starts_with(vendor.prefix)) {
        return false;
    }
    let total = body.len() + piece.len();
    if shape.whole == Some(total) {
        return true;
    }
    if shape.exactly {
        return total < shape.least && piece.len() >= 4;
    }
    let digits = piece.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = piece.iter().any(u8::is_ascii_uppercase);
    let lower = piece.iter().any(u8::is_ascii_lowercase);
    let random = piece.len() >= 4
        && ((digits > 0 && (upper || lower)) || (piece.len() >= 12 && upper && lower) || piece.len() >= 16);
    if body.len() < shape.least || (shape.only_random && !has_random_part(body)) {
        // Without it there is no token: anything that isn't a plain word will do.
        return random || (piece.len() >= 8 && (digits > 0 || (upper && lower)));
    }
    random && shape.whole.is_none_or(|whole| total <= whole) && !is_identifier(piece)
}

/// A hash, a UUID: what else stands alone on a line.
fn is_identifier(piece: &[u8]) -> bool {
    piece.len() >= 7 && piece.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

/// A part between marks that is no word: long, with digits and letters.
fn has_random_part(body: &[u8]) -> bool {
    body.split(|byte| matches!(byte, b'-' | b'_'))
        .any(|part| part.len() >= 16 && part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic))
}

/// The beginning of a token where the text ends or was shortened, as in a title.
fn is_cut_off(text: &[u8], end: usize, body: &[u8], shape: &Shape) -> bool {
    let rest = &text[end..];
    let count = |of: fn(&u8) -> bool| body.iter().filter(|byte| of(byte)).count();
    let (digits, upper, lower) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    !shape.only_random
        && (rest.is_empty() || rest.starts_with("…".as_bytes()) || rest.starts_with(b"..."))
        && (8..shape.whole.unwrap_or(usize::MAX)).contains(&body.len())
        && ((digits > 0 && upper + lower > 0) || (upper > 2 && lower > 2))
}

/// `xxxxxxxx`, `your-key-here`, behind the version that some prefixes have.
fn stands_in(body: &[u8]) -> bool {
    let versions: [&[u8]; 5] = [b"api03-", b"oat01-", b"ort01-", b"admin01-", b"v1-"];
    let bare = versions.iter().find_map(|version| body.strip_prefix(*version)).unwrap_or(body);
    is_blacked_out(bare) || is_stand_in(bare)
}

/// The prefixes that have a mark in them or at their end, for what looks for broken ones.
pub(super) fn shapes() -> impl Iterator<Item = (&'static [u8], &'static Shape)> {
    VENDORS.iter().chain(&AWS).chain([&GOOGLE]).map(|shape| (shape.prefix, shape))
}
