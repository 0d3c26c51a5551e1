//! JSON members taken leniently: a member of an unexpected shape reads as absent instead of
//! failing its record, and text is borrowed where it holds no escape.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A value kept as the text that it is.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// A string; anything else reads as absent.
#[derive(Debug, Default, Clone)]
pub(crate) struct Str<'a>(pub(crate) Option<Cow<'a, str>>);

impl Str<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text unless it is absent or empty.
    pub(crate) fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }

    pub(crate) fn take(&mut self) -> Option<String> {
        self.0.take().map(Cow::into_owned)
    }
}

/// `true` or `false`, and whether the member was there at all.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flag {
    pub(crate) present: bool,
    pub(crate) set: bool,
}

/// A finite number; anything else reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Number(pub(crate) Option<f64>);

/// A whole number; anything else reads as absent.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Whole(pub(crate) Option<i64>);

/// A whole number, and whether the member was there at all.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Noted {
    pub(crate) present: bool,
    pub(crate) whole: Option<i64>,
}

/// Text, or the note that there is something else.
#[derive(Debug, Default)]
pub(crate) enum Text<'a> {
    #[default]
    Missing,
    Is(Cow<'a, str>),
    /// Neither text nor `null`.
    Other,
}

/// A list; `odd` when there is something else that is not `null`.
#[derive(Debug)]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    pub(crate) odd: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), odd: false }
    }
}

/// The members of an object in their order, values as text; none when it is no object.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a name, the last when it is there twice.
    pub(crate) fn get(&self, name: &str) -> Raw<'a> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }
}

/// Parses a record, or a part of one. All parsing goes through here: each way into the parser
/// is compiled for each record type, and a component should be small.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// Parses a part that was kept as text; the default where it is absent or odd.
pub(crate) fn part<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| parse(raw.get()).ok()).unwrap_or_default()
}

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
        let set = matches!(scalar(deserializer)?, Found::Bool(true));
        Ok(Self { present: true, set })
    }
}

impl<'de> Deserialize<'de> for Number {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match scalar(deserializer)? {
            Found::Whole(value) => Some(value as f64),
            Found::Real(value) => Some(value).filter(|value| value.is_finite()),
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

impl<'de> Deserialize<'de> for Noted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { present: true, whole: Whole::deserialize(deserializer)?.0 })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(List { items, odd: false })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(List { items: Vec::new(), odd: true })
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(List::default())
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(List { items: Vec::new(), odd: true })
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                self.visit_str("")
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                self.visit_str("")
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                self.visit_str("")
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                self.visit_str("")
            }
        }
        deserializer.deserialize_any(Items(PhantomData))
    }
}

/// Declares a record of members that are taken by name, the last of a name winning. A value
/// that is no object reads as an empty record.
macro_rules! members {
    ($(#[$attribute:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty = $key:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            $($(#[$about])* pub(crate) $field: $kind,)*
            /// Keeps the lifetime where no member borrows.
            pub(crate) borrowed: std::marker::PhantomData<&'a ()>,
        }

        impl<'a> $crate::json::Record<'a> for $name<'a> {
            #[inline]
            fn take<A: serde::de::MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                match name {
                    $($key => self.$field = map.next_value()?,)*
                    _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                }
                Ok(())
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // The input lives as long as the record or longer.
                deserializer.deserialize_any($crate::json::Object::<'de, $name<'de>>::default())
            }
        }
    };
}
pub(crate) use members;

/// A record that takes its members by name.
pub(crate) trait Record<'a>: Default {
    /// Takes the value that comes next, of the member of this name.
    fn take<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Reads a record; what is no object reads as an empty one.
pub(crate) struct Object<'a, T>(PhantomData<(&'a (), T)>);

impl<T> Default for Object<'_, T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Record<'de>> Visitor<'de> for Object<'de, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    #[inline(never)]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut record = T::default();
        while let Some(name) = map.next_key::<Str<'de>>()? {
            record.take(name.get().unwrap_or_default(), &mut map)?;
        }
        Ok(record)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }
}

impl<'a> Record<'a> for Members<'a> {
    fn take<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        self.0.push((Cow::Owned(name.to_owned()), map.next_value()?));
        Ok(())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Object::<'de, Members<'de>>::default())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Flag, List, Number, Str, Text, Whole, parse};

    members! {
        Sample {
            name: Str<'a> = "name",
            on: Flag = "on",
            count: Number = "count",
            whole: Whole = "whole",
            text: Text<'a> = "text",
            list: List<Str<'a>> = "list",
        }
    }

    #[test]
    fn odd_shapes_read_as_absent_and_the_last_of_a_name_wins() {
        let sample: Sample<'_> = parse(
            r#"{"x":[1,{"name":2}],"name":"a","on":1,"name":"b","count":"7","whole":3.0,"text":{"a":[]},"list":7}"#,
        )
        .unwrap();
        assert_eq!((sample.name.get(), sample.on.set, sample.count.0), (Some("b"), false, None));
        assert!(sample.on.present && sample.list.odd);
        assert_eq!(sample.whole.0, Some(3));
        assert!(matches!(sample.text, Text::Other));
        for odd in ["[1,2]", "null", "5", "\"x\"", "true", "-1.5"] {
            assert_eq!(parse::<Sample<'_>>(odd).unwrap().name.get(), None, "{odd}");
        }
        assert!(parse::<Sample<'_>>("{\"name\":").is_err());
    }
}
