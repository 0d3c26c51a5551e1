//! A JSON object with its members in the order and the very text in which they stand.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// An object; of members with one name all are kept.
#[derive(Debug, Default)]
pub(super) struct Ordered<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Ordered<'a> {
    /// The object that a text is.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// A member that is a string.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }
}

/// The text of an object of these members.
pub(super) fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&string(name));
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    text
}

/// The JSON text of a string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for Ordered<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Ordered<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((name, map.next_value::<&RawValue>().map_err(A::Error::custom)?));
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
