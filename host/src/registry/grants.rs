//! Which third-party components a person has allowed: `$SEPIA_HOME/grants.json` and
//! `SEPIA_DRIVER_ALLOW`. The server reads grants and never asks.

use crate::home::{self, Home};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

/// What was allowed.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    file: PathBuf,
    by_id: BTreeMap<String, Grant>,
    /// Allowed by the environment, for this process.
    by_env: BTreeSet<String>,
}

/// One driver that a person has allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// SHA-256 of the component, hexadecimal: another build is another driver.
    pub sha256: String,
    /// What it asked for when it was allowed, one line a store, for people.
    pub stores: Vec<String>,
    /// When, ISO 8601.
    pub allowed_at: String,
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    #[serde(default)]
    version: u32,
    #[serde(default)]
    drivers: BTreeMap<String, Grant>,
}

/// A grant could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("the grant could not be written to {file}: {source}")]
pub struct AllowError {
    file: String,
    source: io::Error,
}

impl Grants {
    /// Reads the grants. A file that can't be understood is kept aside and grants nothing.
    pub fn read(home: &Home, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let file = home.grants();
        let by_id = match std::fs::read(&file) {
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!("{} can't be read ({error}); no third-party driver is allowed", file.display());
                }
                BTreeMap::new()
            }
            Ok(text) => match serde_json::from_slice::<File>(&text) {
                Ok(kept) => kept.drivers,
                Err(error) => {
                    let place = file.display();
                    match home::keep_aside(&file) {
                        Ok(aside) => {
                            tracing::warn!("{place} is not readable ({error}); it was kept as {}", aside.display());
                        }
                        Err(why) => {
                            tracing::warn!("{place} is not readable ({error}) and could not be kept aside ({why})");
                        }
                    }
                    BTreeMap::new()
                }
            },
        };
        let by_env = env("SEPIA_DRIVER_ALLOW").unwrap_or_default();
        let by_env = by_env.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect();
        Self { file, by_id, by_env }
    }

    /// `Ok` when a component may have what it declares, else the reason, as one sentence.
    pub fn check(&self, id: &str, sha256: &str) -> Result<(), String> {
        if self.by_env.contains(id) {
            return Ok(());
        }
        match self.by_id.get(id) {
            Some(grant) if grant.sha256 == sha256 => Ok(()),
            Some(_) => Err(format!(
                "`{id}` is another file than the one that was allowed; look at it with `sepia driver list`, then run `sepia driver allow {id}`"
            )),
            None => Err(format!(
                "nobody has allowed `{id}` yet; look at it with `sepia driver list`, then run `sepia driver allow {id}`"
            )),
        }
    }

    /// Allows a component from now on.
    pub fn allow(&mut self, id: &str, grant: Grant) -> Result<(), AllowError> {
        self.by_id.insert(id.to_owned(), grant);
        self.write()
    }

    /// Takes a grant back; whether there was one.
    pub fn revoke(&mut self, id: &str) -> Result<bool, AllowError> {
        let had = self.by_id.remove(id).is_some();
        if had {
            self.write()?;
        }
        Ok(had)
    }

    fn write(&self) -> Result<(), AllowError> {
        let file = File { version: 1, drivers: self.by_id.clone() };
        let failed = |source| AllowError { file: self.file.display().to_string(), source };
        let text = serde_json::to_vec_pretty(&file).map_err(|e| failed(e.into()))?;
        home::replace_file(&self.file, &text).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn grants_at(folder: &std::path::Path, allowed: &str) -> Grants {
        let home = Home::from_env(&|name| (name == "SEPIA_HOME").then(|| folder.display().to_string())).unwrap();
        Grants::read(&home, &|name| (name == "SEPIA_DRIVER_ALLOW").then(|| allowed.to_owned()))
    }

    #[test]
    fn a_grant_holds_for_one_build_and_survives_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut grants = grants_at(folder.path(), "");
        assert!(grants.check("x", "aa").unwrap_err().contains("sepia driver allow x"));
        let grant = Grant { sha256: "aa".into(), stores: vec![], allowed_at: "2026-01-01T00:00:00Z".into() };
        grants.allow("x", grant).unwrap();
        let mut again = grants_at(folder.path(), "");
        assert_eq!(again.check("x", "aa"), Ok(()));
        assert!(again.check("x", "bb").unwrap_err().contains("another file"));
        assert!(again.revoke("x").unwrap());
        assert!(grants_at(folder.path(), "").check("x", "aa").is_err());
    }

    #[test]
    fn the_environment_allows_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let grants = grants_at(folder.path(), "a, b");
        assert_eq!((grants.check("a", "1"), grants.check("b", "2")), (Ok(()), Ok(())));
        assert!(grants.check("c", "3").is_err());
    }

    #[test]
    fn an_unreadable_file_grants_nothing_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("grants.json"), b"{").unwrap();
        assert!(grants_at(folder.path(), "").check("x", "aa").is_err());
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 1);
        assert!(names[0].to_string_lossy().starts_with("grants.json.unreadable-"));
    }
}
