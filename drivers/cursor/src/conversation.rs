//! The messages of a conversation in their order: what compactions archived, then what the
//! model sees now.
//!
//! A compaction moves messages from the model's view into an archive and puts a summary in
//! their place. The full history is the system message, the messages of all archives in order, then
//! the rest of the model's view with its summary. The turns, which a person sees, tell the
//! times and which prompts the agent wrote itself.

use crate::blobs::{Blob, BlobStream, Blobs, hex};
use crate::message::{self, Place};
use crate::proto::conversation_turn_structure::Turn;
use crate::proto::{
    ConversationStateStructure, ConversationStep, ConversationSummaryArchive, ConversationTurnStructure, UserMessage,
};
use crate::saved::{self, Note, Saved};
use crate::step::{self, Feed, Step, within};
use crate::time;
use prost::Message;
use sepia_ir::{DriverError, Role, Warning};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// Blobs that are asked for at once.
const BATCH: usize = 64;

/// Which messages there are, and what is known of them besides.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// Ids of the messages, oldest first.
    pub(crate) messages: Vec<String>,
    /// So many of them, after the first `front`, are archived.
    archived: Range<usize>,
    /// What is known of each of them; empty as long as only their order is known.
    pub(crate) notes: Vec<Note>,
    /// How the rows begin that ride along with them.
    rows: Option<String>,
    /// By request id.
    turns: HashMap<String, TurnNote>,
    /// Turns of the shell, which the model does not see.
    pub(crate) shell_turns: usize,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug, Default, Clone)]
struct TurnNote {
    /// The agent wrote the prompt itself.
    simulated: bool,
    /// The prompt has a time of its own.
    stamped: bool,
    at: Option<f64>,
    /// Times of the answers, by their text.
    answers: HashMap<String, f64>,
}

/// Ids as blobs are named; what has not 32 bytes is no id.
fn ids(raw: &[Vec<u8>]) -> Vec<String> {
    raw.iter().filter(|id| id.len() == 32).map(|id| hex(id)).collect()
}

impl Conversation {
    /// Only which messages there are, without the turns.
    pub(crate) fn order(root: &ConversationStateStructure, blobs: &Blobs) -> Result<Self, DriverError> {
        let mut conversation = Self::default();
        let mut archives = ids(std::slice::from_ref(&root.summary_archive_id));
        let newer = ids(&root.summary_archive_ids);
        archives.retain(|archive| !newer.contains(archive));
        archives.extend(newer);
        let mut archived = Vec::new();
        for (archive, blob) in archives.iter().zip(blobs.all(&archives)?) {
            let decoded = match blob {
                Blob::Read(bytes) => ConversationSummaryArchive::decode(bytes.as_slice()).ok(),
                _ => None,
            };
            match decoded {
                Some(decoded) => archived.extend(ids(&decoded.summarized_message_ids)),
                None => conversation.warnings.push(Warning::new(
                    "missing-archive",
                    format!("the archive {archive} of an earlier compaction is missing or broken, so its messages are not shown"),
                )),
            }
        }
        let view = ids(&root.message_ids);
        if archived.is_empty() {
            conversation.messages = view;
            return Ok(conversation);
        }
        // The view begins with the system message and context, which may be archived too.
        let known: HashSet<&String> = archived.iter().collect();
        let system = view.first().filter(|first| !known.contains(first)).cloned();
        let rest = view.iter().skip(usize::from(system.is_some())).skip_while(|id| known.contains(id)).cloned();
        let rest: Vec<String> = rest.collect();
        let front = usize::from(system.is_some());
        conversation.archived = front..front + archived.len();
        conversation.messages = system.into_iter().chain(archived).chain(rest).collect();
        Ok(conversation)
    }

