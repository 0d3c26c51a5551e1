//! A script as a file.

use super::{Reaction, Script, Step};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, fmt, fs, io};

static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// A script cannot be used.
#[derive(Debug)]
pub enum ScriptError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// It is no script; the parser says why.
    Malformed(PathBuf, serde_json::Error),
    /// It says something that has no meaning.
    Meaningless(PathBuf, String),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, e) => write!(f, "the script {} could not be read: {e}", path.display()),
            Self::Malformed(path, e) => write!(f, "{} is no script: {e}", path.display()),
            Self::Meaningless(path, why) => write!(f, "{} is no script: {why}", path.display()),
        }
    }
}

impl error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(_, e) => Some(e),
            Self::Malformed(_, e) => Some(e),
            Self::Meaningless(..) => None,
        }
    }
}

impl Script {
    /// Reads a script.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = fs::read(path).map_err(|e| ScriptError::Io(path.to_owned(), e))?;
        let script: Self = serde_json::from_slice(&text).map_err(|e| ScriptError::Malformed(path.to_owned(), e))?;
        script.check().map_err(|why| ScriptError::Meaningless(path.to_owned(), why))?;
        Ok(script)
    }

    /// Writes it into a folder, under a name that no other script of this process has.
    pub fn write(&self, folder: impl AsRef<Path>) -> io::Result<PathBuf> {
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let path = folder.as_ref().join(format!("script-{}-{number}.json", std::process::id()));
        fs::write(&path, serde_json::to_vec_pretty(self)?)?;
        Ok(path)
    }

    /// Whether a step, at whatever depth, is like this.
    pub fn has(&self, like: impl Fn(&Step) -> bool) -> bool {
        self.on.values().flatten().any(|reaction| any_like(reaction.steps(), &like))
    }

    fn check(&self) -> Result<(), String> {
        for (method, reactions) in &self.on {
            let by_text = reactions.iter().any(|reaction| matches!(reaction, Reaction::Matching(_)));
            if by_text && method != "session/prompt" {
                return Err(format!("`{method}` has no text to match; only `session/prompt` has"));
            }
        }
        let unheard = |step: &Step| match step {
            Step::Permission(step) => !step.permission.wait && !step.permission.then.is_empty(),
            _ => false,
        };
        if self.has(unheard) {
            return Err("a permission that is not waited for has a `then`, which would never run".to_owned());
        }
        let endless = |step: &Step| matches!(step, Step::Flood(step) if step.flood.per_second == Some(0));
        if self.has(endless) {
            return Err("a flood with 0 chunks in a second would never end".to_owned());
        }
        Ok(())
    }
}

impl Reaction {
    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::InTurn(steps) => steps,
            Self::Matching(matching) => &matching.steps,
        }
    }
}

fn any_like(steps: &[Step], like: &dyn Fn(&Step) -> bool) -> bool {
    steps.iter().any(|step| like(step) || step.inner().into_iter().any(|inner| any_like(inner, like)))
}
