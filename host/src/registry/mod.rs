//! The capability registry: which driver answers which capability for which agent.
//!
//! [`Registry::load`] is the one way to fill it, for the server and the command line alike;
//! [`LazyRegistry`] does it when a driver is needed first.
//! A driver that can't be used never stops it: it is listed with the reason and gives way to
//! the next one for the same agent.

mod discovery;
mod grants;
mod lazy;
mod load;
mod places;

pub use discovery::{Candidate, Sources};
pub use grants::{AllowError, Grant, Grants};
pub use lazy::LazyRegistry;
pub use load::Setup;
pub use places::{Refusal, StorePlace};

use crate::loader::{About, Capability, Driver, Form, LoadError, Origin, SessionRead};
use std::path::Path;
use std::sync::Arc;

/// The drivers that can be used, and all that was found.
pub struct Registry {
    drivers: Vec<Arc<dyn Driver>>,
    found: Vec<Found>,
}

/// Something that was found where drivers are looked for.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where.
    pub origin: Origin,
    /// As what it was, or would be, brought in.
    pub form: Form,
    /// What it says of itself, as far as it could be asked.
    pub about: Option<About>,
    /// SHA-256 of a component, hexadecimal.
    pub sha256: Option<String>,
    /// Its stores on this machine.
    pub stores: Vec<StorePlace>,
    /// What became of it.
    pub state: State,
}

/// What became of something that was found.
#[derive(Debug, Clone)]
pub enum State {
    /// It answers for its agent.
    InUse,
    /// Another one for the same agent was found before it.
    Shadowed {
        /// The one that answers.
        by: Origin,
    },
    /// It can't be used.
    Unusable(LoadError),
}

impl Registry {
    /// The drivers in use, in the order in which they are asked.
    pub fn drivers(&self) -> &[Arc<dyn Driver>] {
        &self.drivers
    }

    /// All that was found, in the order of the search.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The driver of an agent.
    pub fn driver(&self, agent: &str) -> Option<&Arc<dyn Driver>> {
        self.drivers.iter().find(|driver| driver.about().manifest.id == agent)
    }

    /// Where the stores of an agent's driver are; one without a place has none.
    pub fn store_places(&self, agent: &str) -> impl Iterator<Item = &Path> {
        self.stores_of(agent).iter().filter_map(|store| Some(store.place.as_ref().ok()?.path.as_path()))
    }

    /// The declared stores of an agent's driver, with their places.
    pub fn stores_of(&self, agent: &str) -> &[StorePlace] {
        let in_use = |found: &&Found| {
            matches!(found.state, State::InUse) && found.about.as_ref().is_some_and(|about| about.manifest.id == agent)
        };
        self.found.iter().find(in_use).map_or(&[][..], |found| &found.stores)
    }

    /// The drivers that read sessions, each with that side of it.
    pub fn readers(&self) -> impl Iterator<Item = (&About, &dyn SessionRead)> {
        self.drivers.iter().filter_map(|driver| Some((driver.about(), driver.session_read()?)))
    }

    /// Whether the agent's driver has a capability.
    pub fn has(&self, agent: &str, capability: Capability) -> bool {
        self.driver(agent).is_some_and(|driver| driver.about().capabilities.contains(&capability))
    }

    /// Ends whatever the drivers keep running.
    pub async fn shutdown(&self) {
        futures::future::join_all(self.drivers.iter().map(|driver| driver.shutdown())).await;
    }
}
