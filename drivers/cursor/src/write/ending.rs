//! The end of a session that is written: both views of the conversation, the root that names them,
//! the settings, and what rides along with the session as a whole.

use super::draft::{CursorDraft, ms, now};
use super::note;
use super::turns::{self, Shown};
use super::wire::Wire;
use crate::blobs::hex;
use crate::key::Kind;
use crate::prompt::one_line;
use crate::record::{About, BACKEND, Times};
use crate::saved::{self, Lies, Planned, Saved, Switch};
use crate::uri;
use sepia_ir::{DriverError, Session};
use sepia_sdk::carried;
use sepia_sdk::metadata::string;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// What is written last.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) root: String,
    /// Name, mode and model, as the settings have them.
    pub(crate) name: String,
    pub(crate) mode: &'static str,
    pub(crate) model: Option<String>,
    /// The settings of a new chat, JSON.
    pub(crate) settings: String,
    /// `meta.json`.
    pub(crate) note: String,
}

/// What the agent's own reader told of a session; see `record::About`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OwnAbout {
    space: String,
    todos: Vec<OwnTodo>,
    summary: Option<String>,
    plan: Option<String>,
    git_branch: Option<String>,
    compactions: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OwnTodo {
    id: String,
    content: String,
    status: String,
}

impl OwnAbout {
    fn of(header: &Session) -> Self {
        let about: Self = serde_json::from_str(&header.metadata).unwrap_or_default();
        let known = ["chats", "acp-sessions", "sdk-agent-store", "ide", "agent-transcripts"];
        if known.contains(&about.space.as_str()) { about } else { Self::default() }
    }

    fn is_own(&self) -> bool {
        !self.space.is_empty()
    }
}

/// Writes all but what makes the session seen.
pub(super) fn of(draft: &mut CursorDraft) -> Result<Ending, DriverError> {
    let about = OwnAbout::of(&draft.header);
    let planned = planned(draft);
    let root = root(draft, &about, &planned)?;
    let header = &draft.header;
    let updated = if header.last_activity_at > 0.0 { ms(header.last_activity_at) } else { ms(now()) };
    let created = if header.created_at > 0.0 { ms(header.created_at) } else { updated };
    let mode = match header.agent_mode.as_str() {
        "plan" => "plan",
        "search" => "search",
        "debug" => "debug",
        _ => "default",
    };
    let name = if header.title.is_empty() { "New Agent".to_owned() } else { header.title.clone() };
    // The agent asks its server for the model of a chat, which knows those of no other agent.
    let model = Some(header.model.clone()).filter(|model| about.is_own() && !model.is_empty());
    let before = draft.over.as_ref().and_then(|over| over.note.as_ref()).map(|(text, _)| text.as_str());
    let note = note::of(&draft.home, header, &header.working_directory, created, updated, before);
    let native = native(header, &name, mode, model.as_deref(), created, updated, draft.home.kind);
    let was = hex(&draft.host.sha256(before.unwrap_or_default().as_bytes()));
    let switch = Some(Switch { was, is: note.clone() });
    let ending = Ending {
        settings: format!(
            "{{\"agentId\":{},\"latestRootBlobId\":\"{root}\",\"name\":{},\"mode\":\"{mode}\",\"isRunEverything\":false,\"createdAt\":{created}{}}}",
            string(&header.id),
            string(&name),
            model.as_ref().map(|model| format!(",\"lastUsedModel\":{}", string(model))).unwrap_or_default(),
        ),
        root: root.clone(),
        name,
        mode,
        model,
        note,
    };
    let difference = carried::difference_of_session(header, &native);
    let saved = Saved {
        generation: draft.generation.clone(),
        root,
        title: native.title,
        session: difference.and_then(|text| RawValue::from_string(text).ok()),
        note: switch,
    };
    let prompts = serde_json::to_string(&header.prompt_history).unwrap_or_else(|_| "[]".to_owned());
    let rows = saved.rows();
    // A struct of plain members always has a JSON form.
    let text = serde_json::to_string(&saved).unwrap_or_default();
    let database = draft.database.as_deref();
    if let Some(order) = saved::order(&planned) {
        draft.rows.setting(database, format!("{rows}order"), order)?;
    }
    draft.rows.setting(database, format!("{rows}prompts"), prompts)?;
    draft.rows.setting(database, carried::KEY.to_owned(), text)?;
    Ok(ending)
}

/// Where each node lies.
fn planned(draft: &mut CursorDraft) -> Vec<Planned> {
    let nodes = &draft.nodes;
    let mut live = vec![false; nodes.len()];
    let last = u32::try_from(nodes.len()).unwrap_or(u32::MAX).checked_sub(1);
    let mut next = draft.numbers.get(&draft.header.main_chain_id).copied().or(last);
    // A parent always has the lower number, so this ends.
    while let Some(number) = next {
        live[number as usize] = true;
        next = nodes[number as usize].parent.filter(|parent| *parent < number);
    }
    let mut planned = Vec::with_capacity(nodes.len());
    for (number, (node, live)) in (0u32..).zip(nodes.iter().zip(live)) {
        let lies = match (live, node.fits) {
            (true, true) => Lies::Seen,
            (true, false) => Lies::Unseen,
            (false, _) => Lies::Left(node.parent.filter(|parent| *parent < number)),
        };
        if !live && node.fits {
            draft.losses.kept(node.node_id, "a branch that was left: all");
        }
        planned.push(Planned { number, blob: hex(&node.blob), lies });
    }
    planned
}

