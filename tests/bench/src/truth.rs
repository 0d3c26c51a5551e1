//! What a store holds, as its maker noted it: `TRUTH.json` beside the store.

use crate::Failed;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

/// File name of the truth.
pub(crate) const FILE: &str = "TRUTH.json";

/// The truth of a store.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Truth {
    pub(crate) sessions: Vec<Known>,
}

/// One session.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Agent that it belongs to; of Claude Code when nothing is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) agent: String,
    pub(crate) id: String,
    /// From the folder of the truth.
    pub(crate) path: PathBuf,
    pub(crate) cwd: String,
    pub(crate) title: Option<String>,
    /// The title of a session that has none.
    pub(crate) first_prompt: String,
    pub(crate) bytes: u64,
    /// When it was active last, RFC 3339, for agents whose records are not read here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) updated: Option<String>,
    /// The agent itself no longer lists it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hidden: bool,
    /// Tokens of the main thread, once for each message of the model; `null` where the agent keeps none.
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) usage: Tokens,
    #[serde(default)]
    pub(crate) usage_inline_sidechains: Tokens,
    #[serde(default)]
    pub(crate) usage_subagents: Tokens,
}

/// Tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_creation: u64,
    pub(crate) cache_read: u64,
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_creation += other.cache_creation;
        self.cache_read += other.cache_read;
    }
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tokens, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads the truth beside a store.
pub(crate) fn read(place: &Path) -> Result<Truth, Failed> {
    let file = place.join(FILE);
    let open = File::open(&file).map_err(|e| format!("{} can't be read: {e}", file.display()))?;
    Ok(serde_json::from_reader(BufReader::new(open))?)
}

impl Truth {
    pub(crate) fn bytes(&self) -> u64 {
        self.sessions.iter().map(|known| known.bytes).sum()
    }

    /// The agent whose sessions these are.
    pub(crate) fn agent(&self) -> &str {
        let told = self.sessions.first().map(|known| known.agent.as_str());
        told.filter(|agent| !agent.is_empty()).unwrap_or("claude")
    }

    /// The session with the most bytes.
    pub(crate) fn largest(&self) -> Option<&Known> {
        self.sessions.iter().max_by_key(|known| known.bytes)
    }

    /// The session with the fewest.
    pub(crate) fn smallest(&self) -> Option<&Known> {
        self.sessions.iter().min_by_key(|known| known.bytes)
    }

    /// Tokens of everything, sub-agents included.
    pub(crate) fn tokens(&self) -> Tokens {
        let mut sum = Tokens::default();
        for known in &self.sessions {
            sum += known.usage;
            sum += known.usage_inline_sidechains;
            sum += known.usage_subagents;
        }
        sum
    }
}

/// When a session began and was last active, and what it holds, by its records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded {
    /// Of the first record that has a time.
    pub(crate) created: Timestamp,
    /// The latest of a user or assistant record of the main thread.
    pub(crate) updated: Timestamp,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    timestamp: Option<&'a str>,
    #[serde(rename = "isSidechain", default)]
    sidechain: bool,
}

/// Counts a file anew; a maker's clock need not be the one that it wrote into the records.
pub(crate) fn recorded(file: &Path) -> Result<Recorded, Failed> {
    let mut reader = BufReader::with_capacity(256 << 10, File::open(file)?);
    let (mut line, mut created, mut updated) = (Vec::new(), None, None);
    while reader.read_until(b'\n', &mut line)? > 0 {
        let record: Record<'_> = serde_json::from_slice(&line)?;
        if let (false, Some(time)) = (record.sidechain, record.timestamp) {
            let time: Timestamp = time.parse()?;
            created = created.or(Some(time));
            if matches!(record.kind, "user" | "assistant") {
                updated = updated.max(Some(time));
            }
        }
        line.clear();
    }
    let none = || format!("{} has no record with a time", file.display());
    Ok(Recorded { created: created.ok_or_else(none)?, updated: updated.ok_or_else(none)? })
}
