//! Tools of which a call differs from the common one in names alone, as a table that is read both ways; for
//! [`SessionWrite::common_tools`](crate::SessionWrite::common_tools) and its counterpart.

use sepia_ir::ToolUse;
use serde_json::{Map, Value};

/// Arguments by their names.
pub type Arguments = Map<String, Value>;

/// What an argument has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// Any number.
    Number,
    /// A whole number that is not negative.
    Count,
    /// `true` or `false`.
    Flag,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Count => value.is_u64(),
            Self::Flag => value.is_boolean(),
        }
    }
}

/// An argument: the agent's name, the common one, whether it must be there, and of what kind it is.
pub type Argument = (&'static str, &'static str, bool, Kind);

/// A tool all of whose arguments have a counterpart.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The agent's name.
    pub own: &'static str,
    /// The common one; of several tools with it the first is the one that calls become.
    pub common: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
}

/// Arguments of an agent's call under their common names; none when one is missing, of another kind, or
/// without a counterpart.
pub fn to_common(arguments: Arguments, table: &[Argument]) -> Option<Arguments> {
    renamed(arguments, table.iter().map(|(own, common, needed, kind)| (*own, *common, *needed, *kind)))
}

/// The other way round.
pub fn from_common(arguments: Arguments, table: &[Argument]) -> Option<Arguments> {
    renamed(arguments, table.iter().map(|(own, common, needed, kind)| (*common, *own, *needed, *kind)))
}

fn renamed(mut arguments: Arguments, table: impl Iterator<Item = Argument>) -> Option<Arguments> {
    let mut renamed = Arguments::new();
    for (from, to, needed, kind) in table {
        match arguments.remove(from) {
            Some(value) if kind.fits(&value) => drop(renamed.insert(to.to_owned(), value)),
            None if !needed => {}
            _ => return None,
        }
    }
    arguments.is_empty().then_some(renamed)
}

/// The arguments of a call; none when they are no object.
pub fn arguments(call: &ToolUse) -> Option<Arguments> {
    match serde_json::from_str(&call.arguments).ok()? {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    }
}

/// A call.
pub fn call(name: &str, arguments: Arguments) -> ToolUse {
    ToolUse { name: name.to_owned(), arguments: Value::Object(arguments).to_string() }
}

/// Takes a string out of arguments.
pub fn text(arguments: &mut Arguments, name: &str) -> Option<Value> {
    arguments.remove(name).filter(Value::is_string)
}

/// Takes a list out of arguments.
pub fn list(arguments: &mut Arguments, name: &str) -> Option<Vec<Value>> {
    match arguments.remove(name)? {
        Value::Array(list) => Some(list),
        _ => None,
    }
}

/// Arguments of these names.
pub fn members<const N: usize>(members: [(&str, Value); N]) -> Arguments {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