/// Writes the root and what it names; its id.
fn root(draft: &mut CursorDraft, about: &OwnAbout, planned: &[Planned]) -> Result<String, DriverError> {
    let seen: Vec<usize> = (0..planned.len()).filter(|at| planned[*at].lies == Lies::Seen).collect();
    let (view, archive) = views(draft, &seen);
    let shown: Vec<Shown> = seen.iter().map(|at| draft.nodes[*at].shown.clone()).collect();
    let mut turn_ids = Vec::new();
    let database = draft.database.as_deref();
    for turn in turns::turns(shown.iter()) {
        turn_ids.push(draft.rows.blob(database, turn)?);
    }
    let mut root = view.iter().fold(Wire::default(), |root, id| root.bytes(1, id));
    for todo in &about.todos {
        let status = match todo.status.as_str() {
            "in_progress" => 2,
            "completed" => 3,
            "cancelled" => 4,
            _ => 1,
        };
        let todo = Wire::default().text(1, &todo.id).text(2, &todo.content).number(3, status).finish();
        root = root.bytes(3, &draft.rows.blob(database, todo)?);
    }
    for (field, text) in [(6, &about.summary), (7, &about.plan)] {
        if let Some(text) = text {
            root = root.bytes(field, &draft.rows.blob(database, Wire::default().text(1, text).finish())?);
        }
    }
    root = turn_ids.iter().fold(root, |root, id| root.bytes(8, id));
    for directory in directories(&draft.header) {
        root = root.text(9, &uri::of_path(&directory));
    }
    root = root.number(10, if draft.header.agent_mode == "plan" { 3 } else { 1 });
    if !archive.is_empty() {
        let ids = archive.iter().fold(Wire::default(), |archive, id| archive.bytes(1, id));
        let archive = ids.text(2, about.summary.as_deref().unwrap_or_default()).finish();
        root = root.bytes(13, &draft.rows.blob(database, archive)?);
    }
    if let Some(over) = &draft.over {
        // Sub-agents are kept inside the root, and stay.
        root = over.subagents(root)?;
    }
    if !archive.is_empty() {
        root = root.number(17, u64::from(about.compactions.max(1)));
    }
    root = root.text(19, about.git_branch.as_deref().unwrap_or_default()).text(22, "cli");
    if draft.header.created_at > 0.0 {
        root = root.number(26, ms(draft.header.created_at));
    }
    Ok(hex(&draft.rows.blob(database, root.finish())?))
}

/// The messages that the model sees, and those that a compaction took away.
fn views(draft: &CursorDraft, seen: &[usize]) -> (Vec<[u8; 32]>, Vec<[u8; 32]>) {
    let all: Vec<_> = seen.iter().map(|at| &draft.nodes[*at]).collect();
    let archive: Vec<[u8; 32]> = all.iter().filter(|node| node.archived).map(|node| node.blob).collect();
    let known: HashSet<&[u8; 32]> = archive.iter().collect();
    let mut rest = all.iter().filter(|node| !node.archived);
    let front = all.first().filter(|first| !first.archived && !archive.is_empty());
    if front.is_some() {
        rest.next();
    }
    let rest: Vec<[u8; 32]> = rest.map(|node| node.blob).collect();
    // A reader takes what the view begins with and is archived too for the context, which stays there.
    if archive.is_empty() || rest.first().is_some_and(|first| known.contains(first)) {
        return (all.iter().map(|node| node.blob).collect(), Vec::new());
    }
    let context = all.iter().find(|node| node.archived).filter(|first| first.context).map(|first| first.blob);
    (front.map(|front| front.blob).into_iter().chain(context).chain(rest).collect(), archive)
}

/// The directories of a session, that which it works in last.
fn directories(header: &Session) -> Vec<String> {
    let mut directories: Vec<String> = serde_json::from_str(&header.workspace_dirs).unwrap_or_default();
    directories.retain(|directory| directory.starts_with('/') && *directory != header.working_directory);
    directories.push(header.working_directory.clone());
    directories
}

/// The session as the driver reads it where nothing rides along.
fn native(
    header: &Session,
    name: &str,
    mode: &str,
    model: Option<&str>,
    created: u64,
    updated: u64,
    kind: Kind,
) -> Session {
    let mut native = Session::new(&header.id, BACKEND);
    native.title = one_line(name);
    mode.clone_into(&mut native.agent_mode);
    model.unwrap_or_default().clone_into(&mut native.model);
    let active = (kind != Kind::Acp).then_some(updated).and_then(crate::time::of_ms);
    let times = Times { created: crate::time::of_ms(created), active };
    times.fill(&mut native, &mut About::default(), now());
    let directories = directories(header);
    if directories.len() > 1 {
        native.workspace_dirs = serde_json::to_string(&directories).unwrap_or_else(|_| "[]".to_owned());
    }
    native.prompt_history.clone_from(&header.prompt_history);
    // Its own metadata is what the store tells; all that was there before rides along.
    native.metadata = String::new();
    if kind == Kind::Acp {
        native.last_activity_at = f64::NAN;
    }
    native
}
