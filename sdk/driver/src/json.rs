//! JSON members taken leniently: a member of an unexpected shape reads as absent instead of
//! failing its record, and text is borrowed from the record where it holds no escape.
//!
//! [`members!`] declares the records; see [`record`] for how one is read.

mod content;
mod list;
mod object;
pub mod record;

pub use crate::members;
pub use content::Content;
pub use list::List;
pub use object::Object;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A value kept as the text that it is in the record.
pub type Raw<'a> = Option<&'a RawValue>;

/// A string; anything else reads as absent.
#[derive(Debug, Default, Clone)]
pub struct Str<'a>(pub Option<Cow<'a, str>>);

impl<'a> Str<'a> {
    /// The text, if it is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text unless it is absent or empty.
    pub fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }

    /// Whether it is this text.
    pub fn is(&self, text: &str) -> bool {
        self.get() == Some(text)
    }

    /// The text, leaving none.
    pub fn take(&mut self) -> Option<Cow<'a, str>> {
        self.0.take()
    }

    /// The text as one's own, leaving none.
    pub fn take_owned(&mut self) -> Option<String> {
        self.0.take().map(Cow::into_owned)
    }
}

/// Text, or the note that there is something else.
#[derive(Debug, Default)]
pub enum Text<'a> {
    /// Absent, or `null`.
    #[default]
    Missing,
    /// Text.
    Is(Cow<'a, str>),
    /// Neither text nor `null`.
    Other,
}

/// `true` or `false`; anything else reads as `false`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Flag(pub bool);

/// A number; anything else reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub struct Number(pub Option<f64>);

/// A whole number, also when it is written with a fraction of zero; anything else reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub struct Whole(pub Option<i64>);

/// A member, and whether it was there at all, of whatever shape.
#[derive(Debug, Default, Clone, Copy)]
pub struct Noted<T> {
    /// There is a member of that name.
    pub present: bool,
    /// What it reads as.
    pub value: T,
}

/// Parses a record, or a part of one. All parsing should go through here: each way into the parser
/// is compiled for each record type, and a component should be small.
pub fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// As [`parse`], of a small file.
pub fn parse_file<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    parse(std::str::from_utf8(bytes).ok()?).ok()
}

/// Parses a part that was kept as text; the default where it is absent or odd.
pub fn part<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| parse(raw.get()).ok()).unwrap_or_default()
}

/// The text of a raw JSON string; absent when it is none.
pub fn text_of(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    parse::<Str<'_>>(raw?.get()).ok()?.0
}

/// What a lenient member found.
enum Found<'a> {
    Null,
    Text(Cow<'a, str>),
    Bool(bool),
    Whole(i64),
    Real(f64),
    Other,
}

struct Scalar;

impl<'de> Visitor<'de> for Scalar {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Found::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Found::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Found::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Found::Whole(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "a number that large is an estimate anyway")]
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Found::Real(value as f64), Found::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Found::Real(value))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Found::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Other)
    }
}

/// Takes one value of any shape. Not inlined, so that it is compiled once.
#[inline(never)]
fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Found<'de>, D::Error> {
    deserializer.deserialize_any(Scalar)
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match scalar(deserializer)? {
            Found::Text(text) => Self(Some(text)),
            _ => Self(None),
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match scalar(deserializer)? {
            Found::Text(text) => Self::Is(text),
            Found::Null => Self::Missing,
            _ => Self::Other,
        })
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(matches!(scalar(deserializer)?, Found::Bool(true))))
    }
}

impl<'de> Deserialize<'de> for Number {
    #[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^53")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match scalar(deserializer)? {
            Found::Whole(value) => Some(value as f64),
            Found::Real(value) => Some(value),
            _ => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Whole {
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match scalar(deserializer)? {
            Found::Whole(value) => Some(value),
            Found::Real(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
            _ => None,
        }))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Noted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { present: true, value: T::deserialize(deserializer)? })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Flag, List, Noted, Number, Object, Str, Text, Whole, members, parse};

    members! {
        Sample {
            name: Str<'a> = "name",
            on: Noted<Flag> = "on",
            count: Number = "count",
            whole: Whole = "whole",
            text: Text<'a> = "text",
            list: List<Str<'a>> = "list",
            rest: Object<'a> = "rest",
        }
    }

    #[test]
    fn odd_shapes_read_as_absent_and_the_last_of_a_name_wins() {
        let sample: Sample<'_> = parse(
            r#"{"x":[1,{"name":2}],"name":"a","on":1,"name":"b","count":"7","whole":3.0,"text":{"a":[]},"list":7}"#,
        )
        .unwrap();
        assert_eq!((sample.name.get(), sample.on.value.0, sample.count.0, sample.odd), (Some("b"), false, None, false));
        assert!(sample.on.present && sample.list.odd);
        assert_eq!(sample.whole.0, Some(3));
        assert!(matches!(sample.text, Text::Other));
        for odd in ["[1,2]", "null", "5", "\"x\"", "true", "-1.5"] {
            let sample: Sample<'_> = parse(odd).unwrap();
            assert!(sample.odd && sample.name.get().is_none(), "{odd}");
        }
        assert!(parse::<Sample<'_>>("{\"name\":").is_err());
    }

    #[test]
    fn members_of_any_name_keep_their_order_and_their_text() {
        let sample: Sample<'_> = parse(r#"{"rest":{"b":[1, 2],"a":null,"\u0062":7}}"#).unwrap();
        let names: Vec<&str> = sample.rest.0.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["b", "a", "b"]);
        assert_eq!(sample.rest.get("b").map(serde_json::value::RawValue::get), Some("7"));
        assert!(sample.rest.get("c").is_none());
        assert!(parse::<Object<'_>>("[1]").unwrap().0.is_empty());
    }
}
