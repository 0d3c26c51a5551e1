//! What stands where a secret was: `[redacted:github-token:3fa2c1]`.
//!
//! The digits are the beginning of a hash under a key that is made for one export and kept
//! nowhere: equal secrets get equal digits, and nobody can try out secrets against them.

use crate::kind::Kind;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const OPENING: &str = "[redacted:";
const DIGITS: usize = 6;

/// Hashes secrets under the key of one export.
#[derive(Clone)]
pub(crate) struct Hasher(Hmac<Sha256>);

/// Hash of a secret, enough of it to tell secrets apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u64);

impl Hasher {
    pub(crate) fn new(salt: [u8; 32]) -> Self {
        // A key of up to a block's length is taken as it is, padded with zeros.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&salt);
        Self(Hmac::new(&block.into()))
    }

    pub(crate) fn hash(&self, secret: &[u8]) -> Fingerprint {
        let mut mac = self.0.clone();
        mac.update(secret);
        let bytes = mac.finalize().into_bytes();
        Fingerprint(bytes.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte)))
    }
}

impl Fingerprint {
    fn digits(self) -> u64 {
        self.0 >> (64 - 4 * DIGITS)
    }
}

/// The placeholder of a secret.
pub(crate) fn write(out: &mut String, kind: Kind, fingerprint: Fingerprint) {
    use std::fmt::Write;
    // Writing to a string can't fail.
    let _always = write!(out, "{OPENING}{}:{:0width$x}]", kind.name(), fingerprint.digits(), width = DIGITS);
}

/// Whether there is a placeholder anywhere in the text.
pub(crate) fn is_in(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, OPENING).any(|at| end(text, at).is_some())
}

/// Whether the name that starts at `at` stands inside a placeholder, as its kind.
pub(crate) fn names_a_kind(text: &[u8], at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with(OPENING.as_bytes())) && end(text, at - OPENING.len()).is_some()
}

/// The end of the placeholder that starts at `at`, if one does.
pub(crate) fn end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(OPENING.as_bytes())?;
    // The longest name of a kind is shorter than this.
    let colon = rest.iter().take(32).position(|byte| *byte == b':')?;
    Kind::from_name(std::str::from_utf8(&rest[..colon]).ok()?)?;
    let (digits, after) = rest[colon + 1..].split_at_checked(DIGITS)?;
    let hexadecimal = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    (hexadecimal && after.first() == Some(&b']')).then_some(at + OPENING.len() + colon + 1 + DIGITS + 1)
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}
