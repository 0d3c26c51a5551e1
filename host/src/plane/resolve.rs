//! From the beginning of an id to the session that is meant.

use super::error::PlaneError;
use super::{ErrorKind, Plane};
use futures::future::join_all;
use std::collections::BTreeSet;

/// A session, by its whole id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Its agent, when that is known already.
    pub agent: Option<String>,
    /// Its id.
    pub id: String,
}

/// Candidates that are named when several sessions begin alike.
const NAMED: usize = 5;
/// Ids of this length are mostly whole: those of some agents are UUIDs, and nobody types so much.
const WHOLE: usize = 16;

impl Plane {
    /// Whether what was given is so long that it mostly is a whole id.
    pub fn may_be_whole(given: &str) -> bool {
        given.len() >= WHOLE
    }

    /// Finds the session whose id is, or alone begins with, `given`. Ids that only reading a
    /// session would tell are taken as they are; reading them says whether they exist.
    pub async fn resolve(&self, given: &str, agent: Option<&str>) -> Result<Resolved, PlaneError> {
        let readers = self.readers_for(agent).await?;
        if given.is_empty() {
            return Err(PlaneError::new(ErrorKind::Invalid, "the id is empty; `sepia list` shows the ids"));
        }
        // A whole id is the first agent's that has it, and mostly it is whole when it is long: then the others need
        // not be asked. The beginning of one may be any agent's.
        let mut scans: Vec<_> = readers.iter().map(|_| None).collect();
        if !Self::may_be_whole(given) {
            scans = join_all(readers.iter().map(|(_, reader)| reader.scan())).await.into_iter().map(Some).collect();
        }
        let mut matching = BTreeSet::new();
        for ((about, reader), scan) in readers.iter().zip(scans) {
            let report = match scan {
                Some(report) => report,
                None => reader.scan().await,
            };
            // A store that can't be scanned is told when the session is read.
            for entry in report.map(|report| report.entries).unwrap_or_default() {
                let Some(id) = entry.session_id.filter(|id| id.starts_with(given)) else { continue };
                let found = Resolved { agent: Some(about.manifest.id.clone()), id };
                if found.id == given {
                    return Ok(found);
                }
                matching.insert((found.id, found.agent));
            }
        }
        if matching.len() > 1 {
            let named: Vec<&str> = matching.iter().map(|(id, _)| id.as_str()).take(NAMED).collect();
            let more = match matching.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (many, shown) = (matching.len(), crate::text::clean_line(given, 80));
            let message =
                format!("{many} sessions begin with `{shown}`: {}{more}; write more of the id", named.join(", "));
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        let as_given = || Resolved { agent: agent.map(str::to_owned), id: given.to_owned() };
        Ok(matching.into_iter().next().map_or_else(as_given, |(id, agent)| Resolved { agent, id }))
    }
}
