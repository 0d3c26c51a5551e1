//! A write that is tried, and what it is to come to.

use crate::AGENTS;
use crate::talk::talk;
use sepia_tests::Client;
use sepia_tests::conversation::{self, Said, compared, expected};
use sepia_tests::random::Random;
use serde_json::{Value, json};

/// What can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Save,
    Replace,
    Rename,
    Delete,
    Rewind,
    Convert,
    Import,
}

/// All of it.
pub(crate) const VERBS: [Verb; 7] =
    [Verb::Save, Verb::Replace, Verb::Rename, Verb::Delete, Verb::Rewind, Verb::Convert, Verb::Import];

/// What there is once it is done.
#[derive(Debug)]
pub(crate) enum New {
    /// A session more, with this conversation.
    Added(Vec<Said>),
    /// The target has this conversation.
    Said(Vec<Said>),
    /// The target has this title.
    Titled(String),
    /// The target is gone.
    Gone,
}

/// A write.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) verb: Verb,
    pub(crate) agent: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// The session that it changes.
    pub(crate) target: Option<String>,
    pub(crate) new: New,
}

fn export(client: &mut Client, agent: &str, id: &str) -> Value {
    client.get("sessions.export", &json!({"id": id, "agent": agent}))["session"].take()
}

/// Sessions of an agent that have something to say.
fn sessions(client: &mut Client, agent: &str) -> Vec<(String, Value)> {
    let rows = client.get("sessions.list", &json!({"agent": agent, "topLevel": true}));
    let ids =
        rows.as_array().unwrap().iter().filter(|row| row["source"] == agent).map(|row| row["id"].as_str().unwrap());
    let exported = ids.map(|id| (id.to_owned(), export(client, agent, id)));
    exported.filter(|(_, session)| !session["nodes"].as_array().unwrap().is_empty()).collect()
}

/// What is said in a session.
pub(crate) fn said(session: &Value) -> Vec<Said> {
    compared(&conversation::of(session))
}

/// What is left of it when the last prompts are taken back.
fn said_without(session: &Value, turns: usize) -> Option<Vec<Said>> {
    let live = conversation::live(session);
    let prompts: Vec<i64> =
        live.iter().filter(|node| node["role"] == "user").map(|node| node["nodeId"].as_i64().unwrap()).collect();
    let first = *prompts.get(prompts.len().saturating_sub(turns))?;
    let kept: Vec<&Value> = live.into_iter().take_while(|node| node["nodeId"] != first).collect();
    let Some(tip) = kept.last().map(|node| node["nodeId"].clone()) else { return Some(Vec::new()) };
    let mut cut = session.clone();
    cut["mainChainId"] = tip;
    Some(said(&cut))
}

impl Attempt {
    pub(crate) fn new(client: &mut Client, random: &mut Random, verb: Verb, agent: &str) -> Self {
        let attempt = |method, params: Value, target: Option<&str>, new| {
            let target = target.map(str::to_owned);
            Self { verb, agent: agent.to_owned(), method, params, target, new }
        };
        // A session of our own, and now and then a large one.
        let made = talk("Made for this", random.of_any_size(7));
        let own = client.get("sessions.import", &json!({"agent": agent, "session": made}))["id"].take();
        let own = own.as_str().unwrap().to_owned();
        let native = sessions(client, agent);
        let (target, stored) = match random.below(2) {
            0 => native.iter().find(|(id, _)| *id == own).unwrap(),
            _ => random.one(&native),
        };
        let of_target = || json!({"id": target, "agent": agent});
        match verb {
            Verb::Save | Verb::Import => {
                let session =
                    if verb == Verb::Save { stored.clone() } else { talk("Brought in", random.of_any_size(8)) };
                let new = New::Added(compared(&expected(&session)));
                attempt("sessions.import", json!({"agent": agent, "session": session, "cwd": "/p/demo"}), None, new)
            }
            Verb::Convert => {
                let others: Vec<&str> = AGENTS.into_iter().filter(|other| *other != agent).collect();
                let from = *random.one(&others);
                let sources = sessions(client, from);
                let (id, session) = random.one(&sources);
                let params = json!({"id": id, "from": from, "agent": agent, "cwd": "/p/demo"});
                attempt("sessions.convert", params, None, New::Added(compared(&expected(session))))
            }
            Verb::Replace => {
                let session = talk("In its place", random.of_any_size(8));
                let new = New::Said(compared(&expected(&session)));
                let params = json!({"agent": agent, "session": session, "id": own, "replace": true});
                attempt("sessions.import", params, Some(&own), new)
            }
            Verb::Rename => {
                let title = "Another title";
                let mut params = of_target();
                params["title"] = json!(title);
                attempt("sessions.rename", params, Some(target), New::Titled(title.to_owned()))
            }
            Verb::Delete => attempt("sessions.delete", of_target(), Some(target), New::Gone),
            Verb::Rewind => {
                let turns = random.of_any_size(3);
                let mut params = of_target();
                params["request"] = json!({"confirm": true, "turns": turns});
                let left = said_without(stored, usize::try_from(turns).unwrap()).unwrap_or_else(|| said(stored));
                attempt("sessions.rewind", params, Some(target), New::Said(left))
            }
        }
    }
}
