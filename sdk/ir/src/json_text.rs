//! Free-form JSON that stays text: parsed where somebody looks into it, never parsed and
//! printed again on the way through.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// JSON text of one value. `"null"` stands for "nothing". In serde it is the value itself,
/// not a string.
pub type Json = String;

/// The text of JSON `null`.
pub fn null() -> Json {
    "null".to_owned()
}

/// For `#[serde(with = "json_text")]`: writes the text as the value that it is.
///
/// Fails when the text is not one JSON value.
pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::from_str::<&RawValue>(text)
        .map_err(|e| S::Error::custom(format_args!("a free-form field holds no JSON value ({e})")))?
        .serialize(serializer)
}

/// For `#[serde(with = "json_text")]`: takes any value as text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    Ok(Box::<RawValue>::deserialize(deserializer)?.get().to_owned())
}

/// Replaces every `\uXXXX` escape that is half of a surrogate pair without its partner by
/// the escape of U+FFFD; JSON text with such an escape has no Unicode reading, and strict
/// parsers refuse the whole document. Also says how many were replaced.
pub fn replace_lone_surrogates(json: &[u8]) -> (Cow<'_, [u8]>, usize) {
    let mut out: Option<Vec<u8>> = None;
    let (mut copied, mut replaced, mut at) = (0, 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        let escape = at + found;
        let Some(unit) = escaped_unit(json, escape) else {
            // Any other escape is two bytes, and its second may be a backslash.
            at = (escape + 2).min(json.len());
            continue;
        };
        at = escape + 6;
        let paired = match unit {
            0xD800..=0xDBFF => match escaped_unit(json, at) {
                Some(0xDC00..=0xDFFF) => {
                    at += 6;
                    true
                }
                _ => false,
            },
            0xDC00..=0xDFFF => false,
            _ => true,
        };
        if !paired {
            let text = out.get_or_insert_with(|| Vec::with_capacity(json.len()));
            text.extend_from_slice(&json[copied..escape]);
            text.extend_from_slice(b"\\ufffd");
            copied = escape + 6;
            replaced += 1;
        }
    }
    match out {
        None => (Cow::Borrowed(json), 0),
        Some(mut text) => {
            text.extend_from_slice(&json[copied..]);
            (Cow::Owned(text), replaced)
        }
    }
}

/// The UTF-16 unit of the `\uXXXX` escape that starts at `at`, if one does.
fn escaped_unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") {
        return None;
    }
    escape[2..].iter().try_fold(0u16, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]
    use super::replace_lone_surrogates;

    fn fixed(json: &str) -> (String, usize) {
        let (text, count) = replace_lone_surrogates(json.as_bytes());
        (String::from_utf8(text.into_owned()).expect("still UTF-8"), count)
    }

    #[test]
    fn a_pair_is_left_alone() {
        assert_eq!(fixed(r#""\ud83d\ude00""#), (r#""\ud83d\ude00""#.into(), 0));
    }

    #[test]
    fn each_kind_of_broken_half_becomes_the_replacement_character() {
        assert_eq!(fixed(r#""ok \ud83d end""#), (r#""ok \ufffd end""#.into(), 1));
        assert_eq!(fixed(r#""\udc00""#), (r#""\ufffd""#.into(), 1));
        assert_eq!(fixed(r#""\ud83eade9""#), (r#""\ufffdade9""#.into(), 1));
        assert_eq!(fixed(r#""\uD83D\uD83D\uDE00""#), (r#""\ufffd\uD83D\uDE00""#.into(), 1));
        assert_eq!(fixed(r#""\ud83d\n""#), (r#""\ufffd\n""#.into(), 1));
    }

    #[test]
    fn an_escaped_backslash_starts_no_escape() {
        assert_eq!(fixed(r#""\\ud83d""#), (r#""\\ud83d""#.into(), 0));
        assert_eq!(fixed(r#""\\\ud83d""#), (r#""\\\ufffd""#.into(), 1));
    }

    #[test]
    fn an_escape_cut_by_the_end_is_left_alone() {
        assert_eq!(fixed(r#""\ud8"#), (r#""\ud8"#.into(), 0));
        assert_eq!(fixed(r#""\"#), (r#""\"#.into(), 0));
    }
}
