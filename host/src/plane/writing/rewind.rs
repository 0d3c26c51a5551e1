//! Cutting a session back to an earlier point.
//!
//! What goes is what comes after the cut on the live branch, with everything that hangs below it;
//! branches that were left before stay.

use super::guard;
use crate::loader::Transcript;
use crate::plane::trash::{EntryFile, EntryFolder, Why};
use crate::plane::{DetachReason, ErrorKind, Plane, PlaneError};
use schemars::JsonSchema;
use sepia_ir::chain::{Link, live_links};
use sepia_ir::{RewindPlan, Role, Session, SessionRef};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Where to cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// After this node.
    Node(i64),
    /// Before the last so many prompts.
    Turns(u32),
    /// After the last node that is as old as this checkpoint.
    Checkpoint(String),
}

/// How to cut.
#[derive(Debug, Clone, Copy, Default)]
pub struct RewindOptions {
    /// Tell what would go, and cut nothing.
    pub dry_run: bool,
    /// Also a session that a running agent holds.
    pub force: bool,
}

/// What a cut came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rewound {
    /// Nodes that stay.
    pub kept: usize,
    /// Nodes that went, or, in a dry run, would go.
    pub removed: usize,
    /// Name of the entry of the trash that keeps what the session was, where its agent keeps it not itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
    /// Nothing was cut.
    pub dry_run: bool,
}

/// What is known of a node.
struct Known {
    link: Link,
    role: Role,
    created_at: f64,
    calls: Vec<String>,
    answers: Option<String>,
}

impl Plane {
    /// Cuts a session back.
    pub async fn rewind(
        &self,
        id: &str,
        agent: Option<&str>,
        cut: &Cut,
        options: RewindOptions,
    ) -> Result<Rewound, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (agent, _) = self.agent_and_title(id, agent).await?;
        let (_, writer) = self.writer_of(&agent).await?;
        let seize = || self.seize(&agent, id, options.force, DetachReason::Rewind);
        // What is planned on is what nobody of ours changes any more. One that is live here keeps its agent until it is
        // known that something goes.
        let mut held = None;
        if !options.dry_run && !self.is_live(id, &agent) {
            held = Some(seize().await?);
        }
        let read = async || {
            let (_, _, transcript) = self.opened_by(&session, Some(&agent)).await?;
            let (header, nodes) = known(transcript).await?;
            let (plan, truncated) = planned(&header, &nodes, cut)?;
            Ok::<_, PlaneError>((header, plan, truncated))
        };
        let (mut header, mut plan, mut truncated) = read().await?;
        if held.is_none() && !options.dry_run && !plan.removed.is_empty() {
            // Its agent knows what is cut away, and would go on from it. It may have written its last words.
            held = Some(seize().await?);
            (header, plan, truncated) = read().await?;
        }
        let mut rewound =
            Rewound { kept: plan.kept.len(), removed: plan.removed.len(), trash: None, dry_run: options.dry_run };
        if options.dry_run || plan.removed.is_empty() {
            return Ok(rewound);
        }
        let entry = self.new_trash_entry();
        writer.rewind(session, plan, truncated, entry.clone()).await?;
        if !entry.items().is_empty() {
            let folder = EntryFolder::at(entry.folder().to_owned());
            let file = EntryFile::new(&agent, id, &header.title, Why::Rewound);
            folder.write(&file).map_err(|e| guard::not_kept(&e))?;
            rewound.trash = Some(folder.name());
        }
        self.note_rewound(&agent, id, rewound.kept, rewound.removed).await;
        drop(held);
        Ok(rewound)
    }
}

async fn known(transcript: Transcript) -> Result<(Session, Vec<Known>), PlaneError> {
    let Transcript { header, mut batches } = transcript;
    let mut nodes = Vec::new();
    while let Some(batch) = batches.recv().await {
        nodes.extend(batch?.into_iter().map(|node| Known {
            link: Link::of(&node),
            role: node.role,
            created_at: node.created_at,
            calls: node.tool_calls.into_iter().map(|call| call.id).collect(),
            answers: node.tool_call_id,
        }));
    }
    Ok((header, nodes))
}

/// What stays and what goes, and the session as it shall be afterwards.
fn planned(header: &Session, nodes: &[Known], cut: &Cut) -> Result<(RewindPlan, Session), PlaneError> {
    let links: Vec<Link> = nodes.iter().map(|node| node.link).collect();
    let live = live_links(&links, header.main_chain_id);
    let keep = kept_of_live(header, nodes, &live, cut)?;
    let mut gone: HashSet<i64> = live[keep..].iter().map(|at| links[*at].node).collect();
    let children: HashMap<i64, Vec<i64>> = links.iter().fold(HashMap::new(), |mut children, link| {
        if let Some(parent) = link.parent {
            children.entry(parent).or_insert_with(Vec::new).push(link.node);
        }
        children
    });
    let mut waiting: Vec<i64> = gone.iter().copied().collect();
    while let Some(node) = waiting.pop() {
        for child in children.get(&node).into_iter().flatten() {
            if gone.insert(*child) {
                waiting.push(*child);
            }
        }
    }
    let declared: HashSet<&String> =
        nodes.iter().filter(|node| !gone.contains(&node.link.node)).flat_map(|node| &node.calls).collect();
    let removed_calls: BTreeSet<&String> = nodes
        .iter()
        .filter(|node| gone.contains(&node.link.node))
        .flat_map(|node| node.calls.iter().chain(&node.answers))
        .filter(|call| !declared.contains(call))
        .collect();
    let (removed, kept) = links.iter().map(|link| link.node).partition(|node| gone.contains(node));
    let plan = RewindPlan { kept, removed, removed_tool_call_ids: removed_calls.into_iter().cloned().collect() };
    let tip = keep.checked_sub(1).map(|last| &nodes[live[last]]);
    let mut truncated = header.clone();
    truncated.main_chain_id = tip.map_or(0, |tip| tip.link.node);
    truncated.last_activity_at = tip.map_or(header.created_at, |tip| tip.created_at);
    Ok((plan, truncated))
}

/// How many nodes of the live branch stay.
fn kept_of_live(header: &Session, nodes: &[Known], live: &[usize], cut: &Cut) -> Result<usize, PlaneError> {
    let invalid = |message: String| PlaneError::new(ErrorKind::Invalid, message);
    match cut {
        Cut::Node(id) => match live.iter().position(|at| nodes[*at].link.node == *id) {
            Some(at) => Ok(at + 1),
            None => {
                Err(invalid(format!("node {id} is not on the live branch of the session; `sessions.history` shows it")))
            }
        },
        Cut::Turns(turns) => {
            let prompts: Vec<usize> =
                (0..live.len()).filter(|position| nodes[live[*position]].role == Role::User).collect();
            let first = prompts.len().saturating_sub(*turns as usize);
            match prompts.get(first) {
                Some(position) if *turns > 0 => Ok(*position),
                _ => Err(invalid(
                    "there are no such turns to take back; the session has no prompt, or none were asked for".into(),
                )),
            }
        }
        Cut::Checkpoint(wanted) => {
            let checkpoint = header.checkpoints.iter().find(|checkpoint| checkpoint.ref_ == *wanted);
            let checkpoint = checkpoint.ok_or_else(|| {
                let shown = crate::text::clean_line(wanted, 80);
                invalid(format!("the session has no checkpoint `{shown}`; `sessions.summary` lists those that it has"))
            })?;
            let older = |at: &usize| nodes[*at].created_at * 1000.0 <= checkpoint.created_at;
            Ok(live.iter().rposition(older).map_or(0, |last| last + 1))
        }
    }
}
