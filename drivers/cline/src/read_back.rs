//! The nodes of a session that was written a moment ago, to be compared: read in one look, without the index that
//! a transcript is read by.

use crate::database::Index;
use crate::elements::{Elements, End};
use crate::gather;
use crate::index::Source;
use crate::locate::locate;
use crate::session;
use crate::task;
use crate::text::Text;
use sepia_ir::{DriverError, ErrorCode, MessageNode, SessionRef};
use sepia_sdk::{Host, Nodes};

/// Bytes of messages that are handed over at once, about.
const BATCH: u64 = 1 << 20;

/// See the module.
pub(crate) struct ReadBack {
    host: Host,
    source: Source,
    elements: Elements,
    /// Number of the next node.
    next: u32,
}

impl ReadBack {
    /// Looks the session up as any reader does, and begins to read it.
    pub(crate) fn open(host: &Host, id: &str) -> Result<Self, DriverError> {
        let unknown = || DriverError::unknown_session(id);
        let database = Index::new(host, Vec::new());
        let kept = locate(host, &SessionRef { id: id.to_owned(), agent_id: None }, &database)?;
        let found = session::find(host, &kept, &database, &task::Lists::new(host))?.ok_or_else(unknown)?;
        let source = found.source.ok_or_else(unknown)?;
        let elements = Elements::new(host, source.place.clone());
        Ok(Self { host: host.clone(), source, elements, next: 1 })
    }
}

impl Nodes for ReadBack {
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let mut nodes = Vec::new();
        let mut bytes = 0;
        while nodes.len() < max.max(1) && bytes < BATCH {
            let Some(element) = self.elements.next()? else { break };
            bytes += element.length;
            let before = nodes.len();
            if let Some(element) = element.bytes {
                // What can't be read is missed when it is compared.
                let made = gather::made(&Text::of(element), self.next, self.source.dialect).ok().flatten();
                nodes.extend(made.into_iter().flat_map(|made| made.nodes));
            } else {
                let place = (element.offset, element.length);
                nodes.push(gather::stub(&self.host, &self.source.place, place, self.next)?);
            }
            self.next = self.next.saturating_add(u32::try_from(nodes.len() - before).unwrap_or(u32::MAX));
        }
        if nodes.is_empty() && self.elements.end()? != End::Whole {
            let message = format!("`{}` does not end as it was written", self.source.place.path);
            return Err(DriverError::new(ErrorCode::Store, message));
        }
        Ok(nodes)
    }
}
