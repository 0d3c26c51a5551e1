//! Tokens that a line wrap cuts in the middle of their prefix: `gh`, and `p_…` on the next line.

use super::Span;
use super::bytes::line_break;
use super::token::{body, shapes};

/// A word this long behind a line break is worth a closer look.
const LONG_WORD: usize = 16;

/// The token whose prefix the line break at `at` cuts; `at` is a line feed.
#[inline]
pub(super) fn at_line_break(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    // Most lines of code and of JSON end in what no prefix has.
    let before = *text.get(at.checked_sub(1)?)?;
    if !(before.is_ascii_alphanumeric() || matches!(before, b'-' | b'_' | b'\r' | b' ' | b'\\' | b'|' | 0x80..)) {
        return None;
    }
    let mut next = at + 1;
    while text.get(next) == Some(&b' ') {
        next += 1;
    }
    let word = text.get(next..next + LONG_WORD)?;
    if !word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        return None;
    }
    cut_prefix(text, at, floor)
}

fn cut_prefix(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    let mut line_end = at;
    while line_end > floor && matches!(text[line_end - 1], b'\r' | b' ' | b'\\') {
        line_end -= 1;
    }
    let next = line_break(text, line_end)?;
    shapes().find_map(|(prefix, shape)| {
        (1..prefix.len()).find_map(|cut| {
            let (head, tail) = prefix.split_at(cut);
            let start = line_end.checked_sub(head.len()).filter(|start| *start >= floor)?;
            let is_cut = text[start..line_end] == *head
                && text[next..].starts_with(tail)
                && (start == 0 || !text[start - 1].is_ascii_alphanumeric());
            if is_cut { body(text, start, next + tail.len(), shape) } else { None }
        })
    })
}
