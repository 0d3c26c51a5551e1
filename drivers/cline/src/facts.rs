//! What the manifest of a session and its row of the index tell.

use crate::text::{Text, without_mark};
use crate::time;
use sepia_ir::CheckpointRef;
use sepia_sdk::json::{Number, Raw, Str, members, text_of};
use sepia_sdk::metadata;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) status: Option<String>,
    /// Epoch seconds, as all times here.
    pub(crate) started: Option<f64>,
    pub(crate) ended: Option<f64>,
    /// Of the index.
    pub(crate) updated: Option<f64>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) pid: Option<u32>,
    pub(crate) source: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) workspace_root: Option<String>,
    pub(crate) team: Option<String>,
    /// As it stands there, possibly wrapped.
    pub(crate) prompt: Option<String>,
    pub(crate) messages_path: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) parent_agent: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) meta: Meta,
}

impl Facts {
    /// Whether the agent counts the session among those that go on.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status.as_deref(), Some("idle" | "running" | "pending")) && self.ended.is_none()
    }
}

/// `metadata` of the manifest, `metadata_json` of the index.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Meta {
    pub(crate) title: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) git_branch: Option<String>,
    /// `act` or `plan`; sessions of the hub only.
    pub(crate) mode: Option<String>,
    pub(crate) checkpoints: Vec<CheckpointRef>,
    pub(crate) total_cost: Option<f64>,
    /// JSON text of the tokens with those of teammates, when they are others.
    pub(crate) aggregate_usage: Option<String>,
    /// Why the agent wrote the session off, after its process was gone.
    pub(crate) terminal_marker: Option<String>,
    /// JSON text of what a session that came from elsewhere carries.
    pub(crate) carried: Option<String>,
}

members! {
    MetaRecord {
        title: Str<'a> = "title",
        origin: Origin<'a> = "sessionHistoryOrigin",
        git: Git<'a> = "git",
        mode: Str<'a> = "mode",
        checkpoint: Checkpoints<'a> = "checkpoint",
        total_cost: Number = "totalCost",
        usage: Raw<'a> = "usage",
        aggregate_usage: Raw<'a> = "aggregateUsage",
        terminal_marker: Raw<'a> = "terminal_marker",
        carried: Raw<'a> = "sepia",
    }
}

members! {
    Origin {
        version: Str<'a> = "version",
    }
}

members! {
    Git {
        branch: Str<'a> = "branch",
    }
}

members! {
    Checkpoints {
        latest: Raw<'a> = "latest",
        history: Raw<'a> = "history",
    }
}

members! {
    Checkpoint {
        name: Str<'a> = "ref",
        created_at: Number = "createdAt",
        run_count: Number = "runCount",
        kind: Str<'a> = "kind",
    }
}

fn owned(text: &Str<'_>) -> Option<String> {
    text.filled().map(str::to_owned)
}

impl Meta {
    /// Of its JSON text.
    pub(crate) fn of(json: &str) -> Self {
        let record: MetaRecord<'_> = serde_json::from_str(json).unwrap_or_default();
        let other = |aggregate: &str| record.usage.is_none_or(|usage| usage.get() != aggregate);
        Self {
            title: owned(&record.title),
            version: owned(&record.origin.version),
            git_branch: owned(&record.git.branch),
            mode: owned(&record.mode),
            checkpoints: checkpoints(&record.checkpoint),
            total_cost: record.total_cost.0.filter(|cost| *cost > 0.0),
            aggregate_usage: record
                .aggregate_usage
                .filter(|raw| raw.get().starts_with('{') && other(raw.get()))
                .map(|raw| metadata::clean(raw.get()).into_owned()),
            terminal_marker: record
                .terminal_marker
                .map(|raw| text_of(Some(raw)).unwrap_or(Cow::Borrowed(raw.get())).chars().take(200).collect()),
            carried: record.carried.filter(|raw| raw.get().starts_with('{')).map(|raw| raw.get().to_owned()),
        }
    }
}

/// The checkpoints of a session; the latest stands in the history, unless that is cut.
fn checkpoints(record: &Checkpoints<'_>) -> Vec<CheckpointRef> {
    let history = record.history.and_then(|raw| serde_json::from_str::<Vec<Checkpoint<'_>>>(raw.get()).ok());
    let latest = record.latest.and_then(|raw| serde_json::from_str::<Checkpoint<'_>>(raw.get()).ok());
    let mut all: Vec<CheckpointRef> = Vec::new();
    for checkpoint in history.into_iter().flatten().chain(latest) {
        let Some(name) = owned(&checkpoint.name) else { continue };
        #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest whole number")]
        let run_count = checkpoint.run_count.0.map(|count| count as i64);
        let created_at = checkpoint.created_at.0.filter(|at| at.is_finite()).unwrap_or_default();
        let known = CheckpointRef { ref_: name, created_at, run_count, kind: owned(&checkpoint.kind) };
        if !all.contains(&known) {
            all.push(known);
        }
    }
    all
}

/// A member as the text that it is, which may be `null`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Present<'a>(Raw<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Present<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Some(<&'de RawValue>::deserialize(deserializer)?)))
    }
}

