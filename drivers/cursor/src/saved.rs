//! What rides along in a chat that was saved from elsewhere: rows of its table `meta`, of which the
//! agent asks for the row `0` alone. None of it reaches a model.
//!
//! | key | value |
//! |---|---|
//! | `sepia` | [`Saved`], as JSON |
//! | `sepia:<generation>:order` | how the nodes lie among the messages; see [`Planned`] |
//! | `sepia:<generation>:prompts` | the prompt history of the session, a JSON list |
//! | `sepia:<generation>:<number>` | what the node of that number has and its message has no place for |
//!
//! Saving over a session writes the rows of a new generation and then the row `sepia`, so that the
//! old rows still are there when that has to be taken back. All of it is as hostile as the rest of a store.

use crate::places::plausible;
use sepia_ir::Session;
use sepia_sdk::carried;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};

/// The row `sepia`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Which rows belong to it: lower-case hexadecimal.
    pub(crate) generation: String,
    /// The root that was written with it. When the chat has another, the agent went on.
    pub(crate) root: String,
    /// The title as the agent has it; a session that was renamed since has another.
    #[serde(default)]
    pub(crate) title: String,
    /// What the session has and the chat has no place for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<Box<RawValue>>,
    /// The small file beside the database, which can't be written in one step with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<Switch>,
}

/// A file that was about to be written over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Switch {
    /// SHA-256 of what it was, lower-case hexadecimal.
    pub(crate) was: String,
    /// What it is to be.
    pub(crate) is: String,
}

/// A node that was saved, in the order of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Its number among the saved nodes.
    pub(crate) number: u32,
    /// Id of the blob that its message is.
    pub(crate) blob: String,
    pub(crate) lies: Lies,
}

/// Where a saved node lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    /// Among the messages that the model sees.
    Seen,
    /// On the live branch, but not before the model.
    Unseen,
    /// On a branch that was left, under the node of this number.
    Left(Option<u32>),
}

/// Under which of the saved nodes a node of a branch that was left hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Under(pub(crate) Option<u32>);

/// What is known of a message beside its blob.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Note {
    /// Number of the saved node.
    pub(crate) saved: Option<u32>,
    /// A compaction took it out of the model's view.
    pub(crate) archived: bool,
    /// See [`Lies::Left`].
    pub(crate) branch: Option<Under>,
    /// It is no message of the conversation, and only lies between them.
    pub(crate) beside: bool,
}

impl Saved {
    /// Absent when the row is not of this shape.
    pub(crate) fn parse(row: &str) -> Option<Self> {
        let saved: Self = serde_json::from_str(row).ok()?;
        let hex = |text: &str, most: usize| text.len() <= most && text.bytes().all(|b| b.is_ascii_hexdigit());
        (!saved.generation.is_empty() && hex(&saved.generation, 32) && hex(&saved.root, 64)).then_some(saved)
    }

    /// How the keys of its other rows begin.
    pub(crate) fn rows(&self) -> String {
        format!("{}:{}:", carried::KEY, self.generation)
    }

    /// Puts what rides along on the row of the session. `went_on`: the agent has written since, and what
    /// it tells itself is newer.
    pub(crate) fn restore(&self, session: &mut Session, went_on: bool) {
        let Some(raw) = &self.session else { return };
        let Ok(Value::Object(mut told)) = serde_json::from_str(raw.get()) else { return };
        if went_on {
            for newer in ["agentMode", "model", "lastActivityAt"] {
                told.remove(newer);
            }
        }
        if session.title != self.title {
            told.remove("title");
        }
        told.remove("promptHistory");
        if let Some(Value::Object(kept)) = told.remove("metadata") {
            let own: Map<String, Value> = serde_json::from_str(&session.metadata).unwrap_or_default();
            let (mut metadata, over) = if went_on { (kept, own) } else { (own, kept) };
            metadata.extend(over);
            told.insert("metadata".to_owned(), Value::Object(metadata));
        }
        // One of another shape was written by nobody; the session is shown as the agent has it.
        let _ = carried::restore_session(session, &Value::Object(told).to_string());
    }
}

