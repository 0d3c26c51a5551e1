//! What became of a write, and what is looked at afterwards whatever the fault was.

use crate::attempt::{Attempt, New};
use crate::stand::{Stand, strays};
use sepia_tests::Machine;
use serde_json::{Value, json};

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Cut off, and nothing of it is there.
    Old,
    /// Cut off, and all of it is there.
    New,
    /// It was said to be done, and is.
    Done,
    /// It was said to have failed, and nothing of it is there.
    Failed,
}

/// Samples that are damaged, and what of that forbids to cut them back at any time.
const DAMAGED: [(&str, &str); 2] = [
    ("c0ffee00-1111-4222-8333-444455556666", "is missing, so it can't be cut back"),
    ("11111111-1111-4111-8111-000000000009", "is not ended: another program is writing it"),
];

/// Looks at a machine once the fault is over: how it stands, that the same can be done now, and that nothing is left lying about.
pub(crate) fn look(
    machine: &Machine,
    before: &Stand,
    attempt: &Attempt,
    answer: Option<&Result<Value, Value>>,
) -> Outcome {
    let mut client = machine.serve();
    let after = Stand::of(machine, &mut client);
    let outcome = before.compare(&after, attempt, answer);
    let again = client.call(attempt.method, &attempt.params);
    let context = format!("{:?} of {} ({:?}), {outcome:?}", attempt.verb, attempt.agent, attempt.target);
    match (&attempt.new, outcome, &again) {
        (_, _, Ok(_)) => {}
        (New::Gone, Outcome::New | Outcome::Done, Err(error)) => {
            assert_eq!(error["data"]["code"], "not_found", "{context}");
        }
        // What this session, or this agent, refuses at any time.
        (_, _, Err(error)) => {
            let code = error["data"]["code"].as_str().unwrap();
            let said = error["message"].as_str().unwrap();
            let is_damaged =
                |(id, damage): &(&str, &str)| attempt.target.as_deref() == Some(*id) && said.contains(damage);
            assert!(
                code == "conflict" && DAMAGED.iter().any(is_damaged) || ["unsupported", "invalid"].contains(&code),
                "{context}: it can't be done now: {error}"
            );
        }
    }
    // What brings rows back is written down once they are gone: whoever is killed between the two has deleted for good.
    if matches!(attempt.new, New::Gone) && outcome != Outcome::New {
        let trash = client.get("trash.list", &json!({}));
        for entry in trash.as_array().unwrap() {
            assert_eq!(entry["sessionId"], json!(attempt.target), "{context}: {trash:#}");
            client.get("trash.restore", &json!({"entry": entry["entry"]}));
        }
        let back = Stand::of(machine, &mut client);
        assert_eq!(before.compare(&back, attempt, None), Outcome::Old, "{context}: it does not come back as it was");
        assert_eq!(client.get("trash.list", &json!({})), json!([]), "{context}");
    }
    // What was begun in our own home goes with the next write there.
    client.get("projects.create", &json!({"name": "written last"}));
    drop(client.finish());
    assert_eq!(strays(&machine.place("")), [""; 0].map(std::path::PathBuf::from), "{context}");
    outcome
}
