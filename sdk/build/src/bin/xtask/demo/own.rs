//! The person's own sessions, read and not touched.

use super::client::Client;
use super::meaning::{array, text};
use super::sample::Scratch;
use crate::Context;
use crate::console::cut;
use crate::failure::Failure;
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::Command;

/// Rows that are shown.
const ROWS: usize = 5;

/// Lists them. Whatever sepia keeps for itself goes to the scratch folder, so that nothing of
/// the person's changes.
pub(super) fn show(context: &Context, program: &Path, scratch: &Scratch) -> Result<(), Failure> {
    let console = &context.console;
    let mut command = Command::new(program);
    command.env("SEPIA_HOME", scratch.folder("own")?);
    let mut client = Client::start(command)?;
    let answer = client.call(r#"{"jsonrpc":"2.0","id":1,"method":"sessions.list"}"#)?;
    let frame: Value = serde_json::from_str(&answer.frame).unwrap_or_default();
    let rows = array(&frame["result"]).map_err(|_| {
        let message = text(&frame["error"], "message").unwrap_or_else(|_| "the answer is no list".to_owned());
        Failure::new(format!("your own sessions could not be listed: {message}"))
    })?;
    if rows.is_empty() {
        console.say("No sessions of your own were found where the drivers look; `sepia doctor` says where that is.");
        return Ok(());
    }
    let mut by_agent: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        *by_agent.entry(text(row, "agent").unwrap_or_default()).or_default() += 1;
    }
    let counts: Vec<String> = by_agent.iter().map(|(agent, count)| format!("{agent}: {count}")).collect();
    let own: Vec<&Value> = rows.iter().filter(|row| row["parentSessionId"].is_null()).collect();
    let spawned = match rows.len() - own.len() {
        0 => String::new(),
        count => format!(", {count} of them sub-agents of another"),
    };
    let (all, by_agent, took) = (rows.len(), counts.join(", "), answer.took.as_millis());
    console.say(&format!("{all} sessions ({by_agent}){spawned}, read in {took} ms with empty caches. The newest:"));
    console.say("");
    for row in own.iter().take(ROWS) {
        console.say(&format!("  {}", line(row, console.width.saturating_sub(2))));
    }
    if own.len() > ROWS {
        console.say(&console.dim(&format!("  … {} more", own.len() - ROWS)));
    }
    client.finish().map(|_| ())
}

/// Day and minute, agent, title, folder.
fn line(row: &Value, width: usize) -> String {
    let of = |name| text(row, name).unwrap_or_default();
    let when: String = of("updatedAt").replace('T', " ").chars().take(16).collect();
    let fixed = format!("{when:<16}  {:<8}  ", cut(&of("agent"), 8));
    let room = width.saturating_sub(fixed.chars().count());
    let title = cut(&of("title"), room * 3 / 5);
    let folder = cut(&from_home(&of("cwd")), room.saturating_sub(title.chars().count() + 2));
    format!("{fixed}{title}  {folder}")
}

fn from_home(path: &str) -> String {
    let home = env::var("HOME").ok().filter(|home| home.len() > 1);
    match home.and_then(|home| path.strip_prefix(&home).map(str::to_owned)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}
