//! JSON objects with members changed, everything else as it stands.

use sepia_sdk::json::{Object, parse};
use sepia_sdk::metadata;

/// How an object is written: as the agent writes files, or as it writes columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Indented by two, and so much already.
    File(usize),
    Column,
}

/// The object with these members set to JSON texts, or taken out; new ones come last. None when it is
/// no object.
pub(super) fn changed(object: &str, changes: &[(&str, Option<String>)], form: Form) -> Option<String> {
    if !object.trim_start().starts_with('{') {
        return None;
    }
    let members = parse::<Object<'_>>(object).ok()?;
    let change = |key: &str| changes.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    let mut out: Vec<(String, String)> = Vec::new();
    for (key, value) in &members.0 {
        match change(key) {
            Some(Some(new)) => out.push((key.clone().into_owned(), new.clone())),
            Some(None) => {}
            None => out.push((key.clone().into_owned(), value.get().to_owned())),
        }
    }
    for (key, value) in changes {
        if let Some(value) = value
            && !members.0.iter().any(|(known, _)| known == key)
        {
            out.push(((*key).to_owned(), value.clone()));
        }
    }
    Some(written(&out, form))
}

/// An object of these members.
pub(super) fn written(members: &[(String, String)], form: Form) -> String {
    let (open, between, colon, close) = match form {
        Form::Column => ("{".to_owned(), ",".to_owned(), ":", "}".to_owned()),
        Form::File(indent) => {
            let line = format!("\n{}", " ".repeat(indent + 2));
            (format!("{{{line}"), format!(",{line}"), ": ", format!("\n{}}}", " ".repeat(indent)))
        }
    };
    if members.is_empty() {
        return "{}".to_owned();
    }
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}{colon}{value}", metadata::string(key))).collect();
    format!("{open}{}{close}", members.join(&between))
}

#[cfg(test)]
mod tests {
    use super::{Form, changed};

    #[test]
    fn only_what_is_to_be_changed_changes() {
        let file = "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [1,  2]\n  }\n}";
        let seven = Some("7".to_owned());
        assert_eq!(
            changed(file, &[("a", seven.clone()), ("z", Some("\"x\"".into()))], Form::File(0)).as_deref(),
            Some("{\n  \"a\": 7,\n  \"b\": {\n    \"c\": [1,  2]\n  },\n  \"z\": \"x\"\n}")
        );
        assert_eq!(changed(r#"{"a":1,"b":null}"#, &[("a", None)], Form::Column).as_deref(), Some(r#"{"b":null}"#));
        assert_eq!(changed(r#"{"a":1}"#, &[("a", None)], Form::File(2)).as_deref(), Some("{}"));
        assert_eq!(changed("[1]", &[("a", seven)], Form::Column), None);
    }
}
