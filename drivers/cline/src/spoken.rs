//! What a person said, taken out of what the agent wraps it in for the model.
//!
//! The content of the wrappers is not escaped, so a person may have typed the same tags: the
//! outer tags are the first and the last.

use std::borrow::Cow;

/// A user text as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spoken<'a> {
    pub(crate) text: Cow<'a, str>,
    /// `act` or `plan`, where the wrapper tells.
    pub(crate) mode: Option<&'a str>,
}

impl<'a> Spoken<'a> {
    fn plain(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), mode: None }
    }
}

/// A user text of a session: without `user_input` around it, without notices of a change of
/// mode, and with a slash command as it was typed.
pub(crate) fn in_session(text: &str) -> Spoken<'_> {
    let mut spoken = Spoken::plain(text);
    if let Some((attributes, inner)) = wrapped(text, "user_input") {
        spoken = Spoken { text: inner, mode: attribute(attributes, "mode") };
    }
    if let Some(text) = without(&spoken.text, "mode_notice") {
        spoken.text = Cow::Owned(text.trim().to_owned());
    }
    if let Some(text) = with_commands(&spoken.text) {
        spoken.text = Cow::Owned(text);
    }
    spoken
}

/// A user text of an older task: without what the agent tells of the surroundings, and without
/// the wrappers of what was typed.
pub(crate) fn in_task(text: &str) -> Spoken<'_> {
    let mut spoken = Spoken::plain(text);
    if let Some(text) = without(text, "environment_details") {
        spoken.text = Cow::Owned(text.trim().to_owned());
    }
    for tag in ["task", "feedback", "answer", "user_message"] {
        let inner = wrapped(&spoken.text, tag).map(|(_, inner)| inner.trim().to_owned());
        if let Some(inner) = inner {
            spoken.text = Cow::Owned(inner);
            break;
        }
    }
    spoken
}

/// Whether a user text of an older task is the result of a tool that was called by text, as
/// the agent did before models could call tools.
pub(crate) fn is_tool_report(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default().trim_end();
    first.starts_with('[') && first.ends_with("] Result:")
}

/// Attributes and content of an element that a text begins with; what follows it is kept.
fn wrapped<'a>(text: &'a str, tag: &str) -> Option<(&'a str, Cow<'a, str>)> {
    let rest = text.trim_start().strip_prefix('<')?.strip_prefix(tag)?;
    let opened = rest.find('>')?;
    let (attributes, rest) = (&rest[..opened], &rest[opened + 1..]);
    if !attributes.is_empty() && !attributes.starts_with(char::is_whitespace) {
        return None;
    }
    let end = format!("</{tag}>");
    let Some(closed) = rest.rfind(&end) else { return Some((attributes, Cow::Borrowed(rest))) };
    let (inner, behind) = (&rest[..closed], rest[closed + end.len()..].trim());
    let inner = if behind.is_empty() { Cow::Borrowed(inner) } else { Cow::Owned(format!("{inner}\n{behind}")) };
    Some((attributes, inner))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let rest = &attributes[attributes.find(&format!("{name}=\""))? + name.len() + 2..];
    rest.find('"').map(|end| &rest[..end]).filter(|value| !value.is_empty())
}

/// The text without elements of this name; absent when there are none.
fn without(text: &str, tag: &str) -> Option<String> {
    let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    let mut out: Option<String> = None;
    while let Some(from) = rest.find(&start) {
        let Some(until) = rest[from..].find(&end) else { break };
        out.get_or_insert_default().push_str(&rest[..from]);
        rest = &rest[from + until + end.len()..];
    }
    out.map(|out| out + rest)
}

/// The text with each `user_command` as `/name text`; absent when there are none.
fn with_commands(text: &str) -> Option<String> {
    const START: &str = "<user_command";
    const END: &str = "</user_command>";
    let mut rest = text;
    let mut out: Option<String> = None;
    while let Some(from) = rest.find(START) {
        let behind = &rest[from + START.len()..];
        let Some(opened) = behind.find('>') else { break };
        let (Some(name), Some(until)) = (attribute(&behind[..opened], "slash"), behind[opened..].find(END)) else {
            break;
        };
        let said = behind[opened + 1..opened + until].trim();
        let out = out.get_or_insert_default();
        out.push_str(&rest[..from]);
        out.push('/');
        out.push_str(name.trim_start_matches('/'));
        if !said.is_empty() {
            out.push(' ');
            out.push_str(said);
        }
        rest = &behind[opened + until + END.len()..];
    }
    out.map(|out| out + rest)
}

#[cfg(test)]
mod tests {
    use super::{in_session, in_task, is_tool_report};

    fn shown(text: &str) -> String {
        in_session(text).text.into_owned()
    }

    #[test]
    fn what_was_typed_comes_out_of_its_wrapper() {
        let spoken = in_session("<user_input mode=\"plan\">Plan it.\n\nWell.</user_input>");
        assert_eq!((spoken.text.as_ref(), spoken.mode), ("Plan it.\n\nWell.", Some("plan")));
        assert_eq!(in_session("Count files."), super::Spoken::plain("Count files."));
        assert_eq!(shown("<user_input mode=\"act\">a</user_input>\n<x/>"), "a\n<x/>");
        assert_eq!(shown("<user_input>never closed"), "never closed");
        assert_eq!(shown("<user_inputs>other</user_inputs>"), "<user_inputs>other</user_inputs>");
    }

    #[test]
    fn tags_that_were_typed_stay() {
        assert_eq!(shown("<user_input mode=\"act\">say </user_input> twice</user_input>"), "say </user_input> twice");
        assert_eq!(shown("what is <user_input>?"), "what is <user_input>?");
        assert_eq!(shown("<mode_notice> alone"), "<mode_notice> alone");
        assert_eq!(shown("<user_command slash=\"x\"> open"), "<user_command slash=\"x\"> open");
    }

    #[test]
    fn notices_go_and_commands_are_shown_as_typed() {
        let text = "<user_input mode=\"act\"><mode_notice>You are in act mode.</mode_notice>\nGo on.</user_input>";
        assert_eq!(shown(text), "Go on.");
        assert_eq!(
            shown("<user_input mode=\"act\"><user_command slash=\"fix\">the tests</user_command></user_input>"),
            "/fix the tests"
        );
        assert_eq!(shown("<user_command slash=\"init\"></user_command> now"), "/init now");
    }

    #[test]
    fn the_surroundings_of_a_task_are_not_shown() {
        let task = |text: &str| in_task(text).text.into_owned();
        assert_eq!(task("<task>\nFix it\n</task>"), "Fix it");
        assert_eq!(
            task("<task>\nFix it\n</task>\n\n<environment_details>\n# Files\na\n</environment_details>"),
            "Fix it"
        );
        assert_eq!(task("<environment_details>\nx\n</environment_details>"), "");
        assert_eq!(task("<feedback>\nno, that one\n</feedback>"), "no, that one");
        assert_eq!(task("<environment_details> alone"), "<environment_details> alone");
        assert!(is_tool_report("[read_file for 'a.ts'] Result:\nx"));
        assert!(!is_tool_report("[x] done"));
    }
}
