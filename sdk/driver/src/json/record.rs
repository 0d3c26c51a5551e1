//! How a record of members is read. What is the same for all records is written once, so that
//! little is compiled for each.

use super::Str;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A record that takes its members by name; [`members!`](crate::members) implements it.
pub trait Record<'a>: Default {
    /// Takes the value that comes next, of the member of this name.
    fn take<A: MapAccess<'a>>(&mut self, name: Str<'a>, map: &mut A) -> Result<(), A::Error>;

    /// What a value that is no object reads as.
    fn odd() -> Self;
}

/// Reads a record from a value of any shape.
pub struct Records<'a, T>(PhantomData<(&'a (), T)>);

impl<T> Default for Records<'_, T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Record<'de>> Visitor<'de> for Records<'de, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    #[inline(never)]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut record = T::default();
        while let Some(name) = map.next_key::<Str<'de>>()? {
            record.take(name, &mut map)?;
        }
        Ok(record)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::odd())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        Ok(T::odd())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::odd())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        Ok(T::odd())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        Ok(T::odd())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::odd())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::odd())
    }
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

        impl<'a> $crate::json::record::Record<'a> for $name<'a> {
            #[inline]
            fn take<A: serde::de::MapAccess<'a>>(
                &mut self,
                name: $crate::json::Str<'a>,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match name.get() {
                    $(Some($key) => self.$field = map.next_value()?,)*
                    _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                }
                Ok(())
            }

            fn odd() -> Self {
                Self { odd: true, ..Self::default() }
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // The input lives as long as the record or longer.
                deserializer.deserialize_any($crate::json::record::Records::<'de, $name<'de>>::default())
            }
        }
    };
}
