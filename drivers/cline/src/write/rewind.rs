//! A session cut back to some of its nodes.
//!
//! The messages that stay are copied as they are into a transcript beside the old one, which the
//! manifest then names; the old one goes into the trash. Where there is no manifest, the
//! transcript itself is written anew.

use super::edit::{Form, changed};
use super::manifest::{self, iso};
use super::output::{MODE, Output};
use super::placed::{Placed, absolute, locate_known};
use super::rows::Change;
use super::tree::Tree;
use crate::carried_header;
use crate::database::Index as Database;
use crate::elements::{Element, Elements, End};
use crate::facts;
use crate::gather::{Gathered, gather, made};
use crate::index::{Dialect, Index, Source};
use crate::nodes::Made;
use crate::place::{Kept, STORE};
use crate::session;
use crate::task;
use crate::text::Text;
use sepia_ir::{DriverError, ErrorCode, LogLevel, RewindPlan, Role, Session, SessionRef, SqlValue};
use sepia_sdk::Host;
use sepia_sdk::json::{Object, parse};
use sepia_sdk::metadata;
use std::collections::HashSet;

/// Bytes of a message that is too long to be looked into, which are copied at once.
const PIECE: u64 = 4 << 20;

/// See the module.
pub(crate) fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError> {
    let kept = locate_known(host, session)?;
    let unsupported = |what: &str| {
        let message = format!("session `{}` {what}, so it can't be cut back", session.id);
        DriverError::new(ErrorCode::Unsupported, message)
    };
    if matches!(kept, Kept::Task { .. }) {
        return Err(unsupported("is of the agent's older layout, which is only read"));
    }
    let mut found = session::find(host, &kept, &Database::new(host, Vec::new()), &task::Lists::new(host))?;
    if let Some(found) = &mut found {
        found.prepare(host)?;
    }
    let source = found.and_then(|found| found.source).ok_or_else(|| unsupported("has no messages"))?;
    let gathered = gather(host, &source, false)?;
    check(&gathered, plan, &source)?;
    let cut = Cut { host, source: &source, index: &gathered.index, kept: numbers(&plan.kept) };
    match kept {
        Kept::Folder(id) => {
            let placed = Placed::look(host, &id)?;
            match &placed.manifest {
                Some((_, bytes)) if facts::of_manifest(bytes, &id).1.is_none() => beside(&cut, &id, &placed, &header),
                _ => cut.write(&source.place.path, Some(source.place.bytes)).map(drop),
            }
        }
        _ => cut.write(&source.place.path, Some(source.place.bytes)).map(drop),
    }
}

fn numbers(nodes: &[i64]) -> HashSet<u32> {
    nodes.iter().filter_map(|node| u32::try_from(*node).ok()).collect()
}

/// Holds that the plan is one of the session as it is.
fn check(gathered: &Gathered, plan: &RewindPlan, source: &Source) -> Result<(), DriverError> {
    let all = numbers(&plan.kept).union(&numbers(&plan.removed)).count();
    if gathered.torn || all != gathered.index.total as usize || plan.kept.len() + plan.removed.len() != all {
        return Err(crate::window::changed(&source.place.path));
    }
    Ok(())
}

/// Writes what stays beside what is there, and has the manifest name it.
fn beside(cut: &Cut<'_>, id: &str, placed: &Placed, header: &Session) -> Result<(), DriverError> {
    let host = cut.host;
    let (path, bytes) = placed.other_transcript(id);
    let messages = cut.write(&path, Some(bytes))?;
    let mut named = false;
    if let Err(error) = switch(host, id, placed, header, &path, &mut named) {
        if named {
            // The manifest could not be brought back: the session is the new one, with both files there.
            return Err(error);
        }
        return Err(match host.discard(STORE, &path) {
            Ok(_) => error,
            Err(more) => DriverError::new(error.code, format!("{error}; `{path}` is left behind: {more}")),
        });
    }
    let mut over: Vec<&str> = placed.transcript.iter().map(|file| file.path.as_str()).collect();
    // What a compaction left holds as long as all of what it was made of stays.
    if let Some(compaction) = placed.compaction.as_ref().filter(|_| !messages.holds_compacted) {
        over.push(&compaction.path);
    }
    for path in over {
        if let Err(error) = host.discard(STORE, path) {
            let message = format!("`{path}` is no longer used and could not be taken away: {error}");
            host.log(LogLevel::Warn, &message);
        }
    }
    Ok(())
}

