//! JSON Web Tokens (RFC 7519): base64url parts joined by dots, the first of them a JSON object.

use super::Span;
use super::bytes::{ends_word, line_break, starts_word};
use crate::kind::Kind;

/// Shorter parts hold nothing.
const LEAST_PART: usize = 8;
/// Of HMAC-SHA-256, the shortest signature in use.
const LEAST_SIGNATURE: usize = 43;
const MOST_LINES: usize = 24;

/// The token whose header starts two bytes before the `J` at `at`.
pub(super) fn at_capital(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    let start = at.checked_sub(2).filter(|start| *start >= floor)?;
    starting(text, start, floor)
}

pub(super) fn starting(text: &[u8], start: usize, floor: usize) -> Option<Span> {
    let whole_word = start <= floor || !matches!(text[start - 1], b'-' | b'_');
    if !text[start..].starts_with(b"eyJ") || !whole_word || !starts_word(text, start, floor) {
        return None;
    }
    // Before anything is copied, and so that each part is looked at once whatever the text:
    // two parts that are long enough, or a line break in one of them.
    let header = part(text, start);
    if text.get(header) == Some(&b'.') {
        let claims = part(text, header + 1);
        if header - start < LEAST_PART || (claims - header <= LEAST_PART && line_break(text, claims).is_none()) {
            return None;
        }
    } else {
        line_break(text, header)?;
    }
    let mut end = run(text, start);
    let mut joined = text[start..end].to_vec();
    let mut wrapped = false;
    for _ in 0..MOST_LINES {
        if joined.len() < LEAST_PART || !is_unfinished(&joined) {
            break;
        }
        let Some(next) = line_break(text, end) else { break };
        let next_end = run(text, next);
        let piece = &text[next..next_end];
        let telling = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'.';
        let is_word = piece.len() < 4 || !piece.iter().any(telling);
        if piece.is_empty() || (is_word && joined.last() != Some(&b'.')) || !ends_word(text, next_end) {
            break;
        }
        joined.extend_from_slice(piece);
        end = next_end;
        wrapped = true;
    }
    // The full stop of a sentence; a signature that is missing leaves its dot.
    while joined.last() == Some(&b'.') && parts(&joined) > 3 {
        joined.pop();
        end -= 1;
    }
    let mut lengths = joined.split(|byte| *byte == b'.').map(<[u8]>::len);
    let is_token = matches!(
        (lengths.next(), lengths.next(), lengths.next()),
        (Some(header), Some(claims), Some(_)) if header >= LEAST_PART && claims >= LEAST_PART
    );
    is_token.then_some(Span { start, end, kind: Kind::Jwt, joined: wrapped.then_some(joined) })
}

fn part(text: &[u8], from: usize) -> usize {
    let takes = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    from + text[from..].iter().take_while(|byte| takes(byte)).count()
}

fn run(text: &[u8], from: usize) -> usize {
    let takes = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    from + text[from..].iter().take_while(|byte| takes(byte)).count()
}

fn parts(token: &[u8]) -> usize {
    token.split(|byte| *byte == b'.').count()
}

fn is_unfinished(token: &[u8]) -> bool {
    let last = token.rsplit(|byte| *byte == b'.').next().map_or(0, <[u8]>::len);
    parts(token) < 3 || (parts(token) == 3 && last < LEAST_SIGNATURE)
}
