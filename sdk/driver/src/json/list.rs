//! A list of a record.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A list; `odd` when there is something else that is not `null`.
#[derive(Debug)]
pub struct List<T> {
    /// Its elements.
    pub items: Vec<T>,
    /// It is no list.
    pub odd: bool,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), odd: false }
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
