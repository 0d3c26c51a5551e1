//! `sepia watch`: what happens in live sessions of any sepia on this machine, from the log that
//! they share.

use super::args::WatchArgs;
use super::exit::Failure;
use super::{output, setup, time};
use crate::plane::Fact;
use crate::text::clean_line;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;
use tokio::time::sleep;

/// How often the log is looked at: another process writes it.
const LOOK_AGAIN: Duration = Duration::from_millis(150);
/// Facts that are read at once.
const PAGE: usize = 1_000;

pub(super) async fn run(args: WatchArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let (id, agent) = match &args.id {
        None => (None, args.agent),
        Some(id) => {
            let session = plane.resolve(id, args.agent.as_deref()).await?;
            (Some(session.id), session.agent)
        }
    };
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let since = args.since.map(|seconds| (seconds * 1_000.0) as i64);
    let wanted = |of: &(String, String), fact: &Fact| {
        id.as_ref().is_none_or(|id| *id == of.1)
            && agent.as_ref().is_none_or(|agent| *agent == of.0)
            && since.is_none_or(|since| fact.at >= since)
    };
    let mut position = if since.is_some() { 0 } else { plane.newest_position().await? };
    loop {
        let facts = plane.facts_of_node(position, PAGE).await?;
        let Some((_, newest)) = facts.last() else {
            sleep(LOOK_AGAIN).await;
            continue;
        };
        position = newest.position;
        for (of, fact) in facts.iter().filter(|(of, fact)| wanted(of, fact)) {
            if args.json {
                output::json(&as_json(of, fact))?;
            } else {
                let mut out = output::stdout();
                write_line(&mut out, of, fact).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))?;
            }
        }
    }
}

fn as_json((agent, id): &(String, String), fact: &Fact) -> Value {
    let data: Value = serde_json::from_str(&fact.data).unwrap_or_default();
    json!({
        "agentId": agent, "sessionId": id, "sequence": fact.sequence, "position": fact.position, "id": fact.id,
        "ts": fact.at, "type": fact.kind, "data": data,
    })
}

fn write_line(out: &mut impl Write, (agent, id): &(String, String), fact: &Fact) -> io::Result<()> {
    let data: Value = serde_json::from_str(&fact.data).unwrap_or_default();
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let what = match fact.kind.as_str() {
        "inputMessage" => {
            let said = data["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
            format!("prompt    {}", said.collect::<Vec<_>>().join(" "))
        }
        "runStarted" => "started".to_owned(),
        "messageComplete" if text("role") == "reasoning" => format!("thinks    {}", text("text")),
        "messageComplete" => format!("says      {}", text("text")),
        "toolCallStarted" => format!("calls     {}", text("title")),
        "toolCallEnded" => format!("{:<9} {}", data["status"].as_str().unwrap_or("left"), text("title")),
        "permissionAsked" => format!("asks      {}", text("title")),
        "permissionAnswered" => format!("answered  {}", data["optionId"].as_str().unwrap_or("none")),
        "runFinished" => match data["error"]["message"].as_str() {
            Some(message) => format!("failed    {message}"),
            None => format!("finished  {}", text("stopReason")),
        },
        "rewound" => format!("rewound   {} kept, {} gone", data["kept"], data["removed"]),
        other => other.to_owned(),
    };
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era are exact")]
    let at = time::local(fact.at as f64 / 1_000.0, "%H:%M:%S");
    let short: String = id.chars().take(8).collect();
    let room = output::width().saturating_sub(30).max(20);
    writeln!(out, "{at}  {}  {}  {}", clean_line(agent, 20), clean_line(&short, 32), clean_line(&what, room))
}