    /// Everything; of a chat that was saved from elsewhere, with what rides along.
    pub(crate) fn read(
        root: &ConversationStateStructure,
        blobs: &Blobs,
        saved: Option<&Saved>,
    ) -> Result<Self, DriverError> {
        let mut conversation = Self::order(root, blobs)?;
        match saved {
            Some(saved) => conversation.arrange(saved, blobs)?,
            None => conversation.note(|_| None),
        }
        let turn_ids = ids(&root.turn_ids);
        let mut turns = Vec::new();
        for (at, blob) in blobs.all(&turn_ids)?.into_iter().enumerate() {
            let Blob::Read(bytes) = blob else { continue };
            match ConversationTurnStructure::decode(bytes.as_slice()).ok().and_then(|turn| turn.turn) {
                Some(Turn::AgentConversationTurn(turn)) => turns.push((at, turn)),
                Some(Turn::ShellConversationTurn(_)) => conversation.shell_turns += 1,
                None => {}
            }
        }
        let mut notes: Vec<TurnNote> = Vec::with_capacity(turns.len());
        // One query for all prompts, and one for the answers of builds that stamp them.
        let prompts: Vec<String> = turns.iter().map(|(_, turn)| hex(&turn.user_message_id)).collect();
        for ((at, _), blob) in turns.iter().zip(blobs.all(&prompts)?) {
            let timing = root.turn_timings.get(*at).and_then(|timing| time::of_ms(timing.timestamp_ms));
            let prompt = match blob {
                Blob::Read(bytes) => UserMessage::decode(bytes.as_slice()).unwrap_or_default(),
                _ => UserMessage::default(),
            };
            let at = time::of_ms(prompt.timestamp_ms);
            notes.push(TurnNote {
                simulated: prompt.is_simulated_msg,
                stamped: at.is_some(),
                at: at.or(timing),
                ..TurnNote::default()
            });
        }
        let steps: Vec<(usize, String)> = (turns.iter().zip(&notes).enumerate())
            .filter(|(_, (_, note))| note.stamped)
            .flat_map(|(at, ((_, turn), _))| ids(&turn.step_ids).into_iter().map(move |id| (at, id)))
            .collect();
        let wanted: Vec<String> = steps.iter().map(|(_, id)| id.clone()).collect();
        for ((turn, _), blob) in steps.iter().zip(blobs.all(&wanted)?) {
            let Blob::Read(bytes) = blob else { continue };
            let Ok(step) = ConversationStep::decode(bytes.as_slice()) else { continue };
            if let Some(answer) = step.assistant_message
                && let (Some(at), Ok(text)) = (time::of_ms(answer.timestamp_ms), String::from_utf8(answer.text))
            {
                notes[*turn].answers.insert(text, at);
            }
        }
        for ((_, turn), note) in turns.into_iter().zip(notes) {
            if let Ok(request) = String::from_utf8(turn.request_id)
                && !request.is_empty()
            {
                conversation.turns.insert(request, note);
            }
        }
        Ok(conversation)
    }

    fn note(&mut self, number: impl Fn(usize) -> Option<u32>) {
        let note = |at: usize| Note { saved: number(at), archived: self.archived.contains(&at), ..Note::default() };
        self.notes = (0..self.messages.len()).map(note).collect();
    }

    /// Puts the nodes that ride along where they lay among the messages.
    fn arrange(&mut self, saved: &Saved, blobs: &Blobs) -> Result<(), DriverError> {
        let rows = saved.rows();
        let order = blobs.setting(&format!("{rows}order"))?;
        // The root that they were saved with tells the messages of then.
        let then = match blobs.one(&saved.root)? {
            Some(bytes) => match ConversationStateStructure::decode(bytes.as_slice()) {
                Ok(root) => Self::order(&root, blobs)?.messages,
                Err(_) => Vec::new(),
            },
            None => Vec::new(),
        };
        let archived = self.archived.clone();
        let planned = saved::planned(order.as_deref(), &then);
        let messages = std::mem::take(&mut self.messages);
        (self.messages, self.notes) = saved::arranged(messages, |at| archived.contains(&at), planned);
        self.rows = Some(rows);
        Ok(())
    }

