//! JSON members taken leniently: a member of an unexpected shape reads as absent instead of
//! failing its record, and strings are borrowed from the line where they hold no escape.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A value kept as the text that it is in the line.
pub type Raw<'a> = Option<&'a RawValue>;

/// A string; anything else reads as absent.
#[derive(Debug, Default)]
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
}

/// `true` or `false`; anything else reads as `false`.
#[derive(Debug, Default, Clone, Copy)]
pub struct Flag(pub bool);

/// A number; anything else reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub struct Number(pub Option<f64>);

/// Parses a record, or a part of one. All parsing should go through here: each way into the parser
/// is compiled for each record type, and a component should be small.
pub fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// As [`parse`], of a small file.
pub fn parse_file<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    parse(std::str::from_utf8(bytes).ok()?).ok()
}

struct Scalar;

/// What a lenient member found.
enum Found<'a> {
    Text(Cow<'a, str>),
    Bool(bool),
    Number(f64),
    Other,
}

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

    #[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^53")]
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Found::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^53")]
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Found::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Found::Number(value))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Found::Other)
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

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(Scalar)? {
            Found::Text(text) => Self(Some(text)),
            _ => Self(None),
        })
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(matches!(deserializer.deserialize_any(Scalar)?, Found::Bool(true))))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(Scalar)? {
            Found::Number(value) => Self(Some(value)),
            _ => Self(None),
        })
    }
}

/// The text of a raw JSON string; absent when it is none.
pub fn text_of(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Str<'_>>(raw?.get()).ok()?.0
}

/// Declares a record of members that are taken by name, the last of a name winning. A value
/// that is no object reads as an empty record with `odd` set.
#[macro_export]
macro_rules! members {
    ($(#[$attribute:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty = $key:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            $($(#[$about])* pub(crate) $field: $kind,)*
            /// The value was no object.
            #[allow(dead_code, reason = "not every record asks")]
            pub(crate) odd: bool,
            /// So that a record that borrows nothing is declared like one that does.
            #[allow(dead_code, reason = "holds nothing")]
            borrows: std::marker::PhantomData<&'a ()>,
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members<'a>(std::marker::PhantomData<&'a ()>);
                impl<'de: 'a, 'a> serde::de::Visitor<'de> for Members<'a> {
                    type Value = $name<'a>;

                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str("any value")
                    }

                    #[inline(never)]
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut out = $name::default();
                        while let Some(key) = map.next_key::<$crate::json::Str<'de>>()? {
                            match key.get() {
                                $(Some($key) => out.$field = map.next_value()?,)*
                                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                            }
                        }
                        Ok(out)
                    }

                    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                        while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }

                    fn visit_unit<E>(self) -> Result<Self::Value, E> {
                        Ok($name { odd: true, ..$name::default() })
                    }
                }
                deserializer.deserialize_any(Members(std::marker::PhantomData))
            }
        }
    };
}
pub use crate::members;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Flag, Number, Str};

    members! {
        Sample {
            name: Str<'a> = "name",
            on: Flag = "on",
            count: Number = "count",
        }
    }

    #[test]
    fn odd_shapes_read_as_absent_and_the_last_of_a_name_wins() {
        let sample: Sample<'_> =
            serde_json::from_str(r#"{"x":[1,{"name":2}],"name":"a","on":1,"name":"b","count":"7"}"#).unwrap();
        assert_eq!((sample.name.get(), sample.on.0, sample.count.0, sample.odd), (Some("b"), false, None, false));
        assert!(serde_json::from_str::<Sample<'_>>("[1,2]").unwrap().odd);
        assert!(serde_json::from_str::<Sample<'_>>("null").unwrap().odd);
        assert!(serde_json::from_str::<Sample<'_>>("{\"name\":").is_err());
    }
}