/// Puts a prompt history that rides along on a session.
pub(crate) fn restore_prompts(session: &mut Session, row: &str) {
    if let Ok(prompts) = serde_json::from_str(row) {
        session.prompt_history = prompts;
    }
}

/// The nodes that an order tells, of which these messages were before the model. Without an order
/// that is all of them.
pub(crate) fn planned(order: Option<&str>, seen: &[String]) -> Vec<Planned> {
    let mut planned = Vec::with_capacity(seen.len());
    let (mut number, mut next) = (0u32, seen.iter());
    let tokens: Vec<Value> = match order {
        Some(order) => serde_json::from_str(order).unwrap_or_default(),
        None => vec![Value::from(seen.len())],
    };
    for token in tokens {
        match token {
            Value::Number(run) => {
                let run = run.as_u64().and_then(|run| usize::try_from(run).ok()).unwrap_or_default();
                for blob in next.by_ref().take(run) {
                    planned.push(Planned { number, blob: blob.clone(), lies: Lies::Seen });
                    number = number.saturating_add(1);
                }
            }
            Value::Array(parts) => {
                let text = |at: usize| parts.get(at).and_then(Value::as_str);
                let count = |at: usize| parts.get(at).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
                let lies = match (text(0), count(1)) {
                    (Some("@"), Some(to)) => {
                        number = to;
                        continue;
                    }
                    (Some("unseen"), _) => Lies::Unseen,
                    (Some("left"), _) => Lies::Left(count(2)),
                    _ => continue,
                };
                let Some(blob) = text(1).filter(|blob| plausible(blob)) else { continue };
                planned.push(Planned { number, blob: blob.to_owned(), lies });
                number = number.saturating_add(1);
            }
            _ => {}
        }
    }
    planned
}

/// The order that tells these nodes; none when they are just the messages.
pub(crate) fn order(planned: &[Planned]) -> Option<String> {
    let mut tokens: Vec<Value> = Vec::new();
    let (mut run, mut number) = (0u64, 0u32);
    let mut plain = true;
    for node in planned {
        if node.number != number || node.lies != Lies::Seen {
            plain = false;
            if run > 0 {
                tokens.push(Value::from(std::mem::take(&mut run)));
            }
        }
        if node.number != number {
            tokens.push(serde_json::json!(["@", node.number]));
        }
        match node.lies {
            Lies::Seen => run += 1,
            Lies::Unseen => tokens.push(serde_json::json!(["unseen", node.blob])),
            Lies::Left(parent) => tokens.push(serde_json::json!(["left", node.blob, parent])),
        }
        number = node.number.saturating_add(1);
    }
    if run > 0 {
        tokens.push(Value::from(run));
    }
    (!plain).then(|| Value::Array(tokens).to_string())
}

/// The messages of a chat with the nodes that lie between them: those that are known from when it
/// was saved have their number, those that the agent added since have none.
pub(crate) fn arranged(
    messages: Vec<String>,
    archived: impl Fn(usize) -> bool,
    planned: Vec<Planned>,
) -> (Vec<String>, Vec<Note>) {
    let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (at, node) in planned.iter().enumerate().filter(|(_, node)| node.lies == Lies::Seen) {
        places.entry(node.blob.clone()).or_default().push_back(at);
    }
    let (mut blobs, mut notes) = (Vec::with_capacity(planned.len()), Vec::with_capacity(planned.len()));
    // What comes next of the saved nodes.
    let mut next = 0;
    while let Some(node) = planned.get(next).filter(|node| node.lies != Lies::Seen) {
        lay_beside(&mut blobs, &mut notes, node);
        next += 1;
    }
    for (at, blob) in messages.into_iter().enumerate() {
        let known = places.get_mut(&blob).and_then(|places| {
            while places.front().is_some_and(|place| *place < next) {
                places.pop_front();
            }
            places.pop_front()
        });
        let mut note = Note { archived: archived(at), ..Note::default() };
        if let Some(place) = known {
            // Saved messages that are no longer there leave what lay between them.
            for node in planned[next..place].iter().filter(|node| node.lies != Lies::Seen) {
                lay_beside(&mut blobs, &mut notes, node);
            }
            note.saved = Some(planned[place].number);
            next = place + 1;
        }
        blobs.push(blob);
        notes.push(note);
        while let Some(node) = planned.get(next).filter(|node| known.is_some() && node.lies != Lies::Seen) {
            lay_beside(&mut blobs, &mut notes, node);
            next += 1;
        }
    }
    (blobs, notes)
}

