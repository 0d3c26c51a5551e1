//! Whether the arguments of a call say what those of another say.
//!
//! Agents name the same tool, and what it is called with, in their own ways: so values are
//! compared, not names. A path may have become absolute, and a command may stand in a list.

use serde_json::Value;

/// How two calls compare.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// All values are there.
    Whole,
    /// What is there is of the other; these values are not.
    Without(Vec<String>),
    /// Another call.
    Other,
}

/// Compares the call that is wanted with one that was met.
pub(super) fn likeness(wanted: &Value, met: &Value) -> Likeness {
    let (wanted, met) = (values(wanted), values(met));
    if wanted.is_empty() {
        return if met.is_empty() { Likeness::Whole } else { Likeness::Other };
    }
    let missing: Vec<String> =
        wanted.iter().filter(|value| !met.iter().any(|other| other.contains(value.as_str()))).cloned().collect();
    if missing.is_empty() {
        return Likeness::Whole;
    }
    let is_of_wanted = |value: &String| wanted.iter().any(|other| other.contains(value) || value.contains(other));
    let shares = missing.len() < wanted.len();
    if shares && met.iter().all(is_of_wanted) { Likeness::Without(missing) } else { Likeness::Other }
}

/// Strings and numbers at any depth. Flags are left out: each agent has its own, and their
/// defaults go without saying.
fn values(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
            Value::Number(number) => found.push(number.to_string()),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => open.extend(members.values().rev()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_values_under_other_names_are_the_same_call() {
        let wanted = json!({"command": "ls -l", "timeout": 5});
        assert_eq!(likeness(&wanted, &json!({"commands": ["ls -l"], "limits": {"seconds": 5}})), Likeness::Whole);
        let relative = json!({"path": "src/price.py"});
        assert_eq!(likeness(&relative, &json!({"file_path": "/srv/shop/src/price.py"})), Likeness::Whole);
        assert_eq!(likeness(&json!({}), &json!({})), Likeness::Whole);
    }

    #[test]
    fn a_value_that_went_missing_is_named() {
        let wanted = json!({"command": "ls -l", "description": "List files"});
        let met = json!({"commands": ["ls -l"]});
        assert_eq!(likeness(&wanted, &met), Likeness::Without(vec!["List files".into()]));
    }

    #[test]
    fn another_call_is_another() {
        assert_eq!(likeness(&json!({"command": "ls"}), &json!({"command": "rm"})), Likeness::Other);
        assert_eq!(likeness(&json!({}), &json!({"command": "rm"})), Likeness::Other);
        assert_eq!(likeness(&json!({"a": "x1", "b": "y2"}), &json!({"a": "x1", "b": "z3"})), Likeness::Other);
    }
}
