//! What the methods take. Unknown members are passed over.

use crate::plane::{HistoryRequest, ListRequest};
use schemars::JsonSchema;
use sepia_ir::Branch;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

/// Nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct NoParams {}

/// `sessions.list`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListParams {
    /// Sessions of this agent only.
    agent: Option<String>,
    /// Sessions of this directory only, by its literal or its real path.
    cwd: Option<String>,
    /// Sessions active since then: ISO 8601, or epoch seconds.
    since: Option<Since>,
    /// The newest so many.
    limit: Option<u32>,
    /// Fill `locked` and `lockHolderPid`.
    with_locks: bool,
    /// Fill `stats`: messages, tools, tokens.
    with_stats: bool,
    /// Leave out sessions that another session spawned.
    top_level: bool,
    /// Also sessions that their agent no longer lists.
    with_hidden: bool,
}

/// A time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Since {
    Seconds(f64),
    Iso(String),
}

impl ListParams {
    pub(super) fn into_request(self) -> Result<ListRequest, serde_json::Error> {
        let since = match self.since {
            None => None,
            Some(Since::Seconds(seconds)) => Some(seconds),
            Some(Since::Iso(text)) => Some(epoch_seconds(&text)?),
        };
        Ok(ListRequest {
            agent: self.agent,
            cwd: self.cwd,
            since,
            limit: self.limit.map(|limit| limit as usize),
            top_level: self.top_level,
            with_hidden: self.with_hidden,
            with_locks: self.with_locks,
            with_stats: self.with_stats,
        })
    }
}

fn epoch_seconds(text: &str) -> Result<f64, serde_json::Error> {
    let time: jiff::Timestamp = text.parse().map_err(|e| {
        serde_json::Error::custom(format_args!("`since` is no ISO 8601 time such as 2026-01-31T00:00:00Z ({e})"))
    })?;
    Ok(time.as_duration().as_secs_f64())
}

/// `sessions.get`, `sessions.summary`, `sessions.export`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SessionParams {
    /// The session, by its id in the list.
    pub(super) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(super) agent: Option<String>,
}

/// `sessions.history`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct HistoryParams {
    /// The session, by its id in the list.
    id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    agent: Option<String>,
    /// Messages at most; absent: `config.historyLimit`.
    #[serde(default)]
    limit: Option<u32>,
    /// Exclusive end of the page, counted from the oldest message; absent: the newest page.
    #[serde(default)]
    before: Option<u64>,
    /// `live` (from the tip up) or `all` (every node in the order of the store).
    #[serde(default)]
    branch: BranchName,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BranchName {
    #[default]
    Live,
    All,
}

impl HistoryParams {
    pub(super) fn into_request(self) -> HistoryRequest {
        let branch = match self.branch {
            BranchName::Live => Branch::Live,
            BranchName::All => Branch::All,
        };
        HistoryRequest { id: self.id, agent: self.agent, limit: self.limit, before: self.before, branch }
    }
}

/// Parameters of a request: an object, or nothing at all.
pub(super) fn parse<P: DeserializeOwned>(text: Option<&str>) -> Result<P, serde_json::Error> {
    let text = match text.map(str::trim) {
        None | Some("null") => "{}",
        Some(text) => text,
    };
    if !text.starts_with('{') {
        let kind = match serde_json::from_str(text)? {
            Value::Array(_) => "a list",
            _ => "no object",
        };
        return Err(serde_json::Error::custom(format_args!("they are {kind}; name them in an object")));
    }
    serde_json::from_str(text)
}
