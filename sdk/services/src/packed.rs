//! The packed form of projected JSON lines: one byte string for all lines, so that a hundred
//! thousand small values cross the boundary as one.
//!
//! All numbers little endian. The string is a sequence of lines; a line is
//!
//! | bytes | what |
//! |---|---|
//! | 8 | offset of the line in the file |
//! | 4 | its length without the line feed |
//! | 1 | [`LineKind`]: 0 object, 1 other JSON or not JSON, 2 empty, 3 the last line, without a line feed |
//! | 4 | bytes of its values |
//!
//! followed by its values, each
//!
//! | bytes | what |
//! |---|---|
//! | 1 | which member of the query |
//! | 4 | position of the array element that it came from, of the outermost array when there are several, so that members with a common beginning can be joined; 0 without `[]` in the member |
//! | 4 | length; `u32::MAX`: left out because it was longer than asked for, no text follows |
//! | … | the value as JSON text, as it stands in the line |

use std::borrow::Cow;
use std::fmt;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A JSON object, as far as its structure was looked at.
    Object,
    /// Anything else that is not empty.
    Other,
    /// Nothing, or white space only.
    Empty,
    /// The end of the file without a line feed: torn, or still being written. May be a whole
    /// object; its values are given when it is.
    Unterminated,
}

/// Writes the packed form.
#[derive(Debug, Default)]
pub struct Packer {
    bytes: Vec<u8>,
    /// Where the bytes of the values of the open line are counted.
    count_at: usize,
}

const OMITTED: u32 = u32::MAX;
const LINE_HEADER: usize = 17;
const VALUE_HEADER: usize = 9;
const COUNT: usize = 4;

impl Packer {
    /// Begins a line; values follow.
    pub fn line(&mut self, offset: u64, length: u32, kind: LineKind) {
        self.close();
        self.bytes.extend_from_slice(&offset.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.push(kind as u8);
        self.count_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; COUNT]);
    }

    /// Adds a value to the open line; `None` for one that is too long. Without an open line
    /// there is nothing to add to.
    pub fn value(&mut self, member: u8, element: u32, text: Option<&[u8]>) {
        if self.count_at == 0 {
            return;
        }
        let length = match text.map(|t| u32::try_from(t.len())) {
            Some(Ok(length)) if length != OMITTED => length,
            _ => OMITTED,
        };
        self.bytes.push(member);
        self.bytes.extend_from_slice(&element.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        if length != OMITTED {
            self.bytes.extend_from_slice(text.unwrap_or_default());
        }
    }

    /// Forgets the values of the open line and says that it is of another kind after all.
    pub fn restate(&mut self, kind: LineKind) {
        if self.count_at > 0 {
            self.bytes.truncate(self.count_at + COUNT);
            self.bytes[self.count_at - 1] = kind as u8;
        }
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no line yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The packed form.
    pub fn finish(mut self) -> Vec<u8> {
        self.close();
        self.bytes
    }

    fn close(&mut self) {
        let values = self.count_at + COUNT;
        if self.count_at > 0 && self.bytes.len() > values {
            // More than a count can tell fails when it is unpacked; a projection is bounded far below.
            let count = u32::try_from(self.bytes.len() - values).unwrap_or(u32::MAX);
            self.bytes[self.count_at..values].copy_from_slice(&count.to_le_bytes());
        }
    }
}

/// Projected lines, checked to be well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows(Vec<u8>);

/// The packed form is not well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not in the packed form; host and driver are of different versions")
    }
}

impl std::error::Error for Malformed {}

/// One line.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Offset in the file.
    pub offset: u64,
    /// Length without the line feed.
    pub length: u32,
    /// What it is.
    pub kind: LineKind,
    values: &'a [u8],
}

/// One value of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Which member of the query.
    pub member: u8,
    /// Position of the array element that it came from, of the outermost `[]` when the member
    /// has several.
    pub element: u32,
    /// JSON text; absent when it was longer than asked for.
    pub json: Option<&'a [u8]>,
}

impl Rows {
    /// Takes the packed form, after checking it.
    pub fn unpack(packed: Vec<u8>) -> Result<Self, Malformed> {
        let mut rest = packed.as_slice();
        while !rest.is_empty() {
            let (row, after) = split_row(rest).ok_or(Malformed)?;
            let mut values = row.values;
            while !values.is_empty() {
                values = split_value(values).ok_or(Malformed)?.1;
            }
            rest = after;
        }
        Ok(Self(packed))
    }

    /// The lines in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (row, after) = split_row(rest)?;
            rest = after;
            Some(row)
        })
    }
}

impl<'a> Row<'a> {
    /// The values of the line, in the order in which they stand in it.
    pub fn values(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let mut rest = self.values;
        std::iter::from_fn(move || {
            let (value, after) = split_value(rest)?;
            rest = after;
            Some(value)
        })
    }
}

impl<'a> Value<'a> {
    /// The text of a JSON string without escapes, borrowed; `None` for anything else. Enough
    /// for ids and type names.
    pub fn plain(&self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// As [`plain`](Self::plain), and whether it is UTF-8 doesn't matter.
    pub fn string(&self) -> Option<&'a [u8]> {
        let inner = self.json?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        memchr::memchr(b'\\', inner).is_none().then_some(inner)
    }

