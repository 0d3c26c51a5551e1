//! What is done where the script says nothing: a well-behaved agent.

use super::run::Run;
use super::sessions::Session;
use super::store::Kept;
use super::{lock, time};
use crate::script::RpcError;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;

/// Characters of a prompt that are a session's title.
const TITLE: usize = 80;
const NOT_FOUND: i64 = -32002;
const UNKNOWN_METHOD: i64 = -32601;
const WRONG_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;

/// What comes before the answer.
pub(crate) fn act(run: &mut Run<'_>) -> Result<(), RpcError> {
    match run.call.method.as_str() {
        "session/prompt" => {
            run.say("agent_thought_chunk", None, "I think about what was said.");
            run.say("agent_message_chunk", None, &format!("You said: {}", run.text));
        }
        "session/load" => {
            let session = found(run)?;
            replay(run, &session);
        }
        "session/resume" => {
            found(run)?;
        }
        _ => {}
    }
    Ok(())
}

/// The result that comes by itself. What the request asks for is done.
pub(crate) fn result(run: &Run<'_>) -> Result<Value, RpcError> {
    match run.call.method.as_str() {
        "initialize" => Ok(introduction(run)),
        "authenticate" => Ok(json!({})),
        "session/new" => Ok(json!({
            "sessionId": run.call.session_id,
            "modes": modes(run, None),
            "configOptions": options(run, None),
        })),
        "session/load" | "session/resume" => {
            let session = run.call.session_id.as_deref().and_then(|id| run.agent.sessions.live(id));
            Ok(json!({"modes": modes(run, session.as_deref()), "configOptions": options(run, session.as_deref())}))
        }
        "session/prompt" => {
            Ok(json!({"stopReason": if run.call.bell.is_cancelled() { "cancelled" } else { "end_turn" }}))
        }
        "session/list" => list(run),
        "session/delete" => {
            let id = named(run)?;
            let deleted = run.agent.sessions.delete(id).map_err(|e| store_failed(&e))?;
            if deleted { Ok(json!({})) } else { Err(unknown_session(id)) }
        }
        "session/close" => {
            let id = named(run)?;
            if run.agent.sessions.close(id) { Ok(json!({})) } else { Err(unknown_session(id)) }
        }
        "session/set_mode" => {
            let session = found(run)?;
            let mode = run.call.param("modeId").ok_or_else(|| missing("modeId"))?;
            lock(&session.chosen).insert("mode".to_owned(), mode.into());
            run.update_unkept(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}));
            Ok(json!({}))
        }
        "session/set_config_option" => {
            let session = found(run)?;
            let option = run.call.param("configId").ok_or_else(|| missing("configId"))?;
            let value = run.call.params.get("value").ok_or_else(|| missing("value"))?;
            lock(&session.chosen).insert(option.to_owned(), value.clone());
            Ok(json!({"configOptions": options(run, Some(&session))}))
        }
        method => Err(RpcError {
            code: UNKNOWN_METHOD,
            message: format!("Method not found: {method}"),
            data: Some(json!({"method": method})),
        }),
    }
}

/// Sends the history of a session.
pub(crate) fn replay(run: &Run<'_>, session: &Session) {
    for update in session.turns().iter().flat_map(super::history::Turn::replay) {
        run.update_unkept(&update);
    }
}

pub(crate) fn store_failed(error: &io::Error) -> RpcError {
    RpcError::new(INTERNAL, format!("the store could not be used: {error}"))
}

pub(crate) fn unknown_session(id: &str) -> RpcError {
    RpcError { code: NOT_FOUND, message: format!("Session not found: {id}"), data: Some(json!({"sessionId": id})) }
}

pub(crate) fn missing(param: &str) -> RpcError {
    RpcError::new(WRONG_PARAMS, format!("`{param}` is missing in the params"))
}

fn named<'a>(run: &'a Run<'_>) -> Result<&'a str, RpcError> {
    run.call.session_id.as_deref().ok_or_else(|| missing("sessionId"))
}

fn found(run: &Run<'_>) -> Result<Arc<Session>, RpcError> {
    let id = named(run)?;
    run.agent.sessions.find(id).map_err(|e| store_failed(&e))?.ok_or_else(|| unknown_session(id))
}

fn introduction(run: &Run<'_>) -> Value {
    let capabilities = run.agent.script.capabilities.clone().unwrap_or_else(|| {
        json!({
            "loadSession": true,
            "promptCapabilities": {"image": true, "embeddedContext": true},
            "sessionCapabilities": {"list": {}, "delete": {}},
        })
    });
    json!({
        "protocolVersion": 1,
        "agentCapabilities": capabilities,
        "agentInfo": {"name": "scripted-agent", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": run.agent.script.auth_methods.clone().unwrap_or_else(|| json!([])),
    })
}

fn modes(run: &Run<'_>, session: Option<&Session>) -> Value {
    let mut modes = run.agent.script.modes.clone().unwrap_or_else(|| {
        json!({
            "currentModeId": "default",
            "availableModes": [{"id": "default", "name": "Default"}, {"id": "plan", "name": "Plan"}],
        })
    });
    let chosen = session.and_then(|session| lock(&session.chosen).get("mode").cloned());
    if let (Some(modes), Some(chosen)) = (modes.as_object_mut(), chosen) {
        modes.insert("currentModeId".to_owned(), chosen);
    }
    modes
}

fn options(run: &Run<'_>, session: Option<&Session>) -> Value {
    let mut options = run.agent.script.config_options.clone().unwrap_or_else(|| {
        json!([{
            "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "small",
            "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
        }])
    });
    let chosen = session.map(|session| lock(&session.chosen).clone()).unwrap_or_default();
    for option in options.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        let value = option.get("id").and_then(Value::as_str).and_then(|id| chosen.get(id));
        if let Some(value) = value.cloned() {
            option.insert("currentValue".to_owned(), value);
        }
    }
    options
}

fn list(run: &Run<'_>) -> Result<Value, RpcError> {
    let all = run.agent.sessions.all().map_err(|e| store_failed(&e))?;
    let cwd = run.call.param("cwd");
    let wanted: Vec<Value> = all.iter().filter(|kept| cwd.is_none_or(|cwd| cwd == kept.cwd)).map(row).collect();
    let start: usize = match run.call.param("cursor") {
        None => 0,
        Some(cursor) => {
            cursor.parse().map_err(|_| RpcError::new(WRONG_PARAMS, format!("`{cursor}` is no cursor of this agent")))?
        }
    };
    let size = run.agent.script.page_size.map_or(usize::MAX, usize::from);
    let end = start.saturating_add(size);
    let next = (end < wanted.len()).then(|| end.to_string());
    let page: Vec<Value> = wanted.into_iter().skip(start).take(size).collect();
    let mut list = json!({"sessions": page});
    if let (Some(fields), Some(next)) = (list.as_object_mut(), next) {
        fields.insert("nextCursor".to_owned(), next.into());
    }
    Ok(list)
}

fn row(kept: &Kept) -> Value {
    let title = kept.turns.first().map(|turn| turn.text().chars().take(TITLE).collect::<String>());
    json!({
        "sessionId": kept.id,
        "cwd": kept.cwd,
        "title": title,
        "updatedAt": time::text(kept.updated_at_ms),
    })
}
