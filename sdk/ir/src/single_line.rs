//! JSON that is one line under any idea of what ends a line.

use memchr::{memchr2, memchr2_iter};
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Compact JSON in which U+2028, U+2029 and U+0085 stand as escapes, and in which line ends
/// between the tokens of raw values are blanks: readers that split at more than the line
/// feed still see one line. The value is the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleLine;

/// A serializer that writes with [`SingleLine`].
pub fn serializer<W: Write>(out: W) -> Serializer<W, SingleLine> {
    Serializer::with_formatter(out, SingleLine)
}

impl Formatter for SingleLine {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        escape_separators(out, text.as_bytes())
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        // Inside strings JSON has no raw line ends, so each one found is between tokens.
        let mut rest = text.as_bytes();
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            escape_separators(out, &rest[..at])?;
            out.write_all(b" ")?;
            rest = &rest[at + 1..];
        }
        escape_separators(out, rest)
    }
}

/// Writes UTF-8 text that is inside a JSON string wherever it holds a separator.
fn escape_separators<W: ?Sized + Write>(out: &mut W, text: &[u8]) -> io::Result<()> {
    // Most pieces are short and plain.
    if memchr2(0xE2, 0xC2, text).is_none() {
        return out.write_all(text);
    }
    let mut written = 0;
    for at in memchr2_iter(0xE2, 0xC2, text) {
        let (escape, length): (&[u8], usize) = match text[at..] {
            [0xE2, 0x80, 0xA8, ..] => (b"\\u2028", 3),
            [0xE2, 0x80, 0xA9, ..] => (b"\\u2029", 3),
            [0xC2, 0x85, ..] => (b"\\u0085", 2),
            _ => continue,
        };
        out.write_all(&text[written..at])?;
        out.write_all(escape)?;
        written = at + length;
    }
    out.write_all(&text[written..])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::serializer;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::Value;
    use serde_json::value::RawValue;

    fn written(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        value.serialize(&mut serializer(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn separators_are_escaped_and_their_neighbours_are_not() {
        assert_eq!(
            written(&"a\u{2028}b\u{2029}c\u{85}d\u{2027}\u{e9}\u{2026}"),
            "\"a\\u2028b\\u2029c\\u0085d\u{2027}\u{e9}\u{2026}\""
        );
    }

    #[test]
    fn raw_values_become_one_line_too() {
        let raw = RawValue::from_string("{\r\n \"a\": \"x\u{2028}\\n\",\n\"b\":1}".to_owned()).unwrap();
        assert_eq!(written(&raw), "{   \"a\": \"x\\u2028\\n\", \"b\":1}");
    }

    proptest! {
        #[test]
        fn any_text_survives_on_one_line(text in "[\\PC\\n\\r\u{85}\u{2028}\u{2029}\u{c}\u{b}\u{1c}]{0,60}") {
            let line = written(&text);
            let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{85}', '\u{2028}', '\u{2029}'];
            prop_assert!(!line.contains(ends));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), Value::String(text.clone()));
            let pretty = RawValue::from_string(serde_json::to_string_pretty(&vec![&text, &text]).unwrap()).unwrap();
            let line = written(&pretty);
            prop_assert!(!line.contains(ends));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&line).unwrap(), vec![text.clone(), text]);
        }
    }
}
