//! What the text of a user message is: typed by a person, or put there by the agent.
//!
//! The agent wraps what was typed in `<user_query>`, sometimes after `<timestamp>`, and sends
//! context in messages and tags of their own.

use crate::time;
use std::borrow::Cow;

/// What a text is.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Spoken<'a> {
    /// What a person typed, without its wrapping.
    pub(crate) typed: Option<&'a str>,
    /// Epoch seconds of the stamp on it.
    pub(crate) at: Option<f64>,
    /// The text is more than the usual wrapping of what was typed.
    pub(crate) more: bool,
}

/// Tags of what the agent adds; what stands in them was not typed.
const CONTEXT: [&str; 27] = [
    "user_info",
    "project_layout",
    "rules",
    "always_applied_workspace_rules",
    "agent_requestable_workspace_rules",
    "user_rules",
    "agent_skills",
    "available_skills",
    "cloud_instructions",
    "cloud_task_instructions",
    "open_and_recently_viewed_files",
    "system_reminder",
    "system-reminder",
    "mcp_instructions",
    "mcp_file_system",
    "mcp_file_system_servers",
    "git_status",
    "agent_transcripts",
    "cursor_rules_context",
    "attached_files",
    "system_notification",
    "task_notification",
    "agent_notification",
    "additional_data",
    "current_file",
    "linter_errors",
    "cursor_rules",
];

const QUERY: &str = "user_query";
const STAMP: &str = "timestamp";

/// Tells what a text is.
pub(crate) fn spoken(text: &str) -> Spoken<'_> {
    let at = tagged(text, STAMP).and_then(|(_, stamp, _)| time::of_text(stamp));
    if let Some((before, typed, after)) = tagged(text, QUERY) {
        let more = !before.trim().is_empty() || !after.trim().is_empty();
        return Spoken { typed: Some(unwrapped(typed)), at, more };
    }
    let mut rest = text.trim();
    let mut skipped = false;
    while let Some(after) = CONTEXT.iter().chain([&STAMP]).find_map(|tag| after_tag(rest, tag)) {
        rest = after.trim_start();
        skipped = true;
    }
    match rest {
        "" if skipped => Spoken { typed: None, at, more: true },
        _ => Spoken { typed: Some(if skipped { rest } else { text }), at, more: skipped },
    }
}

/// The text without the line ends that the wrapping adds.
fn unwrapped(typed: &str) -> &str {
    let typed = typed.strip_prefix('\n').unwrap_or(typed);
    typed.strip_suffix('\n').unwrap_or(typed)
}

/// Before a tag, between it and its last end, after it.
fn tagged<'a>(text: &'a str, tag: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let from = text.find(&start)?;
    let inside = from + start.len();
    let until = if tag == QUERY { text[inside..].rfind(&end)? } else { text[inside..].find(&end)? } + inside;
    Some((&text[..from], &text[inside..until], &text[until + end.len()..]))
}

/// What follows a tag that the text begins with. One that never ends takes all.
fn after_tag<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let inside = text.strip_prefix('<')?.strip_prefix(tag)?;
    if !inside.starts_with(['>', ' ', '\n']) {
        return None;
    }
    let end = format!("</{tag}>");
    Some(inside.find(&end).map_or("", |at| &inside[at + end.len()..]))
}

/// One line of at most 200 characters, cut at a character and marked with `…`. White space of
/// any kind becomes one space, control characters go.
pub(crate) fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    let words = text.split(char::is_whitespace).map(|word| word.chars().filter(|c| !c.is_control()));
    let mut line = String::new();
    let mut length = 0;
    for word in words {
        let mut first = true;
        for c in word {
            let gap = first && length > 0;
            if length + usize::from(gap) >= MOST {
                line.push('…');
                return line;
            }
            if gap {
                line.push(' ');
            }
            line.push(c);
            length += 1 + usize::from(gap);
            first = false;
        }
    }
    line
}

/// Texts joined by line feeds, borrowed when there is only one.
pub(crate) fn joined(mut texts: Vec<Cow<'_, str>>) -> Cow<'_, str> {
    match texts.len() {
        0 => Cow::Borrowed(""),
        1 => texts.swap_remove(0),
        _ => Cow::Owned(texts.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Spoken, one_line, spoken};

    #[test]
    fn what_was_typed_is_unwrapped() {
        let plain = |typed| Spoken { typed: Some(typed), at: None, more: false };
        assert_eq!(spoken("<user_query>\nFix it.\n</user_query>"), plain("Fix it."));
        assert_eq!(spoken("<user_query>a </user_query> b</user_query>"), plain("a </user_query> b"));
        assert_eq!(spoken("Fix <b> it."), plain("Fix <b> it."));
        let stamped = "<timestamp>2026-10-12T09:00:00Z</timestamp>\n<user_query>\nFix it.\n</user_query>";
        assert_eq!(spoken(stamped), Spoken { typed: Some("Fix it."), at: Some(1_791_795_600.0), more: true });
        let beside = "<attached_files>\nx\n</attached_files>\n<user_query>\nFix it.\n</user_query>";
        assert_eq!(spoken(beside), Spoken { typed: Some("Fix it."), at: None, more: true });
    }

    #[test]
    fn what_the_agent_adds_was_not_typed() {
        let context = Spoken { typed: None, at: None, more: true };
        assert_eq!(spoken("<user_info>\nOS\n</user_info>"), context);
        assert_eq!(spoken("<user_info>\nOS\n</user_info>\n\n<rules>r</rules>\n"), context);
        assert_eq!(spoken("<user_info> never ends"), context);
        assert_eq!(spoken("<git_status>x</git_status> and go").typed, Some("and go"));
        assert_eq!(spoken("<user_information> is typed").typed, Some("<user_information> is typed"));
        assert_eq!(spoken("").typed, Some(""));
    }

    #[test]
    fn a_title_is_one_line_cut_at_a_character() {
        assert_eq!(one_line("  a\n\n\tb\u{1b}[31m\u{2028}c "), "a b[31m c");
        assert_eq!(one_line("a \u{7} b"), "a b");
        assert_eq!(one_line(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
        assert_eq!(one_line(&"x".repeat(200)), "x".repeat(200));
    }
}
