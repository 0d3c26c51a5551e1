//! An object whose names are not known beforehand.

use super::record::{Record, Records};
use super::{Raw, Str};
use serde::de::{Deserialize, Deserializer, MapAccess};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The members of an object in their order, values as text; none when it is no object.
#[derive(Debug, Default)]
pub struct Object<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The value of a name, the last when it is there twice.
    pub fn get(&self, name: &str) -> Raw<'a> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }
}

impl<'a> Record<'a> for Object<'a> {
    fn take<A: MapAccess<'a>>(&mut self, name: Str<'a>, map: &mut A) -> Result<(), A::Error> {
        self.0.push((name.0.unwrap_or_default(), map.next_value()?));
        Ok(())
    }

    fn odd() -> Self {
        Self::default()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Records::<'de, Object<'de>>::default())
    }
}
