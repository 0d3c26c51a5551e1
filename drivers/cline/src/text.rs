//! Bytes of a record as text, repaired where they are none.

use sepia_sdk::json::parse;
use serde::Deserialize;
use std::borrow::Cow;

/// What had to be repaired in a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Repairs {
    /// Bytes that are not UTF-8 became U+FFFD.
    pub(crate) bytes: bool,
    /// Halves of surrogate pairs became U+FFFD; how many.
    pub(crate) surrogates: usize,
}

impl Repairs {
    pub(crate) fn any(self) -> bool {
        self != Self::default()
    }

    /// Code and sentence of the warning.
    pub(crate) fn told(self) -> (&'static str, &'static str) {
        if self.surrogates > 0 {
            ("lone-surrogate", "half a surrogate pair was replaced by U+FFFD")
        } else {
            ("not-utf-8", "bytes that are not UTF-8 were replaced by U+FFFD")
        }
    }
}

/// A record's text, on which what is parsed of it can stay borrowed.
pub(crate) struct Text<'a> {
    text: Cow<'a, str>,
    pub(crate) repairs: Repairs,
}

impl<'a> Text<'a> {
    /// Of the bytes of one JSON value.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let text = sepia_sdk::utf8_or_repaired(bytes);
        let mut repairs = Repairs { bytes: matches!(text, Cow::Owned(_)), surrogates: 0 };
        // The search is cheap beside the parsing, and the escape is rare.
        if has_surrogates(text.as_bytes()) {
            let (cleaned, count) = sepia_ir::json_text::replace_lone_surrogates(text.as_bytes());
            if count > 0 {
                repairs.surrogates = count;
                let cleaned = String::from_utf8_lossy(&cleaned).into_owned();
                return Self { text: Cow::Owned(cleaned), repairs };
            }
        }
        Self { text, repairs }
    }

    pub(crate) fn get(&self) -> &str {
        &self.text
    }

    /// Parses it.
    pub(crate) fn parse<'t, T: Deserialize<'t>>(&'t self) -> serde_json::Result<T> {
        parse(&self.text)
    }
}

/// Whether there are escapes of surrogates: what looks like one and is none may count.
fn has_surrogates(json: &[u8]) -> bool {
    memchr::memmem::find_iter(json, b"\\u").any(|at| matches!(json.get(at + 2), Some(b'd' | b'D')))
}

/// Parses a small file of one JSON value, repaired where that is needed.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}