/// Has manifest and row name another transcript. `named` says whether the manifest does so now.
fn switch(
    host: &Host,
    id: &str,
    placed: &Placed,
    header: &Session,
    path: &str,
    named: &mut bool,
) -> Result<(), DriverError> {
    let Some((manifest_path, bytes)) = &placed.manifest else { return Ok(()) };
    let messages_path = absolute(host, path)?;
    let old = String::from_utf8_lossy(bytes);
    let new = rewound(host, id, &old, header, &messages_path).ok_or_else(|| {
        DriverError::new(ErrorCode::Conflict, format!("the manifest `{manifest_path}` can't be read"))
    })?;
    let change = match &placed.row {
        Some(row) => {
            let change = Change::begin(host)?;
            let mut columns = vec![("messages_path", SqlValue::Text(messages_path.clone()))];
            if row.text("ended_at").is_some() {
                columns.extend(iso(header.last_activity_at).map(|at| ("ended_at", SqlValue::Text(at))));
            }
            columns.extend(iso(manifest::now()).map(|at| ("updated_at", SqlValue::Text(at))));
            change.update(id, &columns)?;
            Some(change)
        }
        None => None,
    };
    host.replace(STORE, manifest_path, new.as_bytes(), MODE, Some(bytes.len() as u64))?;
    *named = true;
    let Some(change) = change else { return Ok(()) };
    change.commit().or_else(|error| {
        host.replace(STORE, manifest_path, bytes, MODE, None)?;
        *named = false;
        Err(error)
    })
}

/// The manifest of the session as it is to be.
fn rewound(host: &Host, id: &str, old: &str, header: &Session, messages_path: &str) -> Option<String> {
    let members = parse::<Object<'_>>(old).ok()?;
    let ended = members.get("ended_at").and_then(|_| iso(header.last_activity_at));
    let mut changes = vec![("messages_path", Some(metadata::string(messages_path)))];
    if let Some(ended) = &ended {
        changes.push(("ended_at", Some(metadata::string(ended))));
    }
    let meta = members.get("metadata").map(serde_json::value::RawValue::get);
    let bare = meta.and_then(|meta| changed(meta, &[(sepia_sdk::carried::KEY, None)], Form::File(2)));
    let carries = meta.and_then(|meta| parse::<Object<'_>>(meta).ok()?.get(sepia_sdk::carried::KEY)).is_some();
    if let (true, Some(bare), Some(ended)) = (carries, bare, &ended) {
        // What is carried is told of the session as it is now.
        let without = changed(old, &[&changes[..], &[("metadata", Some(bare.clone()))]].concat(), Form::File(0))?;
        let (facts, _) = facts::of_manifest(without.as_bytes(), id);
        let native = session::of_facts(host, id, &facts, manifest::now()).ok()?;
        let native = Session { main_chain_id: header.main_chain_id, ..native };
        let title = facts.meta.title.as_deref();
        let carried = carried_header::difference(header, &native, title, ended);
        changes.push(("metadata", changed(&bare, &[(sepia_sdk::carried::KEY, carried)], Form::File(2))));
    }
    changed(old, &changes, Form::File(0)).map(|json| json + "\n")
}

/// What stays of a transcript.
struct Cut<'a> {
    host: &'a Host,
    source: &'a Source,
    index: &'a Index,
    /// Numbers of the nodes that stay.
    kept: HashSet<u32>,
}

/// What was written.
#[derive(Debug, Clone, Copy)]
struct Written {
    /// All messages that a compaction was made of stayed.
    holds_compacted: bool,
}

