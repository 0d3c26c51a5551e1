//! What the methods take. Unknown members are passed over.

mod live;
mod writing;

pub(super) use live::{AttachParams, CreateParams, EventsParams, PermissionParams, PromptParams, SubscribeParams};
pub(super) use writing::{
    ConvertParams, DeleteParams, EmptyParams, ImportParams, RenameParams, RestoreParams, RewindParams, TrashParams,
};

use crate::plane::{HistoryRequest, ListRequest, MetaPatch, SearchRequest, TextChange};
use schemars::JsonSchema;
use sepia_ir::{Branch, SearchPart, SearchQuery};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
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
        let since = self.since.map(Since::seconds).transpose()?;
        Ok(ListRequest {
            agent: self.agent,
            cwd: self.cwd,
            since,
            limit: self.limit.map(|limit| limit as usize),
            top_level: self.top_level,
            with_hidden: self.with_hidden,
            with_locks: self.with_locks,
            with_stats: self.with_stats,
            ..ListRequest::default()
        })
    }
}

impl Since {
    fn seconds(self) -> Result<f64, serde_json::Error> {
        match self {
            Self::Seconds(seconds) => Ok(seconds),
            Self::Iso(text) => epoch_seconds(&text),
        }
    }
}

/// `sessions.search`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchParams {
    /// What to look for: text as it stands, at most 4 KiB, not empty.
    query: String,
    /// `query` is a regular expression; `^` and `$` match at the ends of lines.
    #[serde(default)]
    regex: bool,
    /// Letters match whatever their case.
    #[serde(default)]
    ignore_case: bool,
    /// Texts to look at; absent or empty: all.
    #[serde(default, rename = "in")]
    parts: Vec<SearchPart>,
    /// Sessions of this agent only.
    #[serde(default)]
    agent: Option<String>,
    /// Sessions of this directory only, by its literal or its real path.
    #[serde(default)]
    cwd: Option<String>,
    /// Sessions active since then: ISO 8601, or epoch seconds.
    #[serde(default)]
    since: Option<Since>,
    /// The newest so many sessions that match, at most 1,000; absent: 50.
    #[serde(default)]
    limit: Option<u32>,
    /// Hits shown of each session, 1 to 100; absent: 3.
    #[serde(default)]
    hits: Option<u32>,
    /// Bytes of text shown on each side of a match, at most 1,000; absent: 80.
    #[serde(default)]
    context: Option<u32>,
    /// Also sessions that their agent no longer lists.
    #[serde(default)]
    with_hidden: bool,
    /// Leave out sessions that another session spawned.
    #[serde(default)]
    top_level: bool,
}

/// Sessions that one search answers with at most.
const MOST_FOUND: u32 = 1_000;

impl SearchParams {
    pub(super) fn into_request(self) -> Result<SearchRequest, serde_json::Error> {
        let limit = self.limit.unwrap_or(SearchRequest::LIMIT);
        if limit > MOST_FOUND {
            let message = format_args!("`limit` is {limit} and may be {MOST_FOUND} at most");
            return Err(serde_json::Error::custom(message));
        }
        let request = SearchRequest {
            query: SearchQuery {
                text: self.query,
                regex: self.regex,
                ignore_case: self.ignore_case,
                parts: self.parts,
                hits: self.hits.unwrap_or(SearchRequest::HITS),
                context: self.context.unwrap_or(SearchRequest::CONTEXT),
            },
            agent: self.agent,
            cwd: self.cwd,
            since: self.since.map(Since::seconds).transpose()?,
            limit: limit as usize,
            with_hidden: self.with_hidden,
            top_level: self.top_level,
        };
        request.check().map_err(|error| serde_json::Error::custom(error.message))?;
        Ok(request)
    }
}

fn epoch_seconds(text: &str) -> Result<f64, serde_json::Error> {
    let time: jiff::Timestamp = text.parse().map_err(|e| {
        serde_json::Error::custom(format_args!("`since` is no ISO 8601 time such as 2026-01-31T00:00:00Z ({e})"))
    })?;
    Ok(time.as_duration().as_secs_f64())
}

/// `sessions.get`, `sessions.summary`, `sessions.export`, `sessions.detach`, `sessions.cancel`
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

/// `sessions.patch_meta`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PatchMetaParams {
    /// The session, by its id in the list.
    pub(super) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(super) agent: Option<String>,
    /// What to change.
    pub(super) patch: PatchParams,
}

/// A change of what is known of a session beside its store. What is absent stays as it is; one
/// member at least is there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PatchParams {
    /// Title in place of the store's, 1 to 200 characters in one line; `null` brings the store's back.
    #[serde(default, deserialize_with = "text_change")]
    #[schemars(with = "Option<String>")]
    title: TextChange,
    /// Keep it in sight.
    #[serde(default)]
    pinned: Option<bool>,
    /// Put it away.
    #[serde(default)]
    archived: Option<bool>,
    /// The projects that it belongs to, all of them.
    #[serde(default)]
    project_ids: Option<Vec<String>>,
    /// Model that is preferred for it, 1 to 100 characters; `null` for none.
    #[serde(default, deserialize_with = "text_change")]
    #[schemars(with = "Option<String>")]
    model: TextChange,
}

/// A member that is there: `null` takes the text away.
fn text_change<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TextChange, D::Error> {
    Ok(Option::deserialize(deserializer)?.map_or(TextChange::Clear, TextChange::Set))
}

impl From<PatchParams> for MetaPatch {
    fn from(params: PatchParams) -> Self {
        let PatchParams { title, pinned, archived, project_ids, model } = params;
        Self { title, pinned, archived, project_ids, model }
    }
}

/// `projects.create`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ProjectCreateParams {
    /// Its name, 1 to 100 characters in one line.
    pub(super) name: String,
}

/// `projects.rename`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ProjectRenameParams {
    /// The project.
    pub(super) id: String,
    /// Its new name, 1 to 100 characters in one line.
    pub(super) name: String,
}

/// `projects.delete`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ProjectParams {
    /// The project.
    pub(super) id: String,
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
