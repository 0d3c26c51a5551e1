//! What the model says to what: rules on the newest text of the person.
//!
//! Programs put more around a prompt than was typed, and ask for titles and the like beside a
//! turn. So a rule is found by a part of the text, and holds for requests that offer tools.

use crate::conversation::{Part, parts};
use serde_json::Value;
use std::time::Duration;

/// What is said when no rule holds.
pub(crate) const TEXT: &str = "Understood, and noted.";

/// An answer to a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// What the prompt holds.
    pub(crate) asked: String,
    /// What is said.
    pub(crate) answer: Answer,
    /// How long the model thinks before.
    pub(crate) delay: Duration,
}

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// A text, and the end of the turn.
    Text(String),
    /// A call of a tool; `after` is said when its result is there.
    Call { id: String, tool: String, input: Value, after: String },
}

/// The answer to a request, and how long it takes.
pub(super) fn answer(rules: &[Rule], body: &Value) -> (Answer, Duration) {
    let default = (Answer::Text(TEXT.to_owned()), Duration::ZERO);
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        return default;
    }
    // Only what came since the model last spoke is to be answered; the newest of it counts, since
    // a prompt that was cancelled stands before the next one.
    let shown = parts(body);
    let newest = shown.iter().rev().take_while(|part| !matches!(part, Part::Assistant(_) | Part::Call { .. }));
    let mut answers = newest.filter_map(|part| match part {
        Part::User(text) => asked(rules, text).map(|rule| (rule.answer.clone(), rule.delay)),
        Part::Result { id, .. } => rules.iter().find_map(|rule| match &rule.answer {
            Answer::Call { id: called, after, .. } if called == id => {
                Some((Answer::Text(after.clone()), Duration::ZERO))
            }
            _ => None,
        }),
        _ => None,
    });
    answers.next().unwrap_or(default)
}

/// The rule for what is asked last in a text.
fn asked<'a>(rules: &'a [Rule], text: &str) -> Option<&'a Rule> {
    let found = rules.iter().filter_map(|rule| Some((text.rfind(&rule.asked)?, rule)));
    found.max_by_key(|(at, _)| *at).map(|(_, rule)| rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules() -> Vec<Rule> {
        let call = Answer::Call { id: "c1".into(), tool: "Write".into(), input: json!({}), after: "Written.".into() };
        let late = Duration::from_secs(3);
        vec![
            Rule { asked: "Write it".into(), answer: call, delay: Duration::ZERO },
            Rule { asked: "Think long".into(), answer: Answer::Text("Thought.".into()), delay: late },
        ]
    }

    fn said(messages: Value) -> (Answer, Duration) {
        answer(&rules(), &json!({"tools": [{"name": "Write"}], "messages": messages}))
    }

    fn text(text: &str) -> (Answer, Duration) {
        (Answer::Text(text.into()), Duration::ZERO)
    }

    #[test]
    fn the_newest_text_of_the_person_chooses_the_rule() {
        assert_eq!(said(json!([{"role": "user", "content": "hello"}])), text(TEXT));
        let (call, _) = said(json!([{"role": "user", "content": "<input>Write it.</input>"}]));
        assert!(matches!(call, Answer::Call { id, .. } if id == "c1"));
        let late = (Answer::Text("Thought.".into()), Duration::from_secs(3));
        let cancelled = json!([{"role": "user", "content": [
            {"type": "text", "text": "Write it"}, {"type": "text", "text": "Think long"},
            {"type": "text", "text": "a reminder"}]}]);
        assert_eq!(said(cancelled), late);
        assert_eq!(said(json!([{"role": "user", "content": "Write it. Think long."}])), late);
        let answered = json!([{"role": "user", "content": "Write it"},
            {"role": "assistant", "content": "No."}, {"role": "user", "content": "hello"}]);
        assert_eq!(said(answered), text(TEXT));
    }

    #[test]
    fn a_result_is_answered_with_what_comes_after_its_call() {
        let of = |id: &str| {
            json!([{"role": "user", "content": "Write it"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Write", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": "ok"},
                    {"type": "text", "text": "a reminder"}]}])
        };
        assert_eq!(said(of("c1")), text("Written."));
        assert_eq!(said(of("c2")), text(TEXT));
    }

    #[test]
    fn a_request_without_tools_is_no_turn() {
        let body = json!({"messages": [{"role": "user", "content": "A title for: Write it"}]});
        assert_eq!(answer(&rules(), &body), text(TEXT));
    }
}
