//! Finding the driver that a session belongs to.

use super::error::PlaneError;
use super::{ErrorKind, Plane};
use crate::loader::{About, Fault, SessionRead};
use std::future::Future;

/// Ids longer than this are no agent's.
const LONGEST_ID: usize = 512;

impl Plane {
    /// The readers to ask: the one of the agent, or all in their order.
    pub(super) async fn readers_for(&self, agent: Option<&str>) -> Result<Vec<(&About, &dyn SessionRead)>, PlaneError> {
        let all: Vec<_> = self.registry().await.readers().collect();
        let Some(agent) = agent else { return Ok(all) };
        let known: Vec<&str> = all.iter().map(|(about, _)| about.manifest.id.as_str()).collect();
        let one = all.iter().find(|(about, _)| about.manifest.id == agent);
        one.map(|found| vec![*found]).ok_or_else(|| PlaneError::unknown_agent(agent, &known))
    }

    /// Asks the readers one after the other until one knows the session, first the one that had
    /// it last. An id that two agents have is the first one's; `agent` tells them apart. A driver
    /// that fails does not hide
    /// the session of another, and its fault is the answer when nobody knows the session.
    pub(super) async fn first_that_knows<'a, T, F>(
        &'a self,
        id: &str,
        agent: Option<&str>,
        ask: impl Fn(&'a About, &'a dyn SessionRead) -> F,
    ) -> Result<(&'a About, T), PlaneError>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let readers = self.readers_for(agent).await?;
        if id.is_empty() || id.len() > LONGEST_ID || id.chars().any(char::is_control) {
            return Err(PlaneError::unknown_session(id));
        }
        let mut readers = readers;
        let had_it = agent.is_none().then(|| self.whereabouts.of(id)).flatten();
        if let Some(at) = readers.iter().position(|(about, _)| Some(&about.manifest.id) == had_it.as_ref()) {
            readers[..=at].rotate_right(1);
        }
        let mut failed = None;
        for (about, reader) in readers {
            match ask(about, reader).await {
                Ok(answer) => {
                    if agent.is_none() {
                        self.whereabouts.seen(std::iter::once((id, about.manifest.id.as_str())));
                    }
                    return Ok((about, answer));
                }
                Err(fault) if fault.is_not_found() => {}
                Err(fault) => {
                    tracing::warn!("{fault}");
                    failed.get_or_insert(fault);
                }
            }
        }
        match failed {
            None => Err(PlaneError::unknown_session(id)),
            Some(fault) if agent.is_some() => Err(fault.into()),
            Some(fault) => {
                let id = crate::text::clean_line(id, 80);
                let said = PlaneError::from(fault);
                let message =
                    format!("session `{id}` was not found, and not every store could be asked: {}", said.message);
                Err(PlaneError { kind: ErrorKind::Internal, message, cause: said.cause })
            }
        }
    }
}
