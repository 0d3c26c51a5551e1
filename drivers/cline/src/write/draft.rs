//! A session being saved.

use super::encode::{Encoded, Encoder};
use super::ids;
use super::manifest::{self, Learned};
use super::output::{MODE, Output, TAIL, head};
use super::placed::{Placed, absolute, find};
use super::rows::Change;
use super::tree::{Tree, left};
use crate::database::Index;
use crate::gather::is_typed;
use crate::place::{Folder, Kept, SESSIONS, STORE};
use crate::time;
use sepia_ir::{DriverError, ErrorCode, LogLevel, Loss, LossKind, MessageNode, Role, SaveOptions, SaveReport, Session};
use sepia_sdk::Host;
use std::collections::HashSet;

/// Bytes of messages that wait until it is known which branch they are of. Of sessions without
/// branches that were left, and that is most, nothing has to be known.
const WAITING: usize = 16 << 20;
/// Losses that are told one by one.
const MOST_LOSSES: usize = 10_000;

/// See the module.
pub struct ClineDraft {
    host: Host,
    header: Session,
    /// Folder of the session, relative to the store.
    folder: String,
    /// Path of the transcript, relative to the store.
    transcript: String,
    /// Bytes of what stands there: of a save that was never finished, or that could not be taken away.
    stray: u64,
    /// What the session stands in for.
    before: Option<Placed>,
    dry_run: bool,
    output: Option<Output>,
    encoder: Encoder,
    tree: Tree,
    waiting: Vec<Encoded>,
    waiting_bytes: usize,
    /// Nodes that were written while it was not known of which branch they are.
    early: Vec<i64>,
    learned: Learned,
    prompts: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Writing,
    /// The session is in its place.
    Placed,
    /// Nothing is left to do.
    Over,
}

