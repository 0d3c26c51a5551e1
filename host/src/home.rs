//! What lies under `$SEPIA_HOME`: paths, the identity of this machine, and how a file there is
//! written. Nothing is created before it is needed.

mod lock_file;

pub use lock_file::LockFile;

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The folder that is ours.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    meta: PathBuf,
}

/// Who this machine is, for whoever reads sessions of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Node {
    /// `node_` and 16 hexadecimal digits, minted once.
    pub id: String,
    /// Name for people.
    #[serde(default)]
    pub name: String,
}

/// There is no place for our own files.
#[derive(Debug, thiserror::Error)]
#[error("neither SEPIA_HOME nor HOME is set; set SEPIA_HOME to a folder for sepia's own files")]
pub struct NoHome;

impl Home {
    /// `$SEPIA_HOME`, else `~/.local/share/sepia`. `$SEPIA_META_PATH`, or `$SEPIA_META`, moves the
    /// overlay alone.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, NoHome> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = set("SEPIA_HOME").or_else(|| Some(set("HOME")?.join(".local/share/sepia"))).ok_or(NoHome)?;
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let root = absolute(root);
        let meta =
            set("SEPIA_META_PATH").or_else(|| set("SEPIA_META")).map_or_else(|| root.join("meta.json"), absolute);
        Ok(Self { root, meta })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Compiled code of components, and the key that authenticates it.
    pub fn component_cache(&self) -> PathBuf {
        self.root.join("cache/components")
    }

    /// Rows of session lists, kept until their sessions change.
    pub fn row_cache(&self) -> PathBuf {
        self.root.join("cache/rows")
    }

    /// Which drivers a person has allowed.
    pub fn grants(&self) -> PathBuf {
        self.root.join("grants.json")
    }

    /// What is known of sessions beside their stores, and projects.
    pub fn meta(&self) -> &Path {
        &self.meta
    }

    /// Drivers that a person has put beside our own files.
    pub fn drivers(&self) -> PathBuf {
        self.root.join("drivers")
    }

    /// What was deleted or written over, until it is brought back or thrown away.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// The log of what happened in live sessions.
    pub fn events(&self) -> PathBuf {
        self.root.join("events.db")
    }

    /// Which agents run for processes of ours.
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    /// Takes a lock of this name, which processes of ours respect; none when another has it.
    pub fn lock(&self, name: &str) -> io::Result<Option<LockFile>> {
        LockFile::take(self.root.join("locks").join(name))
    }

    /// Who this machine is: read from `node.json`, which is written on first use. Several
    /// processes that start at once agree on one identity.
    ///
    /// A file that can't be understood is kept aside under another name. Where nothing can be
    /// written, the identity holds for this process only, and the log says so.
    pub fn node(&self, fallback_name: &str) -> Node {
        let path = self.root.join("node.json");
        match Self::read_node(&path) {
            Ok(Some(node)) => return named(node, fallback_name),
            Ok(None) => {}
            Err(error) => tracing::warn!("{}: {error}", path.display()),
        }
        let fresh = named(Node { id: fresh_id(), name: String::new() }, fallback_name);
        match self.mint(&path, &fresh) {
            Ok(node) => named(node, fallback_name),
            Err(error) => {
                tracing::warn!(
                    "{} can't be written ({error}); this machine's id holds for this process only",
                    path.display()
                );
                fresh
            }
        }
    }

    /// `None` when there is no file, or none that can be understood.
    fn read_node(path: &Path) -> io::Result<Option<Node>> {
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        match serde_json::from_slice::<Node>(&text) {
            Ok(node) if !node.id.is_empty() => Ok(Some(node)),
            _ => {
                let aside = keep_aside(path)?;
                tracing::warn!("{} is not readable as an identity; it was kept as {}", path.display(), aside.display());
                Ok(None)
            }
        }
    }

