//! Private keys in their armour (RFC 7468 and the like), whole, or with one end missing.

use super::Span;
use crate::kind::Kind;
use memchr::memmem;

/// A line of the armour is no longer than this.
const LONGEST_LABEL: usize = 64;
/// Fewer base64 characters in a row are no key.
const LEAST: usize = 12;
const FENCE: &[u8] = b"-----";

/// The key whose first line has the fifth of its dashes at `at`.
pub(super) fn at_dash(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    let start = (at + 1).checked_sub(FENCE.len()).filter(|start| *start >= floor)?;
    if &text[start..=at] != FENCE {
        return None;
    }
    if text[at + 1..].starts_with(b"BEGIN ") {
        return from_beginning(text, start);
    }
    text[at + 1..].starts_with(b"END ").then(|| up_to_end(text, start, floor)).flatten()
}

/// The end of the armour line at `at`, when it belongs to a private key.
fn armour_line(text: &[u8], at: usize) -> Option<usize> {
    let label = text.get(at + FENCE.len()..)?;
    let label = &label[..label.len().min(LONGEST_LABEL)];
    let length = memmem::find(label, FENCE)?;
    let label = &label[..length];
    let is_label = label.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ');
    (is_label && (label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")))
        .then_some(at + 2 * FENCE.len() + length)
}

fn from_beginning(text: &[u8], start: usize) -> Option<Span> {
    let body = armour_line(text, start)?;
    // The body has no dashes in a row, so the next ones decide, and each stretch of text is
    // searched once.
    let closing = memmem::find(&text[body..], FENCE).map(|at| body + at);
    let ending = closing
        .filter(|at| text[at + FENCE.len()..].starts_with(b"END "))
        .and_then(|at| armour_line(text, at).map(|end| (at, end)));
    let (body_end, end) = ending.unwrap_or_else(|| {
        let end = base64_end(text, body);
        (end, end)
    });
    let lines = &text[body..body_end];
    (longest_run(lines) >= LEAST).then(|| Span { start, end, kind: Kind::PrivateKey, joined: Some(essence(lines)) })
}

/// The lines before an end whose beginning is not there, as of `tail key.pem`.
fn up_to_end(text: &[u8], fence: usize, floor: usize) -> Option<Span> {
    let end = armour_line(text, fence)?;
    let (mut start, mut at) = (fence, fence);
    loop {
        while at > floor && matches!(text[at - 1], b'\n' | b'\r' | b' ' | b'\t' | b'\\') {
            at -= 1;
        }
        let run = text[floor..at].iter().rev().take_while(|byte| is_base64(**byte)).count();
        // Only the last line of a key is short.
        if run == 0 || (run < LEAST && start != fence) {
            break;
        }
        at -= run;
        start = at;
    }
    let lines = &text[start..fence];
    (longest_run(lines) >= 4 * LEAST).then(|| Span { start, end, kind: Kind::PrivateKey, joined: Some(essence(lines)) })
}

/// The end of the lines that are base64, where the armour has no end.
fn base64_end(text: &[u8], from: usize) -> usize {
    let mut end = from;
    let mut at = from;
    loop {
        // Line ends, real or escaped, and indentation.
        while let Some(byte) = text.get(at) {
            match byte {
                b'\n' | b'\r' | b' ' | b'\t' => at += 1,
                b'\\' => at += if matches!(text.get(at + 1), Some(b'n' | b'r' | b'\\')) { 2 } else { 1 },
                _ => break,
            }
        }
        let run = text[at..].iter().take_while(|byte| is_base64(**byte)).count();
        // A line that is cut off may be short, the others are not.
        if run < LEAST && at + run < text.len() {
            return end;
        }
        at += run;
        end = at;
        if run == 0 {
            return end;
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn longest_run(body: &[u8]) -> usize {
    body.split(|byte| !is_base64(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

/// The long runs of base64, so that a key is the same however its lines are written.
fn essence(body: &[u8]) -> Vec<u8> {
    let mut essence = Vec::new();
    let mut at = 0;
    while at < body.len() {
        match body[at] {
            // An escaped line end: its letter is none of the key.
            b'\\' => at += if matches!(body.get(at + 1), Some(b'n' | b'r')) { 2 } else { 1 },
            byte => {
                if is_base64(byte) {
                    essence.push(byte);
                }
                at += 1;
            }
        }
    }
    essence
}
