//! The secret half of an AWS key, which has no mark of its own: forty characters near the id.

use super::Span;
use crate::kind::Kind;

/// How far from the id it is looked for.
const NEAR: usize = 256;
const LENGTH: usize = 40;

/// The halves that stand near the id from `start` to `end`.
pub(super) fn beside(text: &[u8], start: usize, end: usize, found: &mut Vec<Span>) {
    let first = start.saturating_sub(NEAR);
    let last = text.len().min(end + NEAR);
    let mut at = first;
    while at < last {
        let length = text[at..].iter().take(LENGTH + 1).take_while(|byte| takes(**byte)).count();
        let from_the_edge = at == first && first > 0 && takes(text[first - 1]);
        let run = &text[at..at + length];
        if !from_the_edge && text.get(at + length) != Some(&b'=') && is_secret(run) {
            found.push(Span { start: at, end: at + length, kind: Kind::AwsSecretKey, joined: None });
        }
        at += length;
        // What is left of a longer run is none either.
        while at < last && takes(text[at]) {
            at += 1;
        }
        at += 1;
    }
}

/// Whether all of it is one.
pub(crate) fn is_secret(text: &[u8]) -> bool {
    text.len() == LENGTH
        && text.iter().all(|byte| takes(*byte))
        && text.iter().any(u8::is_ascii_uppercase)
        && text.iter().any(u8::is_ascii_lowercase)
        && text.iter().any(|byte| !byte.is_ascii_alphabetic())
        // More of them are a path.
        && text.split(|byte| *byte == b'/').count() <= 6
}

fn takes(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+')
}