    /// Its messages in a range as nodes; `shown` is how warnings name the place.
    pub(crate) fn feed(
        self: &Rc<Self>,
        blobs: &Blobs,
        shown: &str,
        range: &Range<usize>,
    ) -> Result<Box<dyn Feed>, DriverError> {
        let wanted = within(&self.messages, range);
        let stream = match &self.rows {
            Some(rows) => {
                let numbers: Vec<Option<u32>> = within(&self.notes, range).iter().map(|note| note.saved).collect();
                blobs.with_carried(wanted, &numbers, rows)?
            }
            None => blobs.stream(wanted)?,
        };
        Ok(Box::new(ModelFeed {
            conversation: Rc::clone(self),
            stream,
            waiting: VecDeque::new(),
            next: range.start,
            turn: TurnNote::default(),
            shown: shown.to_owned(),
        }))
    }
}

/// See [`Conversation::feed`].
struct ModelFeed {
    conversation: Rc<Conversation>,
    stream: BlobStream,
    waiting: VecDeque<(Blob, Option<String>)>,
    next: usize,
    turn: TurnNote,
    shown: String,
}

impl Feed for ModelFeed {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        if self.waiting.is_empty() {
            self.waiting = match self.conversation.rows {
                Some(_) => self.stream.next_carried(BATCH)?.into(),
                None => self.stream.next(BATCH)?.into_iter().map(|blob| (blob, None)).collect(),
            };
        }
        let Some((blob, carried)) = self.waiting.pop_front() else { return Ok(false) };
        let at = self.next;
        self.next += 1;
        let Some(id) = self.conversation.messages.get(at) else { return Ok(false) };
        let warning = |code: &str, what: String| {
            Warning::new(code, format!("message {} of `{}`, blob {id}, {what}", at + 1, self.shown))
                .in_file(&self.shown)
        };
        let bytes = match blob {
            Blob::Missing => {
                warnings.push(warning("missing-blob", "is not in the store and was passed over".to_owned()));
                return Ok(true);
            }
            Blob::TooLong(ends, bytes) => {
                warnings
                    .push(warning("long-record", format!("has {bytes} bytes and was not read")).passing_over(bytes));
                out.push(message::too_long(&ends, bytes, id));
                return Ok(true);
            }
            Blob::Read(bytes) => bytes,
        };
        let (text, repaired) = crate::json::decoded(&bytes);
        if repaired > 0 {
            warnings.push(warning("repaired-text", format!("has {repaired} broken characters, replaced by U+FFFD")));
        }
        let note = self.conversation.notes.get(at).copied().unwrap_or_default();
        let place = Place { blob: id, archived: note.archived };
        match message::steps(&text, place) {
            Some(mut steps) => {
                // What was saved has one node a message.
                if let [only] = &mut steps[..] {
                    (only.saved, only.branch, only.carried) = (note.saved, note.branch, carried);
                }
                for mut step in steps {
                    step.request.clone_from(&step.node.request_id);
                    if step.branch.is_none() {
                        self.time(&mut step);
                    }
                    out.push(step);
                }
            }
            None => warnings.push(
                warning("unreadable-record", "is no message and was passed over".to_owned())
                    .passing_over(bytes.len() as u64),
            ),
        }
        Ok(true)
    }
}

impl ModelFeed {
    /// What the user's view says of a message.
    fn time(&mut self, step: &mut Step) {
        if step.node.role == Role::User
            && let Some(turn) = step.node.request_id.as_ref().and_then(|id| self.conversation.turns.get(id))
        {
            self.turn = turn.clone();
            step.at = step.at.or(self.turn.at);
            if self.turn.simulated && step.prompt.take().is_some() {
                step::mark_simulated(&mut step.node);
            }
        } else if step.node.role == Role::Assistant {
            step.at = self.turn.answers.get(&step.node.content).copied();
        }
    }
}
