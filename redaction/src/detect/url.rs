//! Passwords in URLs, and URLs that are a secret themselves.

use super::stand_in::{is_blacked_out, is_stand_in};
use super::{Span, recognized};
use crate::kind::Kind;
use crate::placeholder;

/// Longer user parts are none.
const LONGEST: usize = 1024;

/// The password of the URL whose scheme ends at the colon at `at`.
#[inline]
pub(super) fn at_colon(text: &[u8], at: usize) -> Option<Span> {
    let rest = &text[at + 1..];
    // `\/` is how some encoders write `/` in JSON.
    let slashes = match rest {
        [b'/', b'/', ..] => 2,
        [b'\\', b'/', b'\\', b'/', ..] => 4,
        _ => return None,
    };
    if at == 0 || !text[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let from = at + 1 + slashes;
    user_part(text, from).or_else(|| webhook(text, from))
}

fn user_part(text: &[u8], from: usize) -> Option<Span> {
    let authority = &text[from..text.len().min(from + LONGEST)];
    let length = authority
        .iter()
        .position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
        })
        .unwrap_or(authority.len());
    let at_sign = memchr::memrchr(b'@', &authority[..length])?;
    let user = &authority[..at_sign];
    let (start, secret) = match memchr::memchr(b':', user) {
        Some(colon) => (from + colon + 1, &user[colon + 1..]),
        // A token in place of a user.
        None if user.len() >= 20 && user.iter().any(u8::is_ascii_digit) && user.iter().any(u8::is_ascii_alphabetic) => {
            (from, user)
        }
        None => return None,
    };
    let name = &user[..user.len() - secret.len()];
    let example = matches!(name, b"user:" | b"username:" | b"USER:" | b"USERNAME:")
        && matches!(secret, b"password" | b"pass" | b"passwd" | b"PASSWORD" | b"PASS");
    let reference = matches!(secret, [b'$' | b'{' | b'%', .., b'}' | b'%'])
        || matches!(secret, [b'$', name @ ..] if name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
        || matches!(secret, b"%s" | b"%v" | b"{}")
        || secret.starts_with(b"[");
    let worded = is_stand_in(secret) && !secret.iter().all(u8::is_ascii_lowercase);
    let blacked_out = is_blacked_out(secret);
    if secret.is_empty() || example || reference || worded || blacked_out || placeholder::is_in(user) {
        return None;
    }
    Some(recognized(text, start, start + secret.len(), Kind::UrlPassword))
}

/// The paths of these hosts need no other key.
fn webhook(text: &[u8], from: usize) -> Option<Span> {
    const HOOKS: [(&[u8], Kind); 3] = [
        (b"hooks.slack.com/services/", Kind::SlackToken),
        (b"discord.com/api/webhooks/", Kind::ServiceKey),
        (b"discordapp.com/api/webhooks/", Kind::ServiceKey),
    ];
    let (start, kind) =
        HOOKS.iter().find_map(|(host, kind)| text[from..].starts_with(host).then_some((from + host.len(), *kind)))?;
    let takes = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
    let length = text[start..].iter().take(LONGEST).take_while(|byte| takes(byte)).count();
    let secret = &text[start..start + length];
    let is_secret = length >= 20 && secret.iter().any(u8::is_ascii_digit) && !is_blacked_out(secret);
    is_secret.then_some(Span { start, end: start + length, kind, joined: None })
}
