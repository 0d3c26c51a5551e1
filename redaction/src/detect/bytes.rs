//! Classes of bytes, and the boundaries of words in text that may hold escapes.

/// Of what the names of variables, members and options are made.
pub(super) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The end of the blanks that start at `at`.
pub(super) fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The start of the blanks that end at `at`.
pub(super) fn blanks_before(text: &[u8], mut at: usize) -> usize {
    while at > 0 && matches!(text[at - 1], b' ' | b'\t') {
        at -= 1;
    }
    at
}

/// Whether a word can start at `at`: what stands before is no letter or digit, or is one that
/// belongs to an escape, as in `\nghp_…`, `%3Dghp_…` or after a colour of a terminal.
///
/// What ends at `floor` was a secret and is no part of the word.
pub(super) fn starts_word(text: &[u8], at: usize, floor: usize) -> bool {
    let before = &text[floor.min(at)..at];
    match before {
        []
        | [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v']
        | [.., b'\\', b'x', _, _]
        | [.., b'\\', b'u', _, _, _, _] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [parameters @ .., b'm'] => {
            let digits = parameters.iter().rev().take(16).take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
            parameters[..parameters.len() - digits].ends_with(b"[")
        }
        _ => false,
    }
}

/// Whether the byte can't belong to the word that ends before `at`.
pub(super) fn ends_word(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// The end of the line break at `at`, a real one or an escaped one, with the indentation and
/// the frame or quotation mark of the next line, and with the backslash that continues a
/// command. `None` when the line goes on.
pub(super) fn line_break(text: &[u8], at: usize) -> Option<usize> {
    let mut next = at;
    // The frame that a terminal program draws around text.
    let framed = frame(text, blanks(text, next));
    next = framed.unwrap_or(next);
    next = blanks(text, next);
    if text.get(next) == Some(&b'\\') && matches!(text.get(next + 1), Some(b'\n' | b'\r')) {
        next += 1;
    }
    next = one_break(text, next)?;
    let indented = blanks(text, next);
    let marked = frame(text, indented).or_else(|| text[indented..].starts_with(b"> ").then_some(indented + 2));
    Some(marked.map_or(indented, |inside| blanks(text, inside)))
}

fn one_break(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let slashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    match &rest[slashes..] {
        [b'\n', ..] if slashes == 0 => Some(at + 1),
        [b'\r', b'\n', ..] if slashes == 0 => Some(at + 2),
        [b'n', ..] if slashes > 0 => Some(at + slashes + 1),
        [b'r', after @ ..] if slashes > 0 => {
            let more = after.iter().take(8).take_while(|byte| **byte == b'\\').count();
            (more == slashes && after.get(more) == Some(&b'n')).then_some(at + 2 * slashes + 2)
        }
        _ => None,
    }
}

fn frame(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    ["│", "┃", "|"].iter().find(|mark| rest.starts_with(mark.as_bytes())).map(|mark| at + mark.len())
}
