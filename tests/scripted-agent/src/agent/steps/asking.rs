//! Requests to the client.

use super::super::bell::Answer;
use super::super::run::Run;
use crate::script::{Decision, PermissionRequest, Question};
use serde_json::{Value, json};

pub(super) fn permission(run: &mut Run<'_>, step: &PermissionRequest) {
    let options = step.options.clone().unwrap_or_else(|| {
        json!([
            {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
        ])
    });
    let params = json!({
        "sessionId": run.call.session_id,
        "toolCall": run.known().fill(&step.tool_call),
        "options": options,
    });
    let Some(answer) = ask(run, "session/request_permission", &params, step.wait) else { return };
    let decision = decision(&answer);
    let steps = step.then.get(&decision).or_else(|| step.then.get(&Decision::Default));
    if let Some(steps) = steps {
        super::run(run, steps);
    }
}

pub(super) fn request(run: &Run<'_>, step: &Question) {
    // The record has the answer; nothing depends on it.
    let _answer = ask(run, &step.method, &run.known().fill(&step.params), step.wait);
}

/// The answer; none when it is not waited for, or no longer.
fn ask(run: &Run<'_>, method: &str, params: &Value, wait: bool) -> Option<Answer> {
    run.keep();
    let id = run.agent.questions.ask(method, &run.call.bell);
    run.agent.send_frame(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    if !wait {
        return None;
    }
    let answer = run.call.bell.wait_for_answer(id);
    if answer.is_none() {
        run.agent.questions.give_up(id);
    }
    answer
}

fn decision(answer: &Answer) -> Decision {
    let Answer::Result(result) = answer else { return Decision::Error };
    let text = |place| result.pointer(place).and_then(Value::as_str);
    match (text("/outcome/outcome"), text("/outcome/optionId")) {
        (Some("selected"), Some(option)) => Decision::Selected(option.to_owned()),
        (Some("cancelled"), _) => Decision::Cancelled,
        _ => Decision::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Decision, decision};
    use serde_json::json;

    #[test]
    fn each_outcome_is_told_apart() {
        let of = |result| decision(&Answer::Result(result));
        let selected = json!({"outcome": {"outcome": "selected", "optionId": "a"}});
        assert_eq!(of(selected), Decision::Selected("a".to_owned()));
        assert_eq!(of(json!({"outcome": {"outcome": "cancelled"}})), Decision::Cancelled);
        assert_eq!(of(json!({"outcome": {"outcome": "selected"}})), Decision::Error);
        assert_eq!(of(json!({"outcome": "selected"})), Decision::Error);
        assert_eq!(decision(&Answer::Error), Decision::Error);
    }
}
