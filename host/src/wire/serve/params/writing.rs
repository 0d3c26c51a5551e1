//! What the methods that write take.

use crate::plane::{Cut, DeleteOptions, Destination, RestoreRequest, RewindOptions};
use schemars::JsonSchema;
use sepia_ir::Session;
use serde::Deserialize;
use serde::de::Error;

/// `sessions.import`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire::serve) struct ImportParams {
    /// The session, as `sessions.get` answers it.
    pub(in crate::wire::serve) session: Session,
    #[serde(flatten)]
    to: DestinationParams,
    /// The id that it shall have, in a form of its agent; absent: a fresh one.
    #[serde(default)]
    id: Option<String>,
    /// Write over a session of that id; without it that is a `conflict`.
    #[serde(default)]
    replace: bool,
}

/// Where a session is to go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DestinationParams {
    /// The agent that shall have it.
    agent: String,
    /// Where it works, absolute; absent: where it did.
    #[serde(default)]
    cwd: Option<String>,
    /// Its title; absent: as it is.
    #[serde(default)]
    title: Option<String>,
    /// Its model; absent: as it is.
    #[serde(default)]
    model: Option<String>,
    /// Tell what would happen, losses included, and write nothing.
    #[serde(default)]
    dry_run: bool,
}

impl DestinationParams {
    fn into_destination(self) -> Destination {
        let Self { agent, cwd, title, model, dry_run } = self;
        Destination { agent, cwd, title, model, dry_run, ..Destination::default() }
    }
}

impl ImportParams {
    pub(in crate::wire::serve) fn into_parts(self) -> (Session, Destination) {
        let to = Destination { id: self.id, replace: self.replace, ..self.to.into_destination() };
        (self.session, to)
    }
}

/// `sessions.convert`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire::serve) struct ConvertParams {
    /// The session, by its id in the list.
    pub(in crate::wire::serve) id: String,
    /// The agent that it is read from, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) from: Option<String>,
    #[serde(flatten)]
    to: DestinationParams,
}

impl ConvertParams {
    pub(in crate::wire::serve) fn into_parts(self) -> (String, Option<String>, Destination) {
        (self.id, self.from, self.to.into_destination())
    }
}

/// `sessions.delete`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::wire::serve) struct DeleteParams {
    /// The session, by its id in the list.
    pub(in crate::wire::serve) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// Tell what would go, and take nothing.
    #[serde(default)]
    dry_run: bool,
    /// Also when a running agent holds it.
    #[serde(default)]
    force: bool,
    /// For good, not into the trash.
    #[serde(default)]
    permanently: bool,
}

impl DeleteParams {
    pub(in crate::wire::serve) fn options(&self) -> DeleteOptions {
        DeleteOptions { dry_run: self.dry_run, force: self.force, permanently: self.permanently }
    }
}

/// `sessions.rename`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct RenameParams {
    /// The session, by its id in the list.
    pub(in crate::wire::serve) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// 1 to 200 characters on one line.
    pub(in crate::wire::serve) title: String,
}

/// `sessions.rewind`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct RewindParams {
    /// The session, by its id in the list.
    pub(in crate::wire::serve) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// Where to cut: exactly one of `nodeId`, `turns` and `checkpoint`.
    request: RewindRequest,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RewindRequest {
    /// Has to be `true`, except with `dryRun`.
    #[serde(default)]
    confirm: bool,
    /// Keep through this node of the live branch.
    #[serde(default)]
    node_id: Option<i64>,
    /// Take back the last so many prompts, 1 or more.
    #[serde(default)]
    turns: Option<u32>,
    /// Keep what is as old as this checkpoint.
    #[serde(default)]
    checkpoint: Option<String>,
    /// Tell what would go, and cut nothing.
    #[serde(default)]
    dry_run: bool,
    /// Also when a running agent holds it.
    #[serde(default)]
    force: bool,
}

impl RewindParams {
    /// Where to cut, and how; the error is one of the request, not of its shape.
    pub(in crate::wire::serve) fn cut(&self) -> Result<(Cut, RewindOptions), String> {
        let asked = &self.request;
        if !asked.confirm && !asked.dry_run {
            return Err("cutting a session back needs `confirm: true`".to_owned());
        }
        let cut = match (asked.node_id, asked.turns, &asked.checkpoint) {
            (Some(node), None, None) => Cut::Node(node),
            (None, Some(turns), None) => Cut::Turns(turns),
            (None, None, Some(checkpoint)) => Cut::Checkpoint(checkpoint.clone()),
            _ => return Err("name exactly one of `nodeId`, `turns` and `checkpoint`".to_owned()),
        };
        Ok((cut, RewindOptions { dry_run: asked.dry_run, force: asked.force }))
    }
}

/// `sessions.restore`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct RestoreParams {
    /// The session, by its id in the list.
    pub(in crate::wire::serve) id: String,
    /// Its agent, where two have the id.
    #[serde(default)]
    pub(in crate::wire::serve) agent: Option<String>,
    /// What to bring back: exactly one of `path` and `checkpoint`.
    request: RestoreFiles,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RestoreFiles {
    /// Has to be `true`, except with `dryRun`.
    #[serde(default)]
    confirm: bool,
    /// Undo the recorded changes of this file.
    #[serde(default)]
    path: Option<String>,
    /// Only those of this call.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// Bring files back to this checkpoint.
    #[serde(default)]
    checkpoint: Option<String>,
    /// Only these of them.
    #[serde(default)]
    paths: Option<Vec<String>>,
    /// Tell what would happen, and write nothing.
    #[serde(default)]
    dry_run: bool,
    /// Also when a running agent holds the session.
    #[serde(default)]
    force: bool,
}

impl RestoreParams {
    /// What to bring back; the error is one of the request, not of its shape.
    pub(in crate::wire::serve) fn request(&self) -> Result<RestoreRequest, String> {
        let asked = &self.request;
        if !asked.confirm && !asked.dry_run {
            return Err("bringing files back needs `confirm: true`".to_owned());
        }
        let (dry_run, force) = (asked.dry_run, asked.force);
        match (&asked.path, &asked.checkpoint) {
            (Some(path), None) => Ok(RestoreRequest::changes(path, asked.tool_call_id.clone(), dry_run, force)),
            (None, Some(checkpoint)) => Ok(RestoreRequest::checkpoint(checkpoint, asked.paths.clone(), dry_run, force)),
            _ => Err("name exactly one of `path` and `checkpoint`".to_owned()),
        }
    }
}

/// `trash.restore`
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct TrashParams {
    /// Name of the entry, or the beginning of it, or of the id of its session.
    pub(in crate::wire::serve) entry: String,
}

/// `trash.empty`
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(in crate::wire::serve) struct EmptyParams {
    /// Only this entry; absent: all.
    #[serde(default)]
    pub(in crate::wire::serve) entry: Option<String>,
    /// Has to be `true`: it can't be taken back.
    #[serde(default)]
    confirm: bool,
}

impl EmptyParams {
    pub(in crate::wire::serve) fn checked(&self) -> Result<(), serde_json::Error> {
        if self.confirm { Ok(()) } else { Err(serde_json::Error::custom("throwing things away needs `confirm: true`")) }
    }
}
