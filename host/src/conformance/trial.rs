//! A driver on trial: brought in as the registry would, without being allowed anything, and put
//! over places that somebody chose for it.

use crate::limits::Limits;
use crate::loader::component::{Components, GrantedStore, Prepared};
use crate::loader::process::{self, ProcessDriver};
use crate::loader::{About, Driver, LoadError, Origin};
use sepia_ir::StoreRequest;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// A driver that was found fit and has no stores yet.
pub struct Trial {
    fit: Fit,
}

enum Fit {
    Component(Box<Prepared>),
    Program(Box<ProcessDriver>),
}

/// Where the stores of a trial are.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// By name of the store. A program that tells no stores: by the variable that moves one.
    pub stores: Vec<(String, PathBuf)>,
    /// What a program takes for the home directory; absent: the person's.
    pub home: Option<PathBuf>,
}

/// A driver can't be put over these places.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrialError {
    /// There is no such store.
    #[error("driver `{driver}` declares no store `{name}`; it declares {declared}")]
    UnknownStore {
        /// Id of the driver.
        driver: String,
        /// What was asked for.
        name: String,
        /// What there is.
        declared: String,
    },
    /// A program's store that nothing moves.
    #[error("the store `{name}` of the program `{driver}` can't be moved: it names no environment variable for it")]
    NotMovable {
        /// Id of the driver.
        driver: String,
        /// Name of the store.
        name: String,
    },
}

impl Trial {
    /// Brings in a component. Compiled code is kept in `cache`, if one is given.
    pub async fn component(
        wasm: &[u8],
        origin: Origin,
        limits: Limits,
        cache: Option<PathBuf>,
    ) -> Result<Self, LoadError> {
        let prepared = Components::new(limits, cache).bring_in(wasm, origin).await?;
        Ok(Self { fit: Fit::Component(Box::new(prepared)) })
    }

    /// Brings in a program: asks it who it is, which runs it once with the person's own rights.
    pub async fn program(path: &Path, limits: Limits) -> Result<Self, LoadError> {
        let manifest = process::probe(path, &limits).await?;
        Ok(Self { fit: Fit::Program(Box::new(ProcessDriver::new(path, manifest, limits)?)) })
    }

    /// What is known of it.
    pub fn about(&self) -> &About {
        match &self.fit {
            Fit::Component(prepared) => prepared.about(),
            Fit::Program(driver) => driver.about(),
        }
    }

    /// What a component imports; nothing is known of a program.
    pub fn imports(&self) -> &[String] {
        match &self.fit {
            Fit::Component(prepared) => prepared.imports(),
            Fit::Program(_) => &[],
        }
    }

    /// Stores that it declares.
    pub fn stores(&self) -> &[StoreRequest] {
        &self.about().manifest.stores
    }

    /// Fails when this is no name of a place that [`Trial::over`] takes.
    pub fn check_name(&self, name: &str) -> Result<(), TrialError> {
        let is_variable = matches!(self.fit, Fit::Program(_))
            && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit());
        if is_variable || self.stores().iter().any(|store| store.name == name) {
            return Ok(());
        }
        let names: Vec<String> = self.stores().iter().map(|store| format!("`{}`", store.name)).collect();
        let declared = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(TrialError::UnknownStore { driver: self.about().manifest.id.clone(), name: name.to_owned(), declared })
    }

    /// The driver over these places. A component reaches nothing else; a program has the
    /// person's own rights and only looks elsewhere.
    pub fn over(self, places: &Places) -> Result<Arc<dyn Driver>, TrialError> {
        for (name, _) in &places.stores {
            self.check_name(name)?;
        }
        match self.fit {
            Fit::Component(prepared) => {
                let stores = granted(&prepared.about().manifest.stores, places);
                Ok(prepared.into_driver(stores))
            }
            Fit::Program(driver) => {
                let environment = environment(driver.about(), places)?;
                Ok(Arc::new(driver.with_environment(environment)))
            }
        }
    }
}

fn granted(requests: &[StoreRequest], places: &Places) -> Vec<GrantedStore> {
    let grant = |(name, place): &(String, PathBuf)| {
        let request = requests.iter().find(|request| request.name == *name)?.clone();
        Some(GrantedStore { request, place: place.clone(), write: false, refuse: Arc::new(|_| false) })
    };
    places.stores.iter().filter_map(grant).collect()
}

/// The variables that make a program look at these places.
fn environment(about: &About, places: &Places) -> Result<Vec<(OsString, OsString)>, TrialError> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    if let Some(home) = &places.home {
        variables.push(("HOME".into(), home.into()));
        let below = [("DATA", ".local/share"), ("CONFIG", ".config"), ("STATE", ".local/state"), ("CACHE", ".cache")];
        variables.extend(below.map(|(name, place)| (format!("XDG_{name}_HOME").into(), home.join(place).into())));
    }
    for (name, place) in &places.stores {
        let Some(request) = about.manifest.stores.iter().find(|request| request.name == *name) else {
            variables.push((name.into(), place.into()));
            continue;
        };
        // A place that another store's is in moves with that one.
        if request.env.iter().any(|name| name.ends_with("/..")) {
            continue;
        }
        // The first that is set wins.
        let first = request
            .env
            .iter()
            .find(|entry| !entry.contains('/'))
            .ok_or_else(|| TrialError::NotMovable { driver: about.manifest.id.clone(), name: name.clone() })?;
        variables.push((first.into(), place.into()));
    }
    Ok(variables)
}
