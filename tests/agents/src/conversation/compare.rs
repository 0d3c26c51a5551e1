//! Holds what a model has to be shown against what it was shown.
//!
//! Everything wanted has to be there, in its order; more may stand between, since programs add
//! reminders of their own. Texts are compared by lines, as programs join and split blocks;
//! calls by their values and results by the call that they answer, as ids and names are each
//! agent's own.

use super::arguments::{Likeness, likeness};
use super::{Left, Part, Wanted, lines, result_text, short};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Parts that the model was shown.
    pub(crate) carried: usize,
    /// What is not there, and was said to be lost.
    pub(crate) declared: Vec<String>,
    /// Values that a call has no place for under its new name.
    pub(crate) left_out: Vec<String>,
    /// What is missing, out of order, or too much; empty when all is well.
    pub(crate) faults: Vec<String>,
}

/// A part of what was shown, with texts in lines.
enum Shown<'a> {
    User(&'a str),
    Assistant(&'a str),
    Call { id: &'a str, name: &'a str, arguments: &'a Value },
    Result { id: &'a str, text: &'a str },
    Media(&'a str),
}

/// Compares. `lost` are the nodes of which it was said that something can't be shown: that
/// accounts for a picture or a document, and for a node that is missing as a whole.
pub(crate) fn compare(wanted: &[Wanted], left: &[Left], shown: &[Part], lost: &HashSet<i64>) -> Verdict {
    let shown: Vec<Shown<'_>> = shown.iter().flat_map(in_lines).collect();
    let mut comparison = Comparison { shown: &shown, next: 0, calls: HashMap::new(), verdict: Verdict::default() };
    let mut missing = Vec::new();
    let mut nodes_shown = HashSet::new();
    for wanted in wanted {
        let found = if wanted.is_orphan { comparison.anywhere(&wanted.part) } else { comparison.find(&wanted.part) };
        match found {
            Ok(()) => _ = nodes_shown.insert(wanted.node),
            Err(fault) => missing.push((wanted, format!("node {}: {fault}", wanted.node))),
        }
    }
    comparison.verdict.carried = wanted.len() - missing.len();
    for (wanted, fault) in missing {
        let is_medium = matches!(wanted.part, Part::Media(_));
        let is_declared = lost.contains(&wanted.node) && (is_medium || !nodes_shown.contains(&wanted.node));
        let verdict = &mut comparison.verdict;
        let told = if is_declared { &mut verdict.declared } else { &mut verdict.faults };
        told.push(fault);
    }
    let mut verdict = comparison.verdict;
    let said: HashSet<&str> = shown
        .iter()
        .filter_map(|part| match part {
            Shown::User(line) | Shown::Assistant(line) => Some(*line),
            _ => None,
        })
        .collect();
    // Single lines, such as the tags of a reminder, are said in many places.
    let too_much = left.iter().filter(|Left(lines)| lines.iter().all(|line| said.contains(line.as_str())));
    let told = |Left(lines): &Left| format!("of a branch that was left: {}", short(&lines.join(" ")));
    verdict.faults.extend(too_much.map(told));
    verdict
}

fn in_lines(part: &Part) -> Vec<Shown<'_>> {
    match part {
        Part::User(text) => lines(text).map(Shown::User).collect(),
        Part::Assistant(text) => lines(text).map(Shown::Assistant).collect(),
        Part::Call { id, name, arguments } => vec![Shown::Call { id, name, arguments }],
        Part::Result { id, text } => vec![Shown::Result { id, text }],
        Part::Media(data) => vec![Shown::Media(data)],
    }
}

struct Comparison<'a> {
    shown: &'a [Shown<'a>],
    /// What was shown before this is accounted for.
    next: usize,
    /// Where a call of the source was found, and under which id it was shown.
    calls: HashMap<String, (usize, &'a str)>,
    verdict: Verdict,
}

impl<'a> Comparison<'a> {
    /// Finds the part at its place.
    fn find(&mut self, part: &Part) -> Result<(), String> {
        match part {
            // A file that somebody showed may stand there as a plain document.
            Part::User(text) if self.is_document(text) => Ok(()),
            Part::User(text) => {
                self.text("user", text, |shown, line| matches!(shown, Shown::User(other) if *other == line))
            }
            Part::Assistant(text) => {
                self.text("assistant", text, |shown, line| matches!(shown, Shown::Assistant(other) if *other == line))
            }
            Part::Call { id, name, arguments } => self.call(id, name, arguments),
            Part::Result { id, text } => self.result(id, text),
            Part::Media(data) => {
                self.place(|| medium(data), |shown| matches!(shown, Shown::Media(other) if other == data))
            }
        }
    }

    fn text(&mut self, of: &str, text: &str, is_it: impl Fn(&Shown<'_>, &str) -> bool) -> Result<(), String> {
        for line in lines(text) {
            self.place(|| format!("{of} text {}", short(line)), |shown| is_it(shown, line))?;
        }
        Ok(())
    }

    /// Whether a document with this text comes next, as a whole.
    fn is_document(&mut self, text: &str) -> bool {
        let is_it = |shown: &Shown<'_>| matches!(shown, Shown::Media(data) if data.trim() == text.trim());
        let at = self.shown[self.next..].iter().position(is_it);
        if let Some(at) = at {
            self.next += at + 1;
        }
        at.is_some()
    }

    /// Goes on behind the next part that is it.
    fn place(&mut self, what: impl Fn() -> String, is_it: impl Fn(&Shown<'_>) -> bool) -> Result<(), String> {
        let (before, after) = self.shown.split_at(self.next);
        if let Some(at) = after.iter().position(&is_it) {
            self.next += at + 1;
            return Ok(());
        }
        Err(fault(before.iter().any(is_it), &what()))
    }

    fn call(&mut self, id: &str, name: &str, arguments: &Value) -> Result<(), String> {
        let what = || format!("call of {name} with {}", short(&arguments.to_string()));
        for (at, shown) in self.shown.iter().enumerate().skip(self.next) {
            let Shown::Call { id: shown_id, name: shown_name, arguments: shown_arguments } = shown else { continue };
            let missing = match likeness(arguments, shown_arguments) {
                Likeness::Whole => Vec::new(),
                // Under its own name a tool takes all that it took.
                Likeness::Without(missing) if *shown_name != name => missing,
                Likeness::Without(_) | Likeness::Other => continue,
            };
            self.next = at + 1;
            self.calls.insert(id.to_owned(), (at, shown_id));
            let left_out = missing.iter().map(|value| format!("{name} as {shown_name}: {}", short(value)));
            self.verdict.left_out.extend(left_out);
            return Ok(());
        }
        let behind = self.shown.iter().take(self.next).any(|shown| {
            matches!(shown, Shown::Call { id: shown_id, arguments: shown_arguments, .. }
                if likeness(arguments, shown_arguments) == Likeness::Whole
                    && !self.calls.values().any(|(_, taken)| taken == shown_id))
        });
        Err(fault(behind, &what()))
    }

    /// A result stands where its call is answered; several of one message in any order.
    fn result(&mut self, id: &str, text: &str) -> Result<(), String> {
        let Some(&(call, shown_id)) = self.calls.get(id) else {
            return Err(format!("missing: the call of the result {}", short(text)));
        };
        let is_it = |shown: &Shown<'a>| matches!(shown, Shown::Result { id, .. } if *id == shown_id);
        let Some(at) = self.shown.iter().position(is_it) else {
            return Err(format!("missing: result {}", short(text)));
        };
        if at < call {
            return Err(format!("out of order: result {} stands before its call", short(text)));
        }
        self.next = self.next.max(at + 1);
        match self.shown.get(at) {
            Some(Shown::Result { text: shown, .. }) if !result_text::holds(shown, text) => {
                Err(format!("result differs: {} became {}", short(text), short(shown)))
            }
            _ => Ok(()),
        }
    }

    /// Finds what the part says, wherever and however it is said.
    fn anywhere(&mut self, part: &Part) -> Result<(), String> {
        let said = |needle: &str| {
            self.shown.iter().any(|shown| match shown {
                Shown::User(text) | Shown::Assistant(text) | Shown::Result { text, .. } => text.contains(needle),
                Shown::Call { arguments, .. } => arguments.to_string().contains(&quoted(needle)),
                Shown::Media(data) => *data == needle,
            })
        };
        match part {
            Part::Call { name, arguments, .. } => {
                let as_call = self.shown.iter().any(|shown| {
                    matches!(shown, Shown::Call { arguments: other, .. } if likeness(arguments, other) != Likeness::Other)
                });
                let as_text = || strings(arguments).iter().all(|text| lines(text).all(said));
                if as_call || as_text() {
                    return Ok(());
                }
                Err(format!("missing: open call of {name} with {}", short(&arguments.to_string())))
            }
            Part::User(text) | Part::Assistant(text) | Part::Result { text, .. } => {
                match lines(text).find(|line| !said(line)) {
                    None => Ok(()),
                    Some(line) => Err(format!("missing: {}", short(line))),
                }
            }
            Part::Media(data) if said(data) => Ok(()),
            Part::Media(data) => Err(fault(false, &medium(data))),
        }
    }
}

/// What is wrong with a part that is not found at its place.
fn fault(is_before: bool, what: &str) -> String {
    let kind = if is_before { "out of order" } else { "missing" };
    format!("{kind}: {what}")
}

fn medium(data: &str) -> String {
    format!("a picture or document of {} characters", data.len())
}

/// A text as it stands inside JSON.
fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use serde_json::json;

    fn user(text: &str) -> Part {
        Part::User(text.into())
    }

    fn assistant(text: &str) -> Part {
        Part::Assistant(text.into())
    }

    fn call(id: &str, name: &str, arguments: Value) -> Part {
        Part::Call { id: id.into(), name: name.into(), arguments }
    }

    fn result(id: &str, text: &str) -> Part {
        Part::Result { id: id.into(), text: text.into() }
    }

    /// A whole conversation, with two calls at once.
    fn conversation() -> Vec<Part> {
        vec![
            user("What is here?\nLook well."),
            assistant("I look."),
            call("t1", "run", json!({"command": "ls"})),
            call("t2", "run", json!({"command": "pwd"})),
            result("t1", "a.txt"),
            result("t2", "/srv/shop"),
            assistant("One file."),
        ]
    }

    fn want(parts: Vec<Part>) -> Vec<Wanted> {
        (1..).zip(parts).map(|(node, part)| Wanted { node, part, is_orphan: false }).collect()
    }

    fn faults(shown: &[Part]) -> Vec<String> {
        compare(&want(conversation()), &[], shown, &HashSet::new()).faults
    }

    #[test]
    fn what_is_there_under_other_ids_and_names_is_there() {
        let shown = [
            user("<reminder>be good</reminder>"),
            user("What is here?"),
            user("Look well."),
            assistant("I look."),
            call("x9", "shell", json!({"commands": ["ls"]})),
            call("x8", "shell", json!({"commands": ["pwd"]})),
            result("x8", &json!([{"result": "/srv/shop\n"}]).to_string()),
            result("x9", "a.txt"),
            assistant("One file."),
            user("Go on."),
        ];
        let verdict = compare(&want(conversation()), &[], &shown, &HashSet::new());
        assert_eq!(verdict, Verdict { carried: 7, ..Verdict::default() });
    }

    #[test]
    fn each_part_that_is_taken_away_is_named() {
        let expected = [
            vec!["node 1: missing: user text `What is here?`"],
            vec!["node 2: missing: assistant text `I look.`"],
            vec![
                "node 3: missing: call of run with `{\"command\":\"ls\"}`",
                "node 5: missing: the call of the result `a.txt`",
            ],
            vec![
                "node 4: missing: call of run with `{\"command\":\"pwd\"}`",
                "node 6: missing: the call of the result `/srv/shop`",
            ],
            vec!["node 5: missing: result `a.txt`"],
            vec!["node 6: missing: result `/srv/shop`"],
            vec!["node 7: missing: assistant text `One file.`"],
        ];
        for (at, expected) in expected.into_iter().enumerate() {
            let mut shown = conversation();
            shown.remove(at);
            assert_eq!(faults(&shown), expected);
        }
    }

    #[test]
    fn parts_that_changed_places_are_out_of_order() {
        let mut shown = conversation();
        shown.swap(2, 3);
        assert_eq!(faults(&shown)[0], "node 4: out of order: call of run with `{\"command\":\"pwd\"}`");
        let mut shown = conversation();
        let last = shown.pop().unwrap();
        shown.insert(0, last);
        assert_eq!(faults(&shown), ["node 7: out of order: assistant text `One file.`"]);
        let mut shown = conversation();
        let early = shown.remove(4);
        shown.insert(1, early);
        assert_eq!(faults(&shown), ["node 5: out of order: result `a.txt` stands before its call"]);
    }

    #[test]
    fn results_that_changed_calls_differ() {
        let mut shown = conversation();
        shown[4] = result("t2", "a.txt");
        shown[5] = result("t1", "/srv/shop");
        let expected = [
            "node 5: result differs: `a.txt` became `/srv/shop`",
            "node 6: result differs: `/srv/shop` became `a.txt`",
        ];
        assert_eq!(faults(&shown), expected);
    }

    #[test]
    fn a_text_that_the_other_said_is_missing() {
        let mut shown = conversation();
        shown[6] = user("One file.");
        assert_eq!(faults(&shown), ["node 7: missing: assistant text `One file.`"]);
    }

    #[test]
    fn a_value_without_a_place_is_told_only_under_another_name() {
        let wanted = want(vec![call("t1", "Bash", json!({"command": "ls", "description": "List files"}))]);
        let shown = [call("t1", "run_commands", json!({"commands": ["ls"]}))];
        let verdict = compare(&wanted, &[], &shown, &HashSet::new());
        assert_eq!(verdict.left_out, ["Bash as run_commands: `List files`"]);
        assert!(verdict.faults.is_empty());
        let shown = [call("t1", "Bash", json!({"command": "ls"}))];
        assert_eq!(compare(&wanted, &[], &shown, &HashSet::new()).faults.len(), 1);
    }

    #[test]
    fn what_was_declared_lost_is_no_fault_and_is_told() {
        let mut shown = conversation();
        shown.remove(1);
        let verdict = compare(&want(conversation()), &[], &shown, &HashSet::from([2]));
        assert_eq!(verdict.declared, ["node 2: missing: assistant text `I look.`"]);
        assert_eq!((verdict.carried, verdict.faults.len()), (6, 0));
        // Of a node that is there otherwise, only what no text can say may be lost.
        let mut parts = conversation();
        parts.insert(1, Part::Media("iVBO".into()));
        let mut wanted = want(parts);
        wanted[1].node = 1;
        let verdict = compare(&wanted, &[], &conversation(), &HashSet::from([1]));
        assert_eq!(verdict.declared, ["node 1: missing: a picture or document of 4 characters"]);
        wanted[1].part = assistant("Also this.");
        let verdict = compare(&wanted, &[], &conversation(), &HashSet::from([1]));
        assert_eq!(verdict.faults, ["node 1: missing: assistant text `Also this.`"]);
    }

    #[test]
    fn a_call_without_a_result_may_come_as_text() {
        let orphan = Wanted { node: 1, part: call("t1", "run", json!({"command": "ls -l"})), is_orphan: true };
        let wanted = [orphan];
        let faults = |shown: Part| compare(&wanted, &[], &[shown], &HashSet::new()).faults;
        assert!(faults(assistant("(called run with ls -l, which was interrupted)")).is_empty());
        assert!(faults(call("x", "shell", json!({"commands": ["ls -l"]}))).is_empty());
        assert_eq!(faults(assistant("nothing")), ["node 1: missing: open call of run with `{\"command\":\"ls -l\"}`"]);
    }

    #[test]
    fn a_branch_that_was_left_must_not_be_shown() {
        let mut shown = conversation();
        shown.push(assistant("Another way."));
        let left = [Left(vec!["Another way.".into()]), Left(vec!["Another way.".into(), "To go.".into()])];
        let verdict = compare(&want(conversation()), &left, &shown, &HashSet::new());
        assert_eq!(verdict.faults, ["of a branch that was left: `Another way.`"]);
    }
}
