//! Filling the registry: bring in what was found, decide who answers for which agent, and give
//! each driver the stores that it may have.

use super::discovery::{Candidate, Sources};
use super::grants::Grants;
use super::places::{self, Forbidden, StorePlace};
use super::{Found, Registry, State};
use crate::embedded::Embedded;
use crate::environment::Environment;
use crate::home::Home;
use crate::limits::Limits;
use crate::loader::component::{Components, GrantedStore, Prepared};
use crate::loader::process::{self, ProcessDriver};
use crate::loader::{About, Driver, Form, LoadError, LoadErrorKind, Origin};
use futures::future::join_all;
use sepia_ir::StoreAccess;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the registry is filled from.
#[derive(Clone)]
pub struct Setup {
    /// Our own files.
    pub home: Home,
    /// Bounds of every call.
    pub limits: Limits,
    /// Where to look.
    pub sources: Sources,
    /// Components built in.
    pub embedded: &'static [Embedded],
    /// Where the stores are.
    pub env: Environment,
}

/// Something that was brought in, before it is known whether it is used.
enum Brought {
    Component(Box<Prepared>),
    Program(Arc<dyn Driver>),
}

impl Brought {
    fn about(&self) -> &About {
        match self {
            Self::Component(prepared) => prepared.about(),
            Self::Program(driver) => driver.about(),
        }
    }
}

impl Registry {
    /// Looks everywhere, brings in what is there, and decides. Never fails: what can't be used
    /// is listed with the reason.
    pub async fn load(setup: &Setup) -> Self {
        let names: Vec<&'static str> = setup.embedded.iter().map(|built_in| built_in.name).collect();
        let candidates = setup.sources.candidates(&names);
        let components = Components::new(setup.limits.clone(), Some(setup.home.component_cache()));
        let bringing = candidates.iter().map(|candidate| bring_in(candidate, setup, &components));
        let brought = join_all(bringing).await;
        let text_env = |name: &str| setup.env.text(name);
        let mut choice = Choice {
            setup,
            grants: Grants::read(&setup.home, &text_env),
            places: claimed_places(&brought, &setup.env),
            answering: HashMap::new(),
            registry: Self { drivers: Vec::new(), found: Vec::new() },
        };
        for (candidate, brought) in candidates.into_iter().zip(brought) {
            choice.decide(candidate, brought);
        }
        choice.registry
    }
}

async fn bring_in(candidate: &Candidate, setup: &Setup, components: &Components) -> Result<Brought, LoadError> {
    match (&candidate.origin, candidate.form) {
        (Origin::Embedded, _) => {
            let built_in = setup.embedded.iter().find(|built_in| Some(built_in.name) == candidate.embedded);
            let built_in =
                built_in.ok_or_else(|| LoadError::new(LoadErrorKind::File, "it is not built into this program"))?;
            let prepared = components.bring_in_embedded(built_in).await?;
            Ok(Brought::Component(Box::new(prepared)))
        }
        (Origin::File(path), Form::Component) => {
            let bytes = read_bounded(path, setup.limits.component_file).await?;
            let prepared = components.bring_in(&bytes, candidate.origin.clone()).await?;
            Ok(Brought::Component(Box::new(prepared)))
        }
        (Origin::File(_), Form::Library) => {
            let message = "native libraries run without a sandbox and are not brought in by this build; ship the driver as a component, or as a program";
            Err(LoadError::new(LoadErrorKind::Start, message))
        }
        (Origin::File(path), Form::Process) => {
            let manifest = process::probe(path, &setup.limits).await?;
            Ok(Brought::Program(Arc::new(ProcessDriver::new(path, manifest, setup.limits.clone())?)))
        }
    }
}

/// Reads a component that is no larger than it may be.
async fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
    let failed = |e: std::io::Error| LoadError::new(LoadErrorKind::File, format!("the file can't be read: {e}"));
    let meta = tokio::fs::metadata(path).await.map_err(failed)?;
    if !meta.is_file() {
        return Err(LoadError::new(LoadErrorKind::File, "it is no regular file"));
    }
    if meta.len() > limit {
        let message = format!(
            "the file has {} bytes and a component may have {limit}; SEPIA_DRIVER_FILE_MB raises that",
            meta.len()
        );
        return Err(LoadError::new(LoadErrorKind::File, message));
    }
    tokio::fs::read(path).await.map_err(failed)
}

