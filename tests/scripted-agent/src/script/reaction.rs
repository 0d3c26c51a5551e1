//! Which steps a call gets.

use super::step::Step;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One entry of the list that a method has in `on`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reaction {
    /// For one call; the last of the list for all that follow.
    InTurn(Vec<Step>),
    /// For each prompt with this text in it, before those that are taken in turn.
    Matching(Matching),
}

/// Steps for prompts with a text in them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// The text; upper and lower case differ.
    #[serde(rename = "match")]
    pub text: String,
    /// What is done.
    pub steps: Vec<Step>,
}

impl<'de> Deserialize<'de> for Reaction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not untagged: its errors would not say which field is wrong.
        match Value::deserialize(deserializer)? {
            steps @ Value::Array(_) => serde_json::from_value(steps).map(Self::InTurn).map_err(D::Error::custom),
            matching @ Value::Object(_) => {
                serde_json::from_value(matching).map(Self::Matching).map_err(D::Error::custom)
            }
            other => Err(D::Error::custom(format_args!(
                "a reaction is a list of steps or an object with `match` and `steps`, not {other}"
            ))),
        }
    }
}
