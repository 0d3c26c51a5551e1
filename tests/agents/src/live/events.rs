//! What `sepia` tells of a turn, and what it stores of it.

use super::script::Turn;
use crate::Failed;
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs begin and end once, with this reason, and nothing is outside; the text of the model is
/// all there.
pub(super) fn is_whole_turn(events: &[Value], turn: &Turn) -> Result<(), Failed> {
    is_one_run(events, "end_turn")?;
    let text: String = of_type(events, "textMessageContent").filter_map(|event| event["delta"].as_str()).collect();
    if text != turn.said {
        return Err(format!("`{}` was said by the model, and `{text}` was told: {}", turn.said, line(events)).into());
    }
    Ok(())
}

/// One run from the first event to the last, that ends with this reason. What an agent tells of
/// itself, like its commands, comes when it likes.
pub(super) fn is_one_run(events: &[Value], stop: &str) -> Result<(), Failed> {
    let mut of_turn = events.iter().filter(|event| event["type"] != "custom");
    let started = of_turn.next().is_some_and(|event| event["type"] == "runStarted");
    let ended = of_turn.next_back().is_some_and(|event| event["type"] == "runFinished" && event["stopReason"] == stop);
    let count = |kind| of_type(events, kind).count();
    let runs = (count("runStarted"), count("runFinished"));
    if started && ended && runs == (1, 1) {
        return Ok(());
    }
    Err(format!("these events are not one run that ends with {stop}: {}", line(events)).into())
}

/// How each call of a tool ended: it began, was told once with this status.
pub(super) fn tool_ended(events: &[Value], call: &str, status: &str) -> Result<(), Failed> {
    let of_call = |kind| of_type(events, kind).filter(|event| event["toolCallId"] == call).collect::<Vec<_>>();
    let (starts, ends) = (of_call("toolCallStart"), of_call("toolCallEnd"));
    match (starts.as_slice(), ends.as_slice()) {
        ([_], [end]) if end["status"] == status => Ok(()),
        _ => Err(format!("the call {call} did not start once and end once as {status}: {}", line(events)).into()),
    }
}

/// What is stored has numbers without a hole, and every turn of it one beginning and one end;
/// how many turns there are.
pub(super) fn are_stored(log: &Value) -> Result<usize, Failed> {
    let facts = log["events"].as_array().ok_or_else(|| format!("there are no events in {log}"))?;
    for (wanted, fact) in (1_u64..).zip(facts) {
        if fact["sequence"] != wanted {
            return Err(format!("fact {wanted} is not in its place: {fact}").into());
        }
    }
    if log["last"] != facts.len() || log["first"] != 1 {
        return Err(format!("{} facts are stored, from {} to {}", facts.len(), log["first"], log["last"]).into());
    }
    let mut runs: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for fact in facts {
        let Some(turn) = fact["turnId"].as_str() else { continue };
        let (started, finished) = runs.entry(turn).or_default();
        *started += usize::from(fact["type"] == "runStarted");
        *finished += usize::from(fact["type"] == "runFinished");
    }
    match runs.iter().find(|(_, counts)| **counts != (1, 1)) {
        None => Ok(runs.len()),
        Some((turn, (started, finished))) => {
            Err(format!("the turn {turn} started {started} times and finished {finished} times").into())
        }
    }
}

/// Events as they came, for a report; what an agent tells of itself may be very long.
pub(super) fn line(events: &[Value]) -> String {
    let told = events.iter().map(|event| match event["name"].as_str() {
        Some(name) => name.to_owned(),
        None => event.to_string(),
    });
    told.collect::<Vec<_>>().join(", ")
}

fn of_type<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use serde_json::json;

    const TURN: Turn = Turn { prompt: "go", said: "one two" };

    fn run(between: &[Value]) -> Vec<Value> {
        let mut events = vec![json!({"type": "runStarted"})];
        events.extend_from_slice(between);
        events.push(json!({"type": "runFinished", "stopReason": "end_turn"}));
        events
    }

    #[test]
    fn a_turn_is_whole_with_all_of_its_text_in_one_run() {
        let text = |delta: &str| json!({"type": "textMessageContent", "delta": delta});
        is_whole_turn(&run(&[text("one "), text("two")]), &TURN).unwrap();
        assert!(is_whole_turn(&run(&[text("one ")]), &TURN).is_err());
        assert!(is_one_run(&run(&[json!({"type": "runStarted"})]), "end_turn").is_err());
        assert!(is_one_run(&run(&[]), "cancelled").is_err());
        assert!(is_one_run(&run(&[])[1..], "end_turn").is_err());
        let mut about = vec![json!({"type": "custom", "name": "acp:available_commands_update"})];
        about.extend(run(&[]));
        is_one_run(&about, "end_turn").unwrap();
    }

    #[test]
    fn a_call_ends_once_and_as_it_should() {
        let start = json!({"type": "toolCallStart", "toolCallId": "c"});
        let end = json!({"type": "toolCallEnd", "toolCallId": "c", "status": "failed"});
        tool_ended(&run(&[start.clone(), end.clone()]), "c", "failed").unwrap();
        for wrong in [vec![start.clone()], vec![end.clone()], vec![start.clone(), end.clone(), end.clone()]] {
            assert!(tool_ended(&run(&wrong), "c", "failed").is_err());
        }
        assert!(tool_ended(&run(&[start, end]), "c", "completed").is_err());
    }

    #[test]
    fn a_hole_and_a_run_without_an_end_are_found() {
        let fact = |sequence: u64, kind: &str| json!({"sequence": sequence, "type": kind, "turnId": "t"});
        let log = |facts: &[Value]| json!({"events": facts, "first": 1, "last": facts.len()});
        let whole = [fact(1, "runStarted"), fact(2, "messageComplete"), fact(3, "runFinished")];
        assert_eq!(are_stored(&log(&whole)).unwrap(), 1);
        assert!(are_stored(&log(&whole[..2])).is_err());
        assert!(are_stored(&log(&[fact(1, "runStarted"), fact(3, "runFinished")])).is_err());
        assert!(are_stored(&json!({"events": [], "first": 1, "last": 1})).is_err());
    }
}
