//! A session that was found: its row, and how its messages are read.

use crate::blobs::Blobs;
use crate::facts::{Facts, Stats};
use crate::key::Source;
use crate::saved::{self, Saved};
use crate::step::{ALL, Feed};
use crate::time;
use sepia_ir::{DriverError, PromptHistoryEntry, Session, Warning};
use sepia_sdk::metadata::capped;
use serde::Serialize;
use std::ops::Range;
use std::rc::Rc;

/// `backendType` of the sessions.
pub(crate) const BACKEND: &str = "cursor";

/// Opens the messages of a session that are in a range of positions.
pub(crate) type Reader = Rc<dyn Fn(Range<usize>) -> Result<Box<dyn Feed>, DriverError>>;

/// See the module.
pub(crate) struct Record {
    /// The row, but for its metadata.
    pub(crate) session: Session,
    pub(crate) about: About,
    pub(crate) reader: Reader,
    /// The file that the session is, when it is one.
    pub(crate) file: Option<Source>,
    /// What the person typed, where the agent keeps it beside the messages.
    pub(crate) typed: Option<Typed>,
    /// More that only a reader of the whole session wants to know, and that costs reading.
    pub(crate) more: Option<More>,
    /// What rides along with it.
    pub(crate) kept: Option<Kept>,
}

/// What rides along with a session that was saved from elsewhere.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) saved: Rc<Saved>,
    pub(crate) blobs: Blobs,
    /// The agent has written since.
    pub(crate) went_on: bool,
}

/// Prompts, oldest first.
pub(crate) type Typed = Rc<dyn Fn() -> Result<Vec<String>, Warning>>;

/// See [`Record::more`].
pub(crate) type More = Rc<dyn Fn(&mut About) -> Result<(), DriverError>>;

/// `metadata` of a session: what the store tells and the IR has no field for.
#[derive(Debug, Default, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    /// Which space the session is read from.
    pub(crate) space: &'static str,
    /// Other places that have it too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) also_in: Vec<Place>,
    /// `generated`, `default` (the agent gave it no other name than its placeholder), `subtitle`,
    /// `description`, `first-prompt` or `id`.
    pub(crate) title_source: &'static str,
    /// `file` when no record has a time, `clamped` when one lay after the file's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_prompt: Option<String>,
    /// Id of the root blob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<String>,
    /// The root is missing, and this earlier one was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recovered_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_type: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) run_everything: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) archived: bool,
    /// No more than a draft by its place, though it has messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) draft: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) subagent: bool,
    /// The call of the parent that started this sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<String>,
    /// `running`, `backgrounded`, `success`, `error` or `aborted`; of a composer its own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace_id: Option<String>,
    /// The size of the context now, which is not what was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<Context>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) compactions: u32,
    /// How the last turn of a transcript ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turn_ended: Option<TurnEnded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stats: Option<Stats>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) todos: Vec<Todo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<String>,
    /// Turns of the user's view, and those that went to a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) turns: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell_turns: Option<usize>,
    /// Messages of the model's view, where the nodes come from another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_messages: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Warning>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A place in a store.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) space: &'static str,
    pub(crate) store: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
}

/// Tokens in the context, and how many have room.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Context {
    pub(crate) used: f64,
    pub(crate) max: f64,
}

/// The end of a turn, as a transcript marks it.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub(crate) struct TurnEnded {
    pub(crate) status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// One of the agent's tasks.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Todo {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) status: &'static str,
}

impl About {
    fn json(&self) -> String {
        let mut about = self.clone();
        about.warnings = capped(about.warnings);
        // A struct of plain members always has a JSON form.
        serde_json::to_string(&about).unwrap_or_else(|_| sepia_ir::json_text::null())
    }
}

/// Times of a session as far as records tell them, epoch seconds.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) created: Option<f64>,
    pub(crate) active: Option<f64>,
}

impl Times {
    /// Fills the times of a row; what no record tells, or tells wrongly, the file does.
    pub(crate) fn fill(self, session: &mut Session, about: &mut About, file: f64) {
        let (active, late) = time::not_after(self.active.unwrap_or(file), file);
        let (created, early) = time::not_after(self.created.unwrap_or(active), file);
        session.created_at = created.min(active);
        session.last_activity_at = active;
        about.time_source = match (self.active, late || early) {
            (None, _) => Some("file"),
            (_, true) => Some("clamped"),
            _ => None,
        };
    }
}

impl Record {
    /// The row as it is listed.
    pub(crate) fn row(&self) -> Session {
        self.told(&self.about)
    }

    /// The session with its metadata, and what rides along put back.
    fn told(&self, about: &About) -> Session {
        let mut session = Session { metadata: about.json(), ..self.session.clone() };
        if let Some(kept) = &self.kept {
            kept.saved.restore(&mut session, kept.went_on);
        }
        session
    }

    /// Puts back the prompt history that rides along, unless the agent went on.
    pub(crate) fn restore_prompts(&self, session: &mut Session) -> Result<(), DriverError> {
        if let Some(kept) = self.kept.as_ref().filter(|kept| !kept.went_on)
            && let Some(row) = kept.blobs.setting(&format!("{}prompts", kept.saved.rows()))?
        {
            saved::restore_prompts(session, &row);
        }
        Ok(())
    }

    /// The row of a session whose messages can't be read.
    pub(crate) fn broken(&self, error: &DriverError) -> Session {
        let mut about = self.about.clone();
        about.warnings.push(Warning::new("unreadable-messages", format!("the messages could not be read: {error}")));
        self.told(&about)
    }

    /// What one look through its messages tells.
    pub(crate) fn facts(&self) -> Result<Facts, DriverError> {
        Facts::gather((self.reader)(ALL)?, self.session.created_at, self.session.last_activity_at)
    }

    /// All that can be said without the nodes, and what else was found on the way.
    pub(crate) fn in_full(&self) -> Result<(Session, Facts), DriverError> {
        let mut facts = self.facts()?;
        let mut about = self.about.clone();
        if let Some(more) = &self.more {
            more(&mut about)?;
        }
        about.stats = Some(facts.stats.clone());
        about.warnings.append(&mut facts.warnings);
        if about.title_source == "default" {
            about.first_prompt = facts.prompts.first().map(|prompt| crate::prompt::one_line(&prompt.content));
        }
        match self.typed.as_ref().map(|typed| typed()) {
            Some(Ok(typed)) if !typed.is_empty() => facts.prompts = timed(typed, &facts.prompts),
            Some(Err(warning)) => about.warnings.push(warning),
            Some(Ok(_)) | None => {}
        }
        let mut session = self.told(&about);
        session.main_chain_id = facts.tip;
        if session.checkpoints.is_empty() {
            session.checkpoints.clone_from(&facts.checkpoints);
        }
        Ok((session, facts))
    }
}

/// Prompts that the agent keeps beside the messages, with the times of the messages of the same
/// text.
fn timed(typed: Vec<String>, prompts: &[PromptHistoryEntry]) -> Vec<PromptHistoryEntry> {
    let mut left = prompts;
    let entry = |content: String| {
        let found = left.iter().position(|prompt| prompt.content.trim() == content.trim());
        let timestamp = found.map_or(0.0, |at| left[at].timestamp);
        left = &left[found.map_or(0, |at| at + 1)..];
        PromptHistoryEntry { content, timestamp, is_shell: false }
    };
    typed.into_iter().map(entry).collect()
}