impl Cut<'_> {
    /// Writes what stays.
    fn write(&self, path: &str, expect: Option<u64>) -> Result<Written, DriverError> {
        let place = &self.source.place;
        let mut elements = Elements::new(self.host, place.clone());
        elements.begin()?;
        let head = self.read(0, elements.offset())?;
        let mut output = Output::begin(self.host, Some(path), &head)?;
        let last = self.kept.iter().copied().max().unwrap_or_default();
        let (mut next, mut tree) = (1u32, Tree::default());
        while let Some(element) = elements.next()? {
            let Element { offset, length, bytes } = element;
            let Some(bytes) = bytes else {
                // Too long to be looked into: one node.
                if self.kept.contains(&next) {
                    tree.place(next.into(), self.parent(next), false);
                    output.begin_message()?;
                    let mut at = offset;
                    while at < offset + length {
                        let piece = self.read(at, (at + PIECE).min(offset + length))?;
                        output.bytes(&piece)?;
                        at += piece.len() as u64;
                    }
                }
                next += 1;
                continue;
            };
            let text = Text::of(bytes);
            let Ok(Some(made)) = made(&text, next, Dialect::Session) else {
                if next <= last {
                    output.message(bytes)?;
                }
                continue;
            };
            let nodes = u32::try_from(made.nodes.len()).unwrap_or(u32::MAX);
            let stay: Vec<bool> = (next..next + nodes).map(|node| self.kept.contains(&node)).collect();
            if stay.iter().all(|stays| *stays) {
                match self.moved(&mut tree, next, &made, text.get()) {
                    Some(json) => output.message(json.as_bytes())?,
                    None => output.message(bytes)?,
                }
            } else if let Some(json) = part(&made, &stay, text.get()) {
                for (node, _) in (next..).zip(&stay).filter(|(_, stays)| **stays) {
                    tree.place(node.into(), self.parent(node), false);
                }
                output.message(json.as_bytes())?;
            }
            next += nodes;
        }
        let behind = elements.offset();
        if elements.end()? != End::Whole {
            return Err(crate::window::changed(&place.path));
        }
        let mut tail = b"\n  ]".to_vec();
        tail.extend(self.read(behind, place.bytes)?);
        output.finish(&tail, expect)?;
        let compacted = self.source.compaction.as_ref().map_or(u32::MAX, |compacted| compacted.messages);
        let holds =
            self.index.messages.iter().take(compacted as usize).all(|message| self.kept.contains(&message.first));
        Ok(Written { holds_compacted: compacted < u32::MAX && holds })
    }

    fn read(&self, from: u64, to: u64) -> Result<Vec<u8>, DriverError> {
        let mut bytes = Vec::new();
        while from + (bytes.len() as u64) < to {
            let left = u32::try_from((to - from - bytes.len() as u64).min(PIECE)).unwrap_or(u32::MAX);
            let piece = self.host.read(STORE, &self.source.place.path, from + bytes.len() as u64, left)?;
            if piece.is_empty() {
                return Err(crate::window::changed(&self.source.place.path));
            }
            bytes.extend(piece);
        }
        Ok(bytes)
    }

    fn parent(&self, node: u32) -> Option<i64> {
        let mut parent = self.index.parent_of(node);
        // The parent of a node whose parent goes is the nearest one that stays.
        while let Some(gone) = parent.filter(|parent| !self.kept.contains(parent)) {
            parent = self.index.parent_of(gone).filter(|before| *before < gone);
        }
        parent.map(i64::from)
    }

    /// The message with its place in the tree told anew; none when that is as it was.
    fn moved(&self, tree: &mut Tree, first: u32, made: &Made, text: &str) -> Option<String> {
        let carried = made.carried.unwrap_or_default();
        let mut back = None;
        for (at, _) in made.nodes.iter().enumerate() {
            let node = first + u32::try_from(at).ok()?;
            back = tree.place(node.into(), self.parent(node), carried.side).back;
        }
        if back == carried.back || made.nodes.len() != 1 {
            return None;
        }
        let key = sepia_sdk::carried::KEY;
        let members = parse::<Object<'_>>(text).ok()?;
        let beside = members.get(key).map_or("{}", serde_json::value::RawValue::get);
        let beside = changed(beside, &[("back", back.map(|back| back.to_string()))], Form::Column)?;
        changed(text, &[(key, Some(beside))], Form::Column)
    }
}

/// A message with those of its blocks that make nodes which stay; none when nothing does.
fn part(made: &Made, stay: &[bool], text: &str) -> Option<String> {
    let members = parse::<Object<'_>>(text).ok()?;
    let blocks = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(members.get("content")?.get()).ok()?;
    let results = made.nodes.iter().filter(|node| node.role == Role::Tool).count();
    let mut met = 0;
    let kept: Vec<String> = blocks
        .into_iter()
        .filter(|block| {
            let object = parse::<Object<'_>>(block.get()).unwrap_or_default();
            let is_result = object.get("type").is_some_and(|kind| kind.get() == "\"tool_result\"");
            let has_call = sepia_sdk::json::text_of(object.get("tool_use_id")).is_some_and(|id| !id.is_empty());
            if is_result && has_call {
                met += 1;
                return stay.get(met - 1).copied().unwrap_or_default();
            }
            stay.get(results).copied().unwrap_or_default()
        })
        .map(|block| block.get().to_owned())
        .collect();
    if kept.is_empty() {
        return None;
    }
    changed(text, &[("content", Some(format!("[{}]", kept.join(","))))], Form::Column)
}