/// Adds a node that is no message of the conversation.
fn lay_beside(blobs: &mut Vec<String>, notes: &mut Vec<Note>, node: &Planned) {
    let branch = match node.lies {
        Lies::Left(parent) => Some(Under(parent)),
        Lies::Seen | Lies::Unseen => None,
    };
    blobs.push(node.blob.clone());
    notes.push(Note { saved: Some(node.number), archived: false, branch, beside: true });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Lies, Planned, Saved, arranged, order, planned};

    fn node(number: u32, blob: &str, lies: Lies) -> Planned {
        Planned { number, blob: blob.into(), lies }
    }

    fn nodes() -> Vec<Planned> {
        vec![
            node(0, "s", Lies::Unseen),
            node(1, "a", Lies::Seen),
            node(2, "x", Lies::Left(Some(1))),
            node(3, "y", Lies::Left(None)),
            node(4, "b", Lies::Seen),
            node(7, "a", Lies::Seen),
            node(8, "t", Lies::Unseen),
        ]
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_order_tells_the_nodes() {
        let told = order(&nodes()).unwrap();
        assert_eq!(planned(Some(&told), &names(&["a", "b", "a"])), nodes());
        let plain = planned(None, &names(&["a", "b"]));
        assert_eq!(order(&plain), None);
        assert_eq!(plain, [node(0, "a", Lies::Seen), node(1, "b", Lies::Seen)]);
    }

    #[test]
    fn an_order_that_is_wrong_tells_what_it_can() {
        for odd in ["", "{}", "[null,{},[],[\"left\"],[\"@\",-1],[\"unseen\",7]]", "[1e99]", "[18446744073709551615]"] {
            assert!(planned(Some(odd), &names(&["a"])).len() <= 1, "{odd}");
        }
        let far = planned(Some("[[\"@\",4294967295],2]"), &names(&["a", "b"]));
        assert_eq!(far.len(), 2);
    }

    #[test]
    fn nodes_lie_where_they_lay_also_when_the_agent_went_on() {
        let told = |messages: &[&str]| {
            let (blobs, notes) = arranged(names(messages), |_| false, nodes());
            let numbers = notes.iter().map(|note| note.saved);
            blobs
                .into_iter()
                .zip(numbers)
                .map(|(blob, n)| format!("{blob}{}", n.map_or("-".into(), |n| n.to_string())))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(told(&["a", "b", "a"]), "s0 a1 x2 y3 b4 a7 t8");
        assert_eq!(told(&["a", "b", "a", "n", "a"]), "s0 a1 x2 y3 b4 a7 t8 n- a-");
        assert_eq!(told(&["a", "sum", "a", "n"]), "s0 a1 x2 y3 sum- a7 t8 n-");
        assert_eq!(told(&["b"]), "s0 x2 y3 b4");
        assert_eq!(told(&[]), "s0");
        assert_eq!(told(&["n"]), "s0 n-");
    }

    #[test]
    fn a_row_of_another_shape_is_none() {
        for odd in [
            "",
            "[]",
            "{}",
            "{\"generation\":\"\",\"root\":\"\"}",
            "{\"generation\":\"x;\",\"root\":\"\"}",
            "{\"generation\":1,\"root\":2}",
        ] {
            assert!(Saved::parse(odd).is_none(), "{odd}");
        }
        assert_eq!(Saved::parse("{\"generation\":\"0a\",\"root\":\"ff\"}").unwrap().rows(), "sepia:0a:");
    }
}