    /// Writes the identity unless another process was first, and says which one holds.
    fn mint(&self, path: &Path, fresh: &Node) -> io::Result<Node> {
        fs::create_dir_all(&self.root)?;
        let mut file = unseen_in(&self.root)?;
        serde_json::to_writer(&mut file, fresh)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(fresh.clone()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Self::read_node(path)?.unwrap_or_else(|| fresh.clone()))
            }
            Err(error) => Err(error.error),
        }
    }
}

/// A file in a folder of ours that is not in its place yet; dropped, it is gone. What processes of ours that were
/// killed left there goes first.
pub fn unseen_in(folder: &Path) -> io::Result<NamedTempFile> {
    sepia_services::unseen_swept(folder);
    tempfile::Builder::new().prefix(&sepia_services::unseen_name()).rand_bytes(0).tempfile_in(folder)
}

/// Replaces a file of ours whole: written beside, synced, renamed, its directory synced.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = unseen_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    fs::File::open(folder)?.sync_all()
}

/// Moves a file that can't be understood out of the way, beside itself, and says where to.
pub fn keep_aside(path: &Path) -> io::Result<PathBuf> {
    keep_aside_as(path, "unreadable")
}

/// The same, with what is wrong with it in its new name.
pub fn keep_aside_as(path: &Path, what: &str) -> io::Result<PathBuf> {
    let stamp = jiff::Timestamp::now().as_millisecond();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{what}-{stamp}"));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside)?;
    Ok(aside)
}

fn fresh_id() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("node_{}", &random[..16])
}

fn named(mut node: Node, fallback: &str) -> Node {
    if node.name.is_empty() {
        fallback.clone_into(&mut node.name);
    }
    node
}

/// Name for a machine that has none in its identity: `$SEPIA_NAME`, else the host's name.
pub fn machine_name(env: &dyn Fn(&str) -> Option<String>) -> String {
    env("SEPIA_NAME")
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn home(folder: &Path) -> Home {
        let root = folder.join("home");
        Home { meta: root.join("meta.json"), root }
    }

    #[test]
    fn the_identity_is_minted_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = home(folder.path()).node("here");
        assert!(first.id.starts_with("node_") && first.id.len() == 21, "{first:?}");
        assert_eq!(first.name, "here");
        assert_eq!(home(folder.path()).node("elsewhere"), first);
    }

    #[test]
    fn processes_that_start_at_once_agree() {
        let folder = tempfile::tempdir().unwrap();
        let ids: std::collections::HashSet<String> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..8).map(|_| scope.spawn(|| home(folder.path()).node("x").id)).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(ids.len(), 1);
    }

    #[test]
    fn an_unreadable_identity_is_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        fs::create_dir_all(home.root()).unwrap();
        fs::write(home.root().join("node.json"), b"{\"id\":\"no").unwrap();
        let node = home.node("here");
        assert_eq!(home.node("here"), node);
        let kept = fs::read_dir(home.root())
            .unwrap()
            .map(|e| e.unwrap().path())
            .find(|p| p.to_string_lossy().contains(".unreadable-"));
        assert_eq!(fs::read(kept.unwrap()).unwrap(), b"{\"id\":\"no");
    }

    #[test]
    fn where_nothing_can_be_written_there_is_still_an_identity() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("home"), b"a file, not a folder").unwrap();
        assert!(home(folder.path()).node("here").id.starts_with("node_"));
    }

    #[test]
    fn what_a_killed_process_began_goes_with_the_next_write() {
        let folder = tempfile::tempdir().unwrap();
        // No process starts with the machine and has the greatest number.
        fs::write(folder.path().join(".sepia-4194303-1-0.tmp"), b"half").unwrap();
        fs::write(folder.path().join("meta.json"), b"old").unwrap();
        replace_file(&folder.path().join("meta.json"), b"new").unwrap();
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["meta.json"]);
        assert_eq!(fs::read(folder.path().join("meta.json")).unwrap(), b"new");
    }
}
