//! A session read from its start to its end, in bounded memory.

use crate::assemble::{Assembler, Envelope};
use crate::gather::gather;
use crate::index::{Index, NodeKind};
use crate::lines::{Lines, MAX_LINE};
use crate::place::{self, Located, STORE, Transcript};
use crate::projection::Detail;
use crate::repairs;
use crate::save::target::Target;
use crate::stub;
use crate::summary::{envelope_of, in_full};
use sepia_ir::{DriverError, MessageNode, SaveReport, Session, SessionRef, SurveyQuery};
use sepia_sdk::{Host, Nodes};
use std::rc::Rc;

/// A node whose results are further away than this is completed by reading just them.
const PATIENCE: u64 = 8 << 20;
/// Nodes are handed over in batches of about so many bytes at most.
const BATCH: u64 = 4 << 20;

/// See the module.
pub struct ClaudeTranscript {
    header: Session,
    nodes: LineNodes,
}

/// The nodes of a session whose lines are known.
pub(crate) struct LineNodes {
    host: Host,
    path: String,
    lines: Lines,
    assembler: Assembler,
    next_line: u32,
}

/// A session looked up and looked through.
pub(crate) struct Opened {
    pub(crate) session: Session,
    pub(crate) index: Index,
    pub(crate) envelope: Envelope,
    pub(crate) path: String,
}

/// Looks a session up and through.
pub(crate) fn opened(host: &Host, session: &SessionRef) -> Result<Opened, DriverError> {
    let located = place::locate(host, session)?;
    let path = located.file.path.clone();
    let transcript = Transcript::of(&path).ok_or_else(|| DriverError::unknown_session(&session.id))?;
    let mut gathered = gather(host, &path, transcript.scope(), Detail::Counts)?;
    gathered.warnings.extend(repairs::of(host, &located.file)?);
    let rows = in_full(host, &located.file, &gathered)?;
    let found = rows.into_iter().find(|row| is_meant(&row.session, &located));
    let row = found.ok_or_else(|| DriverError::unknown_session(&session.id))?;
    let index = std::mem::take(&mut gathered.drafts[row.draft].index);
    Ok(Opened { envelope: row.envelope, session: row.session, index, path })
}

/// The tree of a located session, without its row.
pub(crate) fn tree(host: &Host, session: &SessionRef, located: &Located) -> Result<(Index, Envelope), DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    let path = &located.file.path;
    let scope = Transcript::of(path).ok_or_else(unknown)?.scope();
    let drafts = gather(host, path, scope, Detail::Tree)?.drafts;
    let found = drafts.into_iter().find(|draft| match (&located.inside, &draft.root) {
        (None, None) => true,
        (Some(inside), Some(root)) => inside == root || draft.agent_id.as_ref() == Some(inside),
        _ => false,
    });
    let draft = found.filter(|draft| draft.conversational).ok_or_else(unknown)?;
    Ok((draft.index, envelope_of(host, &located.file, scope)?))
}

/// Whether a session of a located file is the one that was asked for.
fn is_meant(session: &Session, located: &Located) -> bool {
    match located.inside.as_deref() {
        // The first row is that of the file itself.
        None => Transcript::of(&located.file.path).is_some_and(|transcript| transcript.stem == session.id),
        Some(inside) => {
            session.parent_session_id.is_some()
                && (session.agent_id.as_deref() == Some(inside) || session.id.strip_prefix("agent-") == Some(inside))
        }
    }
}

impl ClaudeTranscript {
    pub(crate) fn open(host: &Host, session: &SessionRef) -> Result<Self, DriverError> {
        let Opened { session, index, envelope, path } = opened(host, session)?;
        Ok(Self { header: session, nodes: LineNodes::new(host, path, index, envelope) })
    }
}

impl sepia_sdk::Transcript for ClaudeTranscript {
    fn header(&self) -> Session {
        self.header.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        self.nodes.batch(max)
    }
}

/// The nodes of a session that was written a moment ago: its tree has to be known, and nothing else of it. The agent
/// finds it by the directory that it works in, without looking elsewhere.
pub(crate) fn read_back(host: &Host, written: &SaveReport) -> Result<LineNodes, DriverError> {
    let path = Target::path(&written.working_directory, &written.id);
    let nothing = SurveyQuery { needles: Vec::new(), head: 0, tail: 0, max_line: 0, max_lines: 0 };
    let file = host.survey(STORE, &path, &nothing)?.file;
    let located = Located { file, inside: None };
    let session = SessionRef { id: written.id.clone(), agent_id: None };
    let (index, envelope) = tree(host, &session, &located)?;
    Ok(LineNodes::new(host, located.file.path, index, envelope))
}

impl LineNodes {
    fn new(host: &Host, path: String, index: Index, envelope: Envelope) -> Self {
        let assembler = Assembler::new(Rc::new(index), envelope, path.clone(), None);
        Self { lines: Lines::new(host.clone(), path.clone()), host: host.clone(), path, assembler, next_line: 0 }
    }

    fn feed_next(&mut self) -> Result<(), DriverError> {
        let plan = self.assembler.index.lines[self.next_line as usize];
        if plan.length > MAX_LINE {
            self.assembler.stub(self.next_line, &stub::look(&self.host, &self.path, &plan)?);
        } else {
            self.assembler.feed(self.next_line, self.lines.get(plan.offset, plan.length)?);
        }
        self.next_line += 1;
        Ok(())
    }

    /// Completes the first node in hand out of turn when what it waits for is far away; whether it did.
    fn hurry(&mut self, node: u32) -> Result<bool, DriverError> {
        let index = Rc::clone(&self.assembler.index);
        let plan = index.nodes[node as usize];
        let from = index.lines[plan.first_line as usize].offset;
        let Some(next) = index.lines.get(self.next_line as usize) else { return Ok(true) };
        if next.offset - from < PATIENCE || plan.last_line >= self.next_line {
            return Ok(false);
        }
        let mut sparse = Lines::sparse(self.host.clone(), self.path.clone());
        for line in self.next_line..=plan.answered_line {
            let of_line = index.lines[line as usize];
            let answers = index.nodes[of_line.node as usize..].iter().take_while(|n| n.first_line == line);
            if of_line.length <= MAX_LINE && answers.into_iter().any(|n| n.kind == NodeKind::Tool && n.call == node + 1)
            {
                self.assembler.feed_outcomes(line, sparse.get(of_line.offset, of_line.length)?, node);
            }
        }
        Ok(true)
    }
}

impl Nodes for LineNodes {
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let mut nodes = Vec::new();
        let mut bytes = 0;
        let max = max.max(1);
        while nodes.len() < max && (nodes.is_empty() || bytes < BATCH) {
            let more = (self.next_line as usize) < self.assembler.index.lines.len();
            if let Some(first) = self.assembler.first() {
                let complete = self.assembler.index.complete_at(first as usize) < self.next_line;
                if complete || self.hurry(first)? {
                    let plan = self.assembler.index.nodes[first as usize];
                    bytes += u64::from(self.assembler.index.lines[plan.first_line as usize].length);
                    nodes.extend(self.assembler.pop(!complete));
                    continue;
                }
            }
            if !more {
                break;
            }
            self.feed_next()?;
        }
        Ok(nodes)
    }
}

/// The row of one session, with all that can be told without its nodes.
pub(crate) fn row(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
    let mut session = opened(host, session)?.session;
    session.prompt_history = Vec::new();
    Ok(session)
}