impl ClineDraft {
    /// Begins one.
    pub(crate) fn begin(host: &Host, mut header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        if !header.working_directory.starts_with('/') {
            let message =
                "the session has no working directory, and the agent resumes it in one: give an absolute path";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let mut before = None;
        let mut stray = 0;
        if header.id.is_empty() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let began = time::milliseconds(if header.created_at > 0.0 { header.created_at } else { manifest::now() })
                .clamp(1e12, 9.999e12) as u64;
            // Other folders are not looked into: no sub-agent is called by a time and five letters alone.
            let index = Index::new(host, Vec::new());
            let taken =
                |id: &str| Ok(!Folder::look(host, id)?.files.is_empty() || matches!(index.row(id), Ok(Some(_))));
            header.id = ids::fresh(began, taken)?;
        } else {
            ids::check(&header.id)?;
            match find(host, &header.id)? {
                Some(_) if !options.replace => {
                    let message = format!("there is a session `{}` already; replace it, or take another id", header.id);
                    return Err(DriverError::new(ErrorCode::Conflict, message));
                }
                Some(Kept::Folder(_) | Kept::Row(_)) => before = Some(Placed::look(host, &header.id)?),
                Some(Kept::Agent { .. } | Kept::Task { .. }) => {
                    let message =
                        format!("session `{}` is of a kind that can't be replaced; take another id", header.id);
                    return Err(DriverError::new(ErrorCode::Unsupported, message));
                }
                None => stray = Folder::look(host, &header.id)?.messages().map_or(0, |file| file.bytes),
            }
        }
        let folder = format!("{SESSIONS}/{}", header.id);
        let (transcript, stray) = match &before {
            Some(before) => before.other_transcript(&header.id),
            None => (format!("{folder}/{}{}", header.id, crate::place::MESSAGES), stray),
        };
        let now = manifest::now();
        let updated = manifest::iso(header.last_activity_at).filter(|_| header.last_activity_at <= now);
        let updated = updated.or_else(|| manifest::iso(now)).unwrap_or_default();
        let path = (!options.dry_run).then_some(transcript.as_str());
        let output = Output::begin(host, path, head(&header.id, &updated, None).as_bytes())?;
        Ok(Self {
            host: host.clone(),
            encoder: Encoder::new(&header.id, &header.agent_mode, header.created_at),
            learned: Learned { same_prompts: true, ..Learned::default() },
            header,
            folder,
            transcript,
            stray,
            before,
            dry_run: options.dry_run,
            output: Some(output),
            tree: Tree::default(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            early: Vec::new(),
            prompts: 0,
            state: State::Writing,
        })
    }

    /// Learns what the manifest will say of the messages.
    fn learn(&mut self, node: &MessageNode) {
        if node.role != Role::User || !is_typed(node) {
            return;
        }
        if self.learned.prompt.is_none() && !node.content.is_empty() {
            self.learned.prompt = Some(node.content.clone());
        }
        let same = self.header.prompt_history.get(self.prompts).is_some_and(|prompt| {
            !prompt.is_shell
                && prompt.content == node.content
                && prompt.timestamp.to_bits() == time::milliseconds(node.created_at).to_bits()
        });
        self.prompts += 1;
        self.learned.same_prompts &= same;
    }

    fn write(&mut self, encoded: Encoded, side: bool) -> Result<(), DriverError> {
        let place = self.tree.place(encoded.node_id, encoded.parent, side);
        if let Some(usage) = encoded.usage.filter(|_| encoded.seen) {
            let sum = |known: Option<f64>, more: Option<f64>| match (known, more) {
                (Some(known), Some(more)) => Some(known + more),
                (known, more) => known.or(more),
            };
            let total = &mut self.learned.usage;
            total.input += usage.input;
            total.output += usage.output;
            total.cache_read = sum(total.cache_read, usage.cache_read);
            total.cache_write = sum(total.cache_write, usage.cache_write);
            total.cost = sum(total.cost, usage.cost);
        }
        match &mut self.output {
            Some(output) => output.message(encoded.json(place).as_bytes()),
            None => Err(DriverError::new(ErrorCode::Invalid, "the session is in its place already")),
        }
    }

    /// Writes what waits longest, so that not too much does.
    fn relieve(&mut self) -> Result<(), DriverError> {
        if self.waiting_bytes <= WAITING {
            return Ok(());
        }
        let mut bytes = self.waiting_bytes;
        let more = |encoded: &&Encoded| {
            let more = bytes > WAITING / 2;
            bytes = bytes.saturating_sub(encoded.bytes());
            more
        };
        let count = self.waiting.iter().take_while(more).count();
        let first: Vec<Encoded> = self.waiting.drain(..count).collect();
        for encoded in first {
            self.waiting_bytes -= encoded.bytes();
            self.early.push(encoded.node_id);
            self.write(encoded, false)?;
        }
        Ok(())
    }

    /// Writes all that waits, each as what it is.
    fn write_waiting(&mut self) -> Result<(), DriverError> {
        let waiting = std::mem::take(&mut self.waiting);
        let left = left(&waiting, self.header.main_chain_id, &self.tree);
        self.tell_of_early(&waiting, &left);
        for encoded in waiting {
            let side = left.contains(&encoded.node_id);
            if !side {
                self.write(encoded, false)?;
                continue;
            }
            if encoded.seen {
                let message = "the node is of a branch that was left; it is carried and not shown to the model";
                let node_id = Some(encoded.node_id);
                self.encoder.losses.push(Loss { kind: LossKind::MetadataOnly, node_id, message: message.to_owned() });
            }
            self.write(encoded.hidden(), true)?;
        }
        self.waiting_bytes = 0;
        Ok(())
    }

    /// Declares nodes of branches that were left, when they were written before that was known.
    fn tell_of_early(&mut self, waiting: &[Encoded], left: &HashSet<i64>) {
        let Some(first) = waiting.iter().find(|encoded| !left.contains(&encoded.node_id)) else { return };
        let Some(fork) = first.parent.and_then(|parent| self.early.iter().position(|node| *node == parent)) else {
            return;
        };
        let message =
            "the node is of a branch that was left, far back in a long session; it stands in the conversation";
        let losses = self.early[fork + 1..].iter().map(|node| Loss {
            kind: LossKind::Mapped,
            node_id: Some(*node),
            message: message.to_owned(),
        });
        self.encoder.losses.extend(losses);
    }

    fn report(&mut self) -> SaveReport {
        let mut losses = std::mem::take(&mut self.encoder.losses);
        if self.header.parent_session_id.is_some() || self.header.agent_id.is_some() {
            let message = "the session was another's sub-agent; here it is a session of its own".to_owned();
            losses.push(Loss { kind: LossKind::Dropped, node_id: None, message });
        }
        if losses.len() > MOST_LOSSES {
            // What excuses a node of being as it was has to stay.
            let more = losses.len();
            losses.retain(|loss| loss.kind != LossKind::MetadataOnly || loss.node_id.is_none());
            let message = format!("{} nodes are carried and not shown to the model", more - losses.len());
            losses.push(Loss { kind: LossKind::MetadataOnly, node_id: None, message });
        }
        SaveReport {
            id: self.header.id.clone(),
            losses,
            // The agent's terminal program takes the session by its id, and nothing else with it.
            resume_command: vec!["cline".to_owned(), "--id".to_owned(), self.header.id.clone()],
            working_directory: self.header.working_directory.clone(),
        }
    }

    /// Puts transcript, row and manifest in their places.
    fn place(&mut self, json: &str, columns: &[(&'static str, sepia_ir::SqlValue)]) -> Result<(), DriverError> {
        let Some(output) = self.output.take() else {
            return Err(DriverError::new(ErrorCode::Invalid, "the session is in its place already"));
        };
        output.finish(TAIL, Some(self.stray))?;
        let manifest = format!("{}/{}.json", self.folder, self.header.id);
        let there =
            self.before.as_ref().and_then(|before| before.manifest.as_ref()).map_or(0, |(_, bytes)| bytes.len());
        let change = match self.before.as_ref().and_then(|before| before.row.as_ref()) {
            Some(_) => {
                let change = Change::begin(&self.host)?;
                change.update(&self.header.id, columns)?;
                change.update(
                    &self.header.id,
                    &[(
                        "updated_at",
                        manifest::iso(manifest::now()).map_or(sepia_ir::SqlValue::Null, sepia_ir::SqlValue::Text),
                    )],
                )?;
                Some(change)
            }
            None => None,
        };
        self.host.replace(STORE, &manifest, json.as_bytes(), MODE, Some(there as u64))?;
        self.state = State::Placed;
        change.map_or(Ok(()), Change::commit)
    }

    /// Takes away what was written of it, when nothing was there before.
    fn take_away(&mut self) -> Result<(), DriverError> {
        let path = if self.before.is_some() { &self.transcript } else { &self.folder };
        match self.host.discard(STORE, path) {
            Err(error) if error.code != ErrorCode::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Brings back the manifest and the row that were there before.
    fn bring_back(&self) -> Result<(), DriverError> {
        let Some(before) = &self.before else { return Ok(()) };
        let change = match &before.row {
            Some(row) => {
                let change = Change::begin(&self.host)?;
                change.reset(row)?;
                Some(change)
            }
            None => None,
        };
        match &before.manifest {
            Some((path, bytes)) => self.host.replace(STORE, path, bytes, MODE, None)?,
            None => drop(self.host.discard(STORE, &format!("{}/{}.json", self.folder, self.header.id))?),
        }
        change.map_or(Ok(()), Change::commit)
    }
}

impl sepia_sdk::Draft for ClineDraft {
    fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        for node in nodes {
            self.learn(&node);
            let encoded = self.encoder.encode(&node);
            self.waiting_bytes += encoded.bytes();
            self.waiting.push(encoded);
        }
        self.relieve()
    }

    fn commit(&mut self) -> Result<SaveReport, DriverError> {
        self.write_waiting()?;
        self.learned.same_prompts &= self.prompts == self.header.prompt_history.len();
        let path = absolute(&self.host, &self.transcript)?;
        let made = manifest::of(&self.host, &self.header.id, &self.header, &path, &self.learned)?;
        if let Some(lost) = made.lost {
            self.encoder.losses.push(Loss { kind: LossKind::Dropped, node_id: None, message: lost.to_owned() });
        }
        if self.dry_run {
            self.state = State::Over;
            return Ok(self.report());
        }
        if let Err(error) = self.place(&made.json, &made.columns) {
            let undone = self.undo();
            return Err(match undone {
                Ok(()) => error,
                Err(more) => {
                    DriverError::new(error.code, format!("{error}; taking back what was written failed too: {more}"))
                }
            });
        }
        Ok(self.report())
    }

    fn undo(&mut self) -> Result<(), DriverError> {
        let placed = std::mem::replace(&mut self.state, State::Over) == State::Placed;
        if self.dry_run {
            return Ok(());
        }
        if placed {
            self.bring_back()?;
        }
        self.take_away()
    }
}

impl Drop for ClineDraft {
    fn drop(&mut self) {
        if self.state != State::Placed {
            return;
        }
        // The session is in its place and was read back: what it stands in for goes.
        let Some(before) = &self.before else { return };
        for file in before.transcript.iter().chain(&before.compaction).filter(|file| file.path != self.transcript) {
            if let Err(error) = self.host.discard(STORE, &file.path) {
                let message = format!("`{}` is no longer used and could not be taken away: {error}", file.path);
                self.host.log(LogLevel::Warn, &message);
            }
        }
    }
}