/// The stores of the built-in drivers, by agent: nobody else is shown them.
fn claimed_places(brought: &[Result<Brought, LoadError>], env: &Environment) -> Vec<(String, PathBuf)> {
    let built_in = brought.iter().flatten().map(Brought::about).filter(|about| about.origin == Origin::Embedded);
    let of_one = |about: &About| {
        let id = about.manifest.id.clone();
        let stores = places::resolve(&about.manifest, &|name| env.get(name));
        let placed = stores.into_iter().filter_map(|store| store.place.ok());
        // What merely lies beside a file that was put somewhere is not the driver's alone.
        let own = placed.filter(|place| place.moved_by.as_ref().is_none_or(|name| !name.ends_with("/..")));
        own.map(move |place| (id.clone(), place.path))
    };
    built_in.flat_map(of_one).collect()
}

struct Choice<'a> {
    setup: &'a Setup,
    grants: Grants,
    /// Stores of drivers, each with its agent.
    places: Vec<(String, PathBuf)>,
    /// Who answers for an agent.
    answering: HashMap<String, Origin>,
    registry: Registry,
}

impl Choice<'_> {
    fn decide(&mut self, candidate: Candidate, brought: Result<Brought, LoadError>) {
        let mut found = Found {
            origin: candidate.origin,
            form: candidate.form,
            about: None,
            sha256: None,
            stores: Vec::new(),
            state: State::InUse,
        };
        match brought {
            Err(error) => found.state = State::Unusable(error),
            Ok(brought) => {
                let about = brought.about().clone();
                found.stores = places::resolve(&about.manifest, &|name| self.setup.env.get(name));
                if let Brought::Component(prepared) = &brought {
                    found.sha256 = Some(prepared.sha256().to_owned());
                }
                let id = about.manifest.id.clone();
                found.about = Some(about);
                if let Some(by) = self.answering.get(&id) {
                    found.state = State::Shadowed { by: by.clone() };
                } else {
                    match self.put_to_use(brought, &found) {
                        Ok(driver) => {
                            self.answering.insert(id.clone(), found.origin.clone());
                            let claimed = found.stores.iter().filter_map(|store| store.place.as_ref().ok());
                            self.places.extend(claimed.map(|place| (id.clone(), place.path.clone())));
                            self.registry.drivers.push(driver);
                        }
                        Err(error) => found.state = State::Unusable(error),
                    }
                }
            }
        }
        if let State::Unusable(error) = &found.state {
            tracing::debug!("driver {:?} can't be used: {error}", found.origin);
        }
        self.registry.found.push(found);
    }

    fn put_to_use(&self, brought: Brought, found: &Found) -> Result<Arc<dyn Driver>, LoadError> {
        match brought {
            Brought::Program(driver) => Ok(driver),
            Brought::Component(prepared) => {
                let id = &prepared.about().manifest.id;
                let built_in = found.origin == Origin::Embedded;
                if !built_in {
                    let allowed = self.grants.check(id, prepared.sha256());
                    allowed.map_err(|reason| LoadError::new(LoadErrorKind::Blocked, reason))?;
                }
                let others = self.places.iter().filter(|(other, _)| other != id).map(|(_, place)| place.clone());
                // What is built in may keep its stores inside one another's.
                let others: Vec<PathBuf> = if built_in { Vec::new() } else { others.collect() };
                let forbidden = Forbidden::new(&self.setup.home, &|name| self.setup.env.get(name), others.into_iter());
                let stores = granted(&found.stores, &forbidden)?;
                Ok(prepared.into_driver(stores))
            }
        }
    }
}

/// The stores that a component gets. A store without a place is not granted and not missed: it
/// is an empty listing, and `sepia doctor` tells.
fn granted(stores: &[StorePlace], forbidden: &Forbidden) -> Result<Vec<GrantedStore>, LoadError> {
    let refuse = forbidden.clone().into_refusal();
    let with_place = stores.iter().filter_map(|store| Some((store, store.place.as_ref().ok()?)));
    let real = |place: &sepia_services::Place| place.path.canonicalize().unwrap_or_else(|_| place.path.clone());
    // Where a file was put beside what is never granted, what else is there is not asked for.
    let is_beside = |place: &sepia_services::Place| place.moved_by.as_ref().is_some_and(|name| name.ends_with("/.."));
    let with_place = with_place.filter(|found| !(is_beside(found.1) && forbidden.covers(&real(found.1))));
    let grant = |(store, place): (&StorePlace, &sepia_services::Place)| {
        if forbidden.covers(&real(place)) {
            let hint =
                store.request.env.first().map(|name| format!("; set {name} to the folder itself")).unwrap_or_default();
            let message = format!(
                "its store `{}` would be {}, which is never granted{hint}",
                store.request.name,
                place.path.display()
            );
            return Err(LoadError::new(LoadErrorKind::Blocked, message));
        }
        Ok(GrantedStore {
            request: store.request.clone(),
            place: place.path.clone(),
            write: store.request.access == StoreAccess::ReadWrite,
            refuse: Arc::clone(&refuse),
        })
    };
    with_place.map(grant).collect()
}
