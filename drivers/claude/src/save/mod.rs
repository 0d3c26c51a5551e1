//! Saving a session: its nodes as records of a transcript that the agent resumes.
//!
//! ```text
//! target     which file, and what is there already
//! folder     the folder of a project
//! turn       messages and results as records
//! answer     answers
//! notes      what is no message
//! prompts    what the person typed
//! content    blocks of a message
//! own        what metadata tells of records that were the agent's own
//! fresh      ids
//! tree       parents, as the reader will see them
//! riding     what a record carries besides
//! closing    the records at the end
//! record     what all records have
//! ```
//!
//! Sub-agents are sessions of their own and are not written with the session that they worked for.

mod answer;
pub(crate) mod closing;
mod content;
mod folder;
mod fresh;
mod notes;
mod own;
pub(crate) mod prompts;
pub(crate) mod record;
mod riding;
pub(crate) mod target;
mod tree;
mod turn;

use crate::json::parse;
use crate::place::STORE;
use own::OwnSession;
use record::Records;
use sepia_ir::{DriverError, ErrorCode, Loss, LossKind, MessageNode, Role, SaveOptions, SaveReport, Session};
use sepia_sdk::{Host, NewFile};
use std::collections::HashSet;
use target::{MODE, Target};
use turn::Turns;

/// Version of the agent whose records these are like.
const VERSION: &str = "2.1.197";
/// How a session that nobody typed begins.
const ENTRYPOINT: &str = "sdk-cli";
/// What the agent notes where the directory is no repository.
const NO_BRANCH: &str = "HEAD";
/// Bytes that are written at once.
const PIECE: usize = 1 << 20;
/// Results of one answer that are waited for.
const MOST_RESULTS: usize = 256;

/// A session being written.
pub struct ClaudeDraft {
    host: Host,
    header: Session,
    target: Target,
    turns: Turns,
    /// An answer whose results come next, with those that came.
    open: Option<Open>,
    /// None until there is something to write, in a dry run, and after the end.
    file: Option<Box<dyn NewFile>>,
    /// What is to be put back when the new file turns out wrong.
    old: Option<Box<dyn NewFile>>,
    dry_run: bool,
    committed: bool,
}

/// See [`ClaudeDraft::open`].
struct Open {
    answer: MessageNode,
    results: Vec<MessageNode>,
    waiting: HashSet<String>,
}

impl ClaudeDraft {
    /// Starts writing.
    pub(crate) fn begin(host: &Host, mut header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        let target = Target::of(host, &header.id, &header.working_directory, options.replace)?;
        header.id.clone_from(&target.id);
        let own: OwnSession<'_> = parse(&header.metadata).unwrap_or_default();
        let records = Records::new(&[
            ("userType", "external"),
            ("entrypoint", own.entrypoint.filled().unwrap_or(ENTRYPOINT)),
            ("cwd", &header.working_directory),
            ("sessionId", &target.id),
            ("version", own.version.filled().unwrap_or(VERSION)),
            ("gitBranch", own.git_branch.filled().unwrap_or(NO_BRANCH)),
        ]);
        drop(own);
        let prompts = std::mem::take(&mut header.prompt_history);
        let mut turns = Turns::new(records, &header.model, header.created_at, prompts);
        if header.parent_session_id.take().is_some() | header.agent_id.take().is_some() {
            let message = "it was the sub-agent of another session, and is a session of its own here";
            turns.losses.push(Loss { kind: LossKind::Dropped, node_id: None, message: message.into() });
        }
        Ok(Self {
            host: host.clone(),
            header,
            target,
            turns,
            open: None,
            file: None,
            old: None,
            dry_run: options.dry_run,
            committed: false,
        })
    }

    fn close_answer(&mut self) {
        if let Some(open) = self.open.take() {
            self.turns.answer(open.answer, open.results);
        }
    }

    fn take(&mut self, node: MessageNode) {
        if let Some(open) = &mut self.open {
            let answers = node.role == Role::Tool
                && node.tool_call_id.as_ref().is_some_and(|call| open.waiting.remove(call))
                && open.results.len() < MOST_RESULTS;
            if answers {
                open.results.push(node);
                if open.waiting.is_empty() {
                    self.close_answer();
                }
                return;
            }
            self.close_answer();
        }
        if node.role == Role::Assistant && !node.tool_calls.is_empty() {
            let waiting = node.tool_calls.iter().map(|call| call.id.clone()).collect();
            self.open = Some(Open { answer: node, results: Vec::new(), waiting });
        } else {
            self.turns.node(node);
        }
    }

    /// Hands over what was written, when there is enough of it or at the end.
    fn pass_on(&mut self, all: bool) -> Result<(), DriverError> {
        let bytes = &mut self.turns.records.bytes;
        if !all && bytes.len() < PIECE {
            return Ok(());
        }
        if !self.dry_run {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(self.host.create(STORE, &self.target.path, MODE)?),
            };
            for piece in bytes.chunks(PIECE) {
                file.write(piece)?;
            }
        }
        bytes.clear();
        Ok(())
    }

    fn report(&mut self) -> SaveReport {
        let id = self.target.id.clone();
        SaveReport {
            losses: std::mem::take(&mut self.turns.losses),
            resume_command: vec!["claude".into(), "--resume".into(), id.clone()],
            working_directory: self.header.working_directory.clone(),
            id,
        }
    }

    /// Puts the file in its place and takes away the one that it replaces, if that was elsewhere.
    fn place(&mut self) -> Result<(), DriverError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.old = self.target.copy(&self.host)?;
        file.commit(Some(self.target.expected()))?;
        self.committed = true;
        let Some((old, _)) = self.target.old.as_ref().filter(|(old, _)| *old != self.target.path) else {
            return Ok(());
        };
        self.host.discard(STORE, old).map(drop).inspect_err(|_| {
            // Both would be listed: the new one goes again, and the error says why.
            if self.host.discard(STORE, &self.target.path).is_ok() {
                self.committed = false;
            }
        })
    }
}

impl sepia_sdk::Draft for ClaudeDraft {
    fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        for node in nodes {
            self.take(node);
            self.pass_on(false)?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<SaveReport, DriverError> {
        self.close_answer();
        if !self.turns.spoken {
            let message = "a session without a message can't be resumed by this agent, so none was written";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        closing::write(&mut self.turns, self.header.clone());
        self.pass_on(true)?;
        if !self.dry_run {
            self.place()?;
        }
        Ok(self.report())
    }

    fn undo(&mut self) -> Result<(), DriverError> {
        if !std::mem::take(&mut self.committed) {
            return Ok(());
        }
        let same_place = self.target.expected() > 0;
        if let Some(old) = self.old.take() {
            old.commit(if same_place { None } else { Some(0) })?;
        }
        if !same_place {
            self.host.discard(STORE, &self.target.path)?;
        }
        Ok(())
    }
}
