//! The value of a step that has nothing to say but that it is there.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Written as `true`. `false` is refused: a step that is switched off is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct On;

impl Serialize for On {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl<'de> Deserialize<'de> for On {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if bool::deserialize(deserializer)? { Ok(Self) } else { Err(D::Error::custom("`true` is its only value")) }
    }
}
