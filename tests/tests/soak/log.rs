//! What the log of a session has, against what the test did in it.

use crate::kinds::{Choice, Kind};
use crate::session::{Session, Turn};
use serde_json::{Value, json};

/// Compares them; `facts` is all of the log.
pub(crate) fn check(session: &Session, facts: &[Value]) {
    let id = &session.id;
    for (at, fact) in facts.iter().enumerate() {
        assert_eq!(fact["sequence"], at + 1, "{id}: a hole, or a fact twice, before {fact}");
        assert!(fact["turnId"].is_string(), "{id}: a fact of no turn: {fact}");
    }
    assert!(facts.is_sorted_by(|one, next| one["id"].as_str() < next["id"].as_str()), "{id}: ids do not sort");
    let turns: Vec<&[Value]> = facts.chunk_by(|one, next| one["turnId"] == next["turnId"]).collect();
    assert_eq!(turns.len(), session.turns.len(), "{id}: turns in the log and turns that were asked for");
    for (turn, facts) in session.turns.iter().zip(turns) {
        check_turn(id, turn, facts);
    }
}

fn check_turn(id: &str, turn: &Turn, facts: &[Value]) {
    let about = || format!("{id}: {turn:#?}\n{}", json!(facts));
    let of = |kind: &str| facts.iter().filter(|fact| fact["type"] == kind).collect::<Vec<_>>();
    for (kind, at) in [("inputMessage", 0), ("runStarted", 1), ("runFinished", facts.len() - 1)] {
        assert_eq!(of(kind).len(), 1, "{kind} in {}", about());
        assert_eq!(facts[at]["type"], kind, "place {at} in {}", about());
    }
    assert_eq!(facts[0]["data"]["content"][0]["text"], turn.prompt.as_str(), "{}", about());
    assert!(turn.is_explained(), "{}", about());
    let end = &facts[facts.len() - 1]["data"];
    match turn.answer.as_ref().unwrap() {
        Ok(stop_reason) => assert_eq!(end["stopReason"], stop_reason.as_str(), "{}", about()),
        Err(message) => assert_eq!(end["error"]["message"], message.as_str(), "{}", about()),
    }

    let messages: Vec<&str> = of("messageComplete")
        .into_iter()
        .filter(|fact| fact["data"]["role"] == "assistant")
        .map(|fact| fact["data"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(messages.concat(), turn.told, "what was told live and what is stored differ: {}", about());
    let said = turn.kind.messages(&turn.prompt, turn.choice);
    // A request for permission that was withdrawn is given up, whatever was to be chosen.
    let given_up = turn.kind.messages(&turn.prompt, Choice::None);
    if turn.is_whole() {
        assert!(messages == said || turn.disturbed && messages == given_up, "{}", about());
    } else {
        let is_begun = |whole: &[String]| whole.concat().starts_with(&messages.concat());
        assert!(is_begun(&said) || is_begun(&given_up), "{}", about());
    }

    let call = |fact: &Value| fact["data"]["toolCallId"].as_str().unwrap().to_owned();
    let started: Vec<String> = of("toolCallStarted").into_iter().map(call).collect();
    let ended: Vec<String> = of("toolCallEnded").into_iter().map(call).collect();
    assert_eq!(started, ended, "{}", about());
    if turn.is_whole() {
        let ends: Vec<(String, Option<&str>)> =
            of("toolCallEnded").into_iter().map(|fact| (call(fact), fact["data"]["status"].as_str())).collect();
        let expected: Vec<(String, Option<&str>)> =
            turn.kind.calls().into_iter().map(|(id, status)| (id.to_owned(), status)).collect();
        assert_eq!(ends, expected, "{}", about());
    }

    let request = |fact: &Value| fact["data"]["requestId"].clone();
    let asked: Vec<Value> = of("permissionAsked").into_iter().map(request).collect();
    let answered: Vec<Value> = of("permissionAnswered").into_iter().map(request).collect();
    assert_eq!(asked, answered, "{}", about());
    if turn.is_whole() && !turn.disturbed && turn.kind == Kind::Ask {
        let data = &of("permissionAnswered")[0]["data"];
        assert_eq!(data["by"], "client", "{}", about());
        assert_eq!(data["optionId"].as_str(), turn.choice.option(), "{}", about());
    }
    assert_eq!(turn.edges, ["runStarted", "runFinished"], "on the feed of the node: {}", about());
}