members! {
    Manifest {
        version: Number = "version",
        session_id: Str<'a> = "session_id",
        source: Str<'a> = "source",
        pid: Number = "pid",
        started_at: Str<'a> = "started_at",
        ended_at: Present<'a> = "ended_at",
        exit_code: Raw<'a> = "exit_code",
        status: Str<'a> = "status",
        interactive: Raw<'a> = "interactive",
        provider: Str<'a> = "provider",
        model: Str<'a> = "model",
        cwd: Str<'a> = "cwd",
        workspace_root: Str<'a> = "workspace_root",
        team_name: Str<'a> = "team_name",
        enable_tools: Raw<'a> = "enable_tools",
        enable_spawn: Raw<'a> = "enable_spawn",
        enable_teams: Raw<'a> = "enable_teams",
        prompt: Present<'a> = "prompt",
        messages_path: Present<'a> = "messages_path",
        metadata: Present<'a> = "metadata",
    }
}

/// What the manifest of a session folder tells.
///
/// The agent passes over a manifest in which anything is missing or of another kind; what
/// can be read of it comes back all the same, beside what is wrong with it.
pub(crate) fn of_manifest(bytes: &[u8], folder: &str) -> (Facts, Option<String>) {
    let text = Text::of(without_mark(bytes));
    let record = match text.parse::<Manifest<'_>>() {
        Ok(record) if record.odd => return (Facts::default(), Some("it is no object".to_owned())),
        Ok(record) => record,
        Err(error) => return (Facts::default(), Some(format!("it can't be read: {error}"))),
    };
    let wrong = wrong(&record, folder);
    let facts = Facts {
        status: owned(&record.status),
        started: record.started_at.filled().and_then(time::of_text),
        ended: time::of(record.ended_at.0),
        updated: None,
        exit_code: record.exit_code.and_then(|raw| raw.get().parse().ok()),
        pid: record.pid.0.and_then(pid),
        source: owned(&record.source),
        provider: owned(&record.provider),
        model: owned(&record.model),
        cwd: owned(&record.cwd),
        workspace_root: owned(&record.workspace_root),
        team: owned(&record.team_name),
        prompt: text_of(record.prompt.0).map(Cow::into_owned),
        messages_path: text_of(record.messages_path.0).map(Cow::into_owned),
        meta: record.metadata.0.map(|raw| Meta::of(raw.get())).unwrap_or_default(),
        ..Facts::default()
    };
    (facts, wrong)
}

/// States that the agent knows.
const STATES: [&str; 6] = ["idle", "running", "pending", "completed", "failed", "cancelled"];

/// What makes the agent pass over a manifest.
fn wrong(record: &Manifest<'_>, folder: &str) -> Option<String> {
    if record.version.0 != Some(1.0) {
        return Some("its `version` is not 1".to_owned());
    }
    let texts = [
        ("session_id", &record.session_id),
        ("source", &record.source),
        ("started_at", &record.started_at),
        ("status", &record.status),
        ("provider", &record.provider),
        ("model", &record.model),
        ("cwd", &record.cwd),
        ("workspace_root", &record.workspace_root),
    ];
    let missing = texts.iter().find(|(_, text)| text.filled().is_none()).map(|(name, _)| *name);
    let flags = [
        ("interactive", record.interactive),
        ("enable_tools", record.enable_tools),
        ("enable_spawn", record.enable_spawn),
        ("enable_teams", record.enable_teams),
    ];
    let no_flag = |raw: Raw<'_>| !matches!(raw.map(RawValue::get), Some("true" | "false"));
    let missing = missing.or_else(|| flags.iter().find(|(_, raw)| no_flag(*raw)).map(|(name, _)| *name));
    let missing = missing.or_else(|| record.pid.0.is_none_or(|pid| pid.fract() != 0.0).then_some("pid"));
    if let Some(name) = missing {
        return Some(format!("its `{name}` is missing or of another kind"));
    }
    if !record.status.get().is_some_and(|status| STATES.contains(&status)) {
        return Some("its `status` is unknown".to_owned());
    }
    let optional =
        [("ended_at", record.ended_at.0), ("prompt", record.prompt.0), ("messages_path", record.messages_path.0)];
    if let Some((name, _)) = optional.iter().find(|(_, raw)| raw.is_some_and(|raw| !raw.get().starts_with('"'))) {
        return Some(format!("its `{name}` is no text"));
    }
    if record.metadata.0.is_some_and(|raw| !raw.get().starts_with('{')) {
        return Some("its `metadata` is no object".to_owned());
    }
    (!record.session_id.is(folder)).then(|| "it is of another session".to_owned())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
pub(crate) fn pid(number: f64) -> Option<u32> {
    (number >= 1.0 && number <= f64::from(i32::MAX) && number.fract() == 0.0).then_some(number as u32)
}