    /// The JSON text with broken UTF-8 replaced; `null` when it was left out.
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.json.unwrap_or(b"null"))
    }

    /// Whether it is JSON `true`.
    pub fn is_true(&self) -> bool {
        self.json == Some(b"true")
    }
}

fn split_row(bytes: &[u8]) -> Option<(Row<'_>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(LINE_HEADER)?;
    let offset = u64::from_le_bytes(header[..8].try_into().ok()?);
    let length = u32::from_le_bytes(header[8..12].try_into().ok()?);
    let kind = match header[12] {
        0 => LineKind::Object,
        1 => LineKind::Other,
        2 => LineKind::Empty,
        3 => LineKind::Unterminated,
        _ => return None,
    };
    let count = u32::from_le_bytes(header[13..17].try_into().ok()?);
    let (values, after) = rest.split_at_checked(count as usize)?;
    Some((Row { offset, length, kind, values }, after))
}

fn split_value(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(VALUE_HEADER)?;
    let element = u32::from_le_bytes(header[1..5].try_into().ok()?);
    let length = u32::from_le_bytes(header[5..9].try_into().ok()?);
    let (json, after) = if length == OMITTED {
        (None, rest)
    } else {
        let (text, after) = rest.split_at_checked(length as usize)?;
        (Some(text), after)
    };
    Some((Value { member: header[0], element, json }, after))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]
    use super::{LineKind, Packer, Rows};
    use proptest::prelude::*;

    type Given = (u64, u32, u8, Vec<(u8, u32, Option<Vec<u8>>)>);

    const KINDS: [LineKind; 4] = [LineKind::Object, LineKind::Other, LineKind::Empty, LineKind::Unterminated];

    fn packed(lines: &[Given]) -> Vec<u8> {
        let mut packer = Packer::default();
        for (offset, length, kind, values) in lines {
            packer.line(*offset, *length, KINDS[*kind as usize]);
            for (member, element, text) in values {
                packer.value(*member, *element, text.as_deref());
            }
        }
        packer.finish()
    }

    fn unpacked(bytes: Vec<u8>) -> Vec<Given> {
        let rows = Rows::unpack(bytes).unwrap();
        let values = |row: super::Row<'_>| {
            row.values().map(|value| (value.member, value.element, value.json.map(<[u8]>::to_vec))).collect()
        };
        rows.iter().map(|row| (row.offset, row.length, row.kind as u8, values(row))).collect()
    }

    fn lines() -> impl Strategy<Value = Vec<Given>> {
        let text = prop::option::of(prop::collection::vec(any::<u8>(), 0..20));
        let values = prop::collection::vec((any::<u8>(), any::<u32>(), text), 0..6);
        prop::collection::vec((any::<u64>(), any::<u32>(), 0..4u8, values), 0..10)
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(lines in lines()) {
            prop_assert_eq!(unpacked(packed(&lines)), lines);
        }

        #[test]
        fn two_packed_strings_are_one(a in lines(), b in lines()) {
            prop_assert_eq!(unpacked([packed(&a), packed(&b)].concat()), [a, b].concat());
        }

        #[test]
        fn a_cut_or_changed_string_is_refused_or_read_but_no_panic(
            lines in lines(), cut in any::<prop::sample::Index>(), change in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut bytes = packed(&lines);
            if let Some(place) = (!bytes.is_empty()).then(|| change.index(bytes.len())) {
                bytes[place] = byte;
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            if let Ok(rows) = Rows::unpack(bytes) {
                prop_assert!(rows.iter().flat_map(|row| row.values().collect::<Vec<_>>()).count() < 100);
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Rows::unpack(bytes).map(|rows| rows.iter().map(|row| row.values().count()).sum::<usize>());
        }
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let bytes = packed(&[(0x0102, 3, 1, vec![(7, 9, Some(b"1".to_vec())), (8, 0, None)])]);
        let line = [2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 19, 0, 0, 0];
        let values = [7, 9, 0, 0, 0, 1, 0, 0, 0, b'1', 8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(bytes, [&line[..], &values].concat());
    }

    #[test]
    fn a_line_holds_any_number_of_values() {
        let values = vec![(0, 0, Some(b"1".to_vec())); 100_000];
        let lines = [(0, 1, 0, values), (2, 0, 2, vec![])];
        assert_eq!(unpacked(packed(&lines)), lines);
    }

    #[test]
    fn a_restated_line_has_no_values() {
        let mut packer = Packer::default();
        packer.line(0, 1, LineKind::Object);
        packer.value(0, 0, Some(b"1"));
        packer.restate(LineKind::Other);
        packer.line(5, 2, LineKind::Object);
        packer.value(1, 0, Some(b"true"));
        let bytes = packer.finish();
        assert_eq!(unpacked(bytes), [(0, 1, 1, vec![]), (5, 2, 0, vec![(1, 0, Some(b"true".to_vec()))])]);
    }

    #[test]
    fn plain_text_is_a_string_without_escapes() {
        let plain = |json: &'static [u8]| super::Value { member: 0, element: 0, json: Some(json) }.plain();
        assert_eq!(plain(b"\"id-1\""), Some("id-1"));
        assert_eq!(plain(b"\"\""), Some(""));
        for none in [&b"\""[..], b"7", b"null", b"\"a\\n\"", b"\"\xff\"", b""] {
            assert_eq!(plain(none), None);
        }
    }
}
