//! Protobuf messages being written field by field, and read field by field where what is not known
//! has to stay as it is.
//!
//! `proto` declares what is read; what is written has more fields, most of them once.

use prost::encoding::{DecodeContext, WireType, decode_key, encode_key, encode_varint, skip_field};
use sepia_ir::{DriverError, ErrorCode};

/// A message being written.
#[derive(Debug, Default, Clone)]
pub(crate) struct Wire(Vec<u8>);

impl Wire {
    /// The message as bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Bytes, text, or a message: also when it is empty.
    #[must_use]
    pub(crate) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        encode_key(field, WireType::LengthDelimited, &mut self.0);
        encode_varint(value.len() as u64, &mut self.0);
        self.0.extend_from_slice(value);
        self
    }

    /// A text, unless it is empty, as the format has it.
    #[must_use]
    pub(crate) fn text(self, field: u32, value: &str) -> Self {
        if value.is_empty() { self } else { self.bytes(field, value.as_bytes()) }
    }

    /// A message inside this one.
    #[must_use]
    pub(crate) fn message(self, field: u32, value: Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// A number, unless it is 0, as the format has it.
    #[must_use]
    pub(crate) fn number(self, field: u32, value: u64) -> Self {
        if value == 0 { self } else { self.varint(field, value) }
    }

    /// A number also when it is 0.
    #[must_use]
    pub(crate) fn varint(mut self, field: u32, value: u64) -> Self {
        encode_key(field, WireType::Varint, &mut self.0);
        encode_varint(value, &mut self.0);
        self
    }

    /// A floating-point number, also when it is 0.
    #[must_use]
    pub(crate) fn double(mut self, field: u32, value: f64) -> Self {
        encode_key(field, WireType::SixtyFourBit, &mut self.0);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A field as it stands in another message, its key included.
    #[must_use]
    pub(crate) fn whole(mut self, field: &Field<'_>) -> Self {
        self.0.extend_from_slice(field.whole);
        self
    }
}

/// A field of a message, as it stands there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    /// With its key.
    whole: &'a [u8],
    /// Without key and length; of other types than bytes without meaning.
    pub(crate) value: &'a [u8],
}

/// The fields of a message in the order in which they stand.
pub(crate) fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, DriverError> {
    let broken =
        |_| DriverError::new(ErrorCode::Store, "the state of the chat is no protobuf message; it was left as it is");
    let mut fields = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let start = rest;
        let (number, kind) = decode_key(&mut rest).map_err(broken)?;
        let after_key = rest;
        skip_field(kind, number, &mut rest, DecodeContext::default()).map_err(broken)?;
        let whole = &start[..start.len() - rest.len()];
        let mut value = &after_key[..after_key.len() - rest.len()];
        if kind == WireType::LengthDelimited {
            prost::encoding::decode_varint(&mut value).map_err(broken)?;
        }
        fields.push(Field { number, whole, value });
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Wire, fields};

    #[test]
    fn fields_come_back_as_they_stand() {
        let message = Wire::default()
            .text(1, "a")
            .number(2, 0)
            .varint(3, 0)
            .double(4, 1.5)
            .message(300, Wire::default().text(1, "b"))
            .finish();
        let all = fields(&message).unwrap();
        assert_eq!(all.iter().map(|field| field.number).collect::<Vec<_>>(), [1, 3, 4, 300]);
        assert_eq!((all[0].value, all[3].value), (&b"a"[..], &b"\x0a\x01b"[..]));
        let again = all.iter().fold(Wire::default(), |wire, field| wire.whole(field)).finish();
        assert_eq!(again, message);
        for broken in [&b"\x0a\x7fx"[..], b"\x00", b"\xff", b"\x0b"] {
            assert!(fields(broken).is_err());
        }
    }
}
