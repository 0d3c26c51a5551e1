//! A session read from its start to its end, in bounded memory.

use crate::about::Parts;
use crate::database::Index as Database;
use crate::gather::{self, Gathered, gather};
use crate::index::{Index, Source};
use crate::locate::locate;
use crate::place::Kept;
use crate::session::{self, Found};
use crate::task;
use crate::text::Text;
use crate::window::{Window, changed};
use sepia_ir::{DriverError, MessageNode, Session, SessionRef};
use sepia_sdk::Host;
use std::collections::VecDeque;

/// Nodes are handed over in batches of about so many bytes at most.
const BATCH: u64 = 4 << 20;
/// Looks at a transcript that is being rewritten, before what is there is taken as it is.
const LOOKS: usize = 3;

/// See the module.
pub struct ClineTranscript {
    header: Session,
    /// Nodes that are at hand.
    ready: VecDeque<MessageNode>,
    /// What is still to be read.
    rest: Option<Rest>,
}

struct Rest {
    reader: Reader,
    next: usize,
}

/// A session looked up and looked through.
pub(crate) fn opened(host: &Host, session: &SessionRef, keep: bool) -> Result<(Found, Gathered), DriverError> {
    let database = Database::new(host, Vec::new());
    let kept = locate(host, session, &database)?;
    let unknown = || DriverError::unknown_session(&session.id);
    let tasks = task::Lists::new(host);
    let mut looks = 0;
    loop {
        looks += 1;
        let mut found = session::find(host, &kept, &database, &tasks)?.ok_or_else(unknown)?;
        found.prepare(host)?;
        let mut gathered = match &found.source {
            Some(source) => gather(host, source, keep)?,
            None => Gathered::default(),
        };
        // The agent cuts its file off before it writes it anew.
        if gathered.torn && looks < LOOKS && is_rewritten(host, &kept, &database, &tasks, &found)? {
            continue;
        }
        found.with_messages(&mut gathered);
        return Ok((found, gathered));
    }
}

fn is_rewritten(
    host: &Host,
    kept: &Kept,
    database: &Database,
    tasks: &task::Lists,
    found: &Found,
) -> Result<bool, DriverError> {
    let again = session::find(host, kept, database, tasks)?.and_then(|again| again.source);
    Ok(again.map(|source| source.stamp) != found.source.as_ref().map(|source| source.stamp.clone()))
}

/// The row of one session, with all that can be told without its nodes.
pub(crate) fn row(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
    let (mut found, _) = opened(host, session, false)?;
    found.session.checkpoints = std::mem::take(&mut found.checkpoints);
    Ok(found.finish(Parts { checkpoints: true, prompts: false }))
}

impl ClineTranscript {
    pub(crate) fn open(host: &Host, session: &SessionRef) -> Result<Self, DriverError> {
        let (mut found, gathered) = opened(host, session, true)?;
        found.session.checkpoints = std::mem::take(&mut found.checkpoints);
        found.session.prompt_history = gathered.prompts;
        let source = found.source.take();
        let header = found.finish(Parts { checkpoints: true, prompts: true });
        let (ready, rest) = match (gathered.nodes, source) {
            (Some(nodes), _) => (nodes.into(), None),
            (None, Some(source)) => {
                (VecDeque::new(), Some(Rest { reader: Reader::new(host, source, gathered.index), next: 0 }))
            }
            (None, None) => (VecDeque::new(), None),
        };
        Ok(Self { header, ready, rest })
    }
}

impl sepia_sdk::Transcript for ClineTranscript {
    fn header(&self) -> Session {
        self.header.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let max = max.max(1);
        let mut bytes = 0;
        while let Some(Rest { reader, next }) = &mut self.rest {
            let Some(plan) = reader.index.messages.get(*next) else { break };
            if self.ready.len() >= max || bytes >= BATCH {
                break;
            }
            bytes += plan.length;
            self.ready.extend(reader.nodes(*next)?);
            *next += 1;
        }
        let mut size = 0;
        let count = self.ready.iter().take(max).take_while(|node| {
            let fits = size < BATCH;
            size += node.content.len() as u64;
            fits
        });
        let count = count.count();
        Ok(self.ready.drain(..count).collect())
    }
}

/// Reads messages at their known places.
pub(crate) struct Reader {
    host: Host,
    source: Source,
    window: Window,
    pub(crate) index: Index,
}

impl Reader {
    pub(crate) fn new(host: &Host, source: Source, index: Index) -> Self {
        let window = Window::new(host.clone(), source.place.clone());
        Self { host: host.clone(), source, window, index }
    }

    /// The nodes of a message, complete.
    pub(crate) fn nodes(&mut self, message: usize) -> Result<Vec<MessageNode>, DriverError> {
        let place = &self.source.place;
        let Some(plan) = self.index.messages.get(message).copied() else { return Ok(Vec::new()) };
        let length = u32::try_from(plan.length).ok().filter(|length| *length as usize <= crate::elements::LONGEST);
        let mut nodes = if let Some(length) = length {
            let text = Text::of(self.window.get(plan.offset, length)?);
            let made = gather::made(&text, plan.first, self.source.dialect).ok().flatten();
            made.map(|made| made.nodes).ok_or_else(|| changed(&place.path))?
        } else {
            vec![gather::stub(&self.host, place, (plan.offset, plan.length), plan.first)?]
        };
        if nodes.len() != plan.nodes as usize {
            return Err(changed(&place.path));
        }
        let position = u32::try_from(message).unwrap_or(u32::MAX);
        for node in &mut nodes {
            self.index.complete_early(node, position);
            self.index.complete_late(node, position);
        }
        Ok(nodes)
    }
}
