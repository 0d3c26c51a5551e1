//! A node as a row, and as a reader will find it: what the row can't say rides along in it.

use super::calls::State;
use super::id::of_message;
use super::message::{Parts, Times};
use super::native::Becoming;
use super::own::Own;
use super::promise::Promise;
use crate::draft::{Draft, Form, Prompt};
use crate::facts::Outline;
use crate::heads::Head;
use crate::outcome::Outcome;
use crate::time;
use sepia_ir::{DriverError, Loss, LossKind, MessageNode, Role};
use sepia_sdk::carried::{KEY, difference};
use sepia_sdk::metadata::{Members, clean};
use sepia_sdk::one_line;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A row to be written, and what is known of it.
pub(crate) struct Made {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    /// Epoch seconds.
    pub(crate) written: i64,
    /// JSON text.
    pub(crate) message: String,
    pub(crate) marks: Option<String>,
    pub(crate) states: Vec<State>,
    pub(crate) outline: Outline,
    pub(crate) promise: Promise,
    /// A typed prompt, and the model of an answer: what a session without title or model goes by.
    pub(crate) prompt: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) losses: Vec<Loss>,
    /// A sub-agent that it tells of.
    pub(crate) head: Option<Head>,
}

/// Makes rows of nodes, one after the other.
pub(crate) struct Maker {
    session: String,
    working_directory: String,
    /// Of each id of a message what the message is: copies of one have the same.
    messages: HashMap<u64, u64>,
    /// Time of the last node that has one, epoch seconds.
    last: f64,
}

impl Maker {
    pub(crate) fn new(session: &str, working_directory: &str, begun: f64) -> Self {
        Self {
            session: session.to_owned(),
            working_directory: working_directory.to_owned(),
            messages: HashMap::new(),
            last: begun,
        }
    }

    /// The row of a node.
    pub(crate) fn make(&mut self, wanted: MessageNode) -> Result<Made, DriverError> {
        let own = Own::of(&wanted.metadata);
        let id = self.message_id(&own, &wanted);
        let times = self.times(&own, wanted.created_at);
        let role = wanted.role;
        let typed = role == Role::User && (own.typed || !own.is_own());
        let mut node = Becoming::of(wanted, &own, &times, &self.working_directory);
        for (name, value) in &own.extensions {
            node.extensions.raw(name, value);
        }
        let content = std::mem::take(&mut node.content);
        let parts = Parts { session: &self.session, id: &id, role, content: &content, own: &own, times: &times, typed };
        node.native.metadata = parts.metadata();
        if let Some(carried) = difference(&node.wanted, &node.native) {
            if clean(&carried).starts_with("{\"nestedTooDeeply\"") {
                node.lose(
                    LossKind::Dropped,
                    "what this agent has no place for is nested too deeply to be kept beside it",
                );
            } else {
                node.extensions.raw(KEY, &carried);
            }
        }
        let extensions = std::mem::take(&mut node.extensions).finish();
        let message = parts.text(&node.native, &node.held, &node.arguments, &extensions)?;
        let twin = own.twin.filter(|_| parts.is_first_twin());

        let Becoming { mut native, states, losses, .. } = node;
        let promise = Promise::of(&native, twin, own.agent.as_ref().map(|(name, _)| name.clone()));
        native.content = content;
        let marks = own.marks(role == Role::Assistant);
        let draft = draft(native, &own, id, typed, marks.as_deref());
        let outline = Outline::of(&draft);
        let native = draft.node;
        let said = typed && !native.content.trim().is_empty();
        Ok(Made {
            id: native.node_id,
            parent: native.parent_node_id,
            written: times.written,
            message,
            marks,
            states,
            outline,
            promise,
            prompt: said.then(|| one_line(&native.content)),
            model: native.model,
            losses,
            head: own.agent.map(|(agent, tip)| Head { agent, tip, updated: times.read }),
        })
    }

    /// The id of the message: its own, unless a message that says something else has it.
    fn message_id(&mut self, own: &Own, node: &MessageNode) -> String {
        if let Some(id) = &own.message_id {
            let says = hash(&(node.role, &node.content, &node.tool_call_id));
            if *self.messages.entry(hash(id)).or_insert(says) == says {
                return id.clone();
            }
        }
        of_message(&self.session, node.node_id)
    }

    fn times(&mut self, own: &Own, created: f64) -> Times {
        let known = time::plausible(created).filter(|time| time.to_bits() == created.to_bits());
        let said = known.and_then(time::text);
        if let Some(read) = said.as_deref().and_then(time::of_text) {
            self.last = read;
            let written = own.written_at.filter(|written| (written - read).abs() >= 1.0).unwrap_or(read);
            return Times { read, said, written: whole(written) };
        }
        // The column wants a time.
        let written = whole(self.last);
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let read = time::plausible(written as f64).unwrap_or_default();
        Times { read, said: None, written }
    }
}

/// A node as far as its row tells, as [`crate::draft::draft`] makes it of the row.
fn draft(native: MessageNode, own: &Own, id: String, typed: bool, marks: Option<&str>) -> Draft {
    let prompt = match native.role {
        Role::User if typed => Prompt::Typed,
        // The message says of itself that nobody typed it.
        Role::User => Prompt::Injected,
        _ => Prompt::No,
    };
    let form = match marks {
        None => Form::Unrendered,
        Some(_) if !own.prefix => Form::Rendered,
        Some(_) => Form::Other,
    };
    let outcome = native.tool_result.map_or_else(Outcome::default, |result| Outcome {
        status: Some(result.status),
        exit_code: result.exit_code,
        duration_ms: result.duration_ms,
    });
    Draft {
        metadata: Members::default(),
        warnings: Vec::new(),
        message_id: Some(id),
        form,
        prompt,
        sums_up: own.summarized_from.is_some(),
        outcome,
        agent: own.agent.as_ref().map(|(name, _)| name.clone()),
        carried: None,
        node: native,
    }
}

/// Whole seconds, the fraction cut.
#[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
fn whole(seconds: f64) -> i64 {
    seconds.floor() as i64
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
