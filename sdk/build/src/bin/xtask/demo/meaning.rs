//! What an answer means, in one line; or, when it isn't what the wire promises, what is odd.

use crate::console::{clean, cut};
use serde_json::Value;

/// The meaning of a result, or what was expected instead.
pub(super) type Meaning = Result<String, String>;

pub(super) fn manifest(result: &Value) -> Meaning {
    let protocol = number(result, "protocol")?;
    let methods = list(result, "methods")?.len();
    let node = text(&result["node"], "id")?;
    Ok(format!("wire version {protocol}, {methods} methods; this machine is {node}"))
}

pub(super) fn agents(result: &Value) -> Meaning {
    let labels: Vec<String> = array(result)?.iter().map(|agent| text(agent, "label")).collect::<Result<_, _>>()?;
    match labels.len() {
        0 => Err("at least one agent".to_owned()),
        1 => Ok(format!("one driver can be used: {}", labels.join(", "))),
        count => Ok(format!("{count} drivers can be used: {}", labels.join(", "))),
    }
}

pub(super) fn sessions(result: &Value) -> Meaning {
    let rows = array(result)?;
    let newest = rows.first().ok_or("at least one session of the sample store")?;
    let title = cut(&text(newest, "title")?, 50);
    Ok(format!("{} sessions, newest first; the newest is “{title}”", rows.len()))
}

pub(super) fn summary(result: &Value) -> Meaning {
    let title = cut(&text(result, "title")?, 50);
    let model = text(result, "model")?;
    match result["nodes"].as_array().map(Vec::len) {
        None | Some(0) => Ok(format!("“{title}” ran on {model}; no message was handed over for this")),
        Some(count) => Err(format!("no nodes in a summary, but there are {count}")),
    }
}

pub(super) fn history(result: &Value) -> Meaning {
    let shown = list(result, "messages")?.len();
    let (total, start) = (number(result, "total")?, number(result, "start")?);
    let older = match start {
        0 => "there is nothing older".to_owned(),
        _ => format!("the page before it is asked for with before: {start}"),
    };
    Ok(format!("the last {shown} of {total} messages; {older}"))
}

pub(super) fn export(result: &Value) -> Meaning {
    let session = &result["session"];
    let nodes = list(session, "nodes")?;
    let calls: usize = nodes.iter().filter_map(|node| node["toolCalls"].as_array()).map(Vec::len).sum();
    if nodes.is_empty() {
        return Err("the nodes of the session".to_owned());
    }
    Ok(format!("the whole session, {} messages with {calls} tool calls, in a form that no agent owns", nodes.len()))
}

pub(super) fn nothing(result: &Value) -> Meaning {
    if result.is_null() { Ok("it says goodbye and ends".to_owned()) } else { Err("null".to_owned()) }
}

/// The meaning of an error that was asked for.
pub(super) fn not_found(error: &Value) -> Meaning {
    match error["data"]["code"].as_str() {
        Some("not_found") => Ok(format!("an error for this request alone: {}", text(error, "message")?)),
        _ => Err("an error with data.code not_found".to_owned()),
    }
}

/// A text member, made safe to show.
pub(super) fn text(of: &Value, name: &str) -> Result<String, String> {
    of[name].as_str().map(clean).ok_or_else(|| format!("a text in {name}"))
}

/// The value as a list.
pub(super) fn array(of: &Value) -> Result<&Vec<Value>, String> {
    of.as_array().ok_or_else(|| "a list".to_owned())
}

fn list<'a>(of: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    of[name].as_array().ok_or_else(|| format!("a list in {name}"))
}

fn number(of: &Value, name: &str) -> Result<u64, String> {
    of[name].as_u64().ok_or_else(|| format!("a whole number in {name}"))
}
