//! A chat that is cut back: a new root that names the kept messages and turns, and everything else as
//! the root before it. What is removed stays in the database behind that earlier root, as all
//! earlier states of a chat do.

use super::draft::ms;
use super::home::writable;
use super::over;
use super::rows::Rows;
use super::wire::{Field, Wire, fields};
use super::{note, settings};
use crate::blobs::{Blob, Blobs, bytes_of, hex};
use crate::conversation::Conversation;
use crate::key::Kind;
use crate::message::unhex;
use crate::proto::conversation_turn_structure::Turn;
use crate::proto::{ConversationStateStructure, ConversationTurnStructure};
use crate::record::Record;
use crate::saved::{self, Lies, Planned, Saved, Switch, Under};
use crate::step::{ALL, Chain};
use prost::Message;
use sepia_ir::{DriverError, ErrorCode, RewindPlan, Role, Session, SessionRef, SqlValue};
use sepia_sdk::{Host, carried};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// Fields of a root that are written anew, or go: messages, calls without a result, turns, archives of
/// compactions, times of turns, the number of compactions.
const MESSAGES: u32 = 1;
const PENDING: u32 = 4;
const TURNS: u32 = 8;
const ARCHIVES: [u32; 2] = [11, 13];
const TIMINGS: u32 = 14;
const COMPACTIONS: u32 = 17;

/// What stays of a chat.
#[derive(Debug, Default)]
struct Stays {
    /// Of each message whether it stays.
    messages: Vec<bool>,
    /// Requests whose prompt goes.
    gone: HashSet<String>,
    /// The last request whose prompt stays, and how many steps of its answer do.
    last: Option<(String, usize)>,
}

/// See `SessionWrite::rewind`.
pub(crate) fn rewind(
    host: &Host,
    session: &SessionRef,
    plan: &RewindPlan,
    header: &Session,
) -> Result<(), DriverError> {
    let (home, record) = writable(host, session)?;
    if record.about.recovered_root.is_some() {
        let message = format!(
            "the state of session `{}` is missing, so it can't be cut back; copy what is left into a new session",
            session.id
        );
        return Err(DriverError::new(ErrorCode::Conflict, message));
    }
    let database: Rc<dyn sepia_sdk::Database> = host.database(home.store, &home.database())?.into();
    let bytes = over::root(&*database)?;
    let root = ConversationStateStructure::decode(bytes.as_slice()).map_err(|e| {
        DriverError::new(ErrorCode::Store, format!("the state of session `{}` can't be read: {e}", session.id))
    })?;
    let row = (*database).rows("SELECT CAST(value AS TEXT) FROM meta WHERE key = 'sepia'", &[])?;
    let row = row.into_iter().flatten().next().map(bytes_of).unwrap_or_default();
    let beside = Saved::parse(&String::from_utf8_lossy(&row));
    let blobs = Blobs::of_chat(Rc::clone(&database));
    let conversation = Conversation::read(&root, &blobs, beside.as_ref())?;
    let stays = stays(&record, &conversation, plan)?;
    // All reading is done before a transaction starts, which a reader would take for another program.
    let (turns, cut) = turns(&root, &blobs, &stays)?;
    let mut rows = Rows::new(host);
    let writing = host.writable_database(home.store, &home.database())?;
    writing.begin()?;
    if over::root(&*writing)? != bytes {
        let message = format!("session `{}` changed while it was being cut back; try again", session.id);
        return Err(DriverError::new(ErrorCode::Conflict, message));
    }
    let mut turn_ids = turns;
    if let Some((at, turn)) = cut {
        turn_ids[at] = rows.blob(Some(&*writing), turn)?.to_vec();
    }
    let fresh = new_root(&bytes, &root, &conversation, &stays, &turn_ids)?;
    let root_id = hex(&rows.blob(Some(&*writing), fresh)?);
    let before = note::read(host, &home)?;
    let after = match (&before, home.kind) {
        (Some(before), Kind::Chat | Kind::ConfigChat) if header.last_activity_at > 0.0 => {
            Some(note::with(before, &[("updatedAtMs", ms(header.last_activity_at).to_string())]))
        }
        _ => None,
    };
    if let Some(beside) = beside {
        let went_on = beside.root != record.about.root.clone().unwrap_or_default();
        let switch = before
            .as_ref()
            .zip(after.clone())
            .map(|(before, is)| Switch { was: hex(&host.sha256(before.as_bytes())), is });
        let saved = Saved {
            root: root_id.clone(),
            session: beside.session.as_deref().and_then(|raw| older(raw, went_on)),
            note: switch,
            ..beside
        };
        let planned = planned(&conversation, &stays);
        let key = |name: &str| format!("{}{name}", saved.rows());
        let seen = planned.iter().filter(|node| node.lies == Lies::Seen).count();
        let order = saved::order(&planned).unwrap_or_else(|| format!("[{seen}]"));
        let prompts = serde_json::to_string(&header.prompt_history).unwrap_or_else(|_| "[]".to_owned());
        rows.setting(Some(&*writing), key("order"), order)?;
        rows.setting(Some(&*writing), key("prompts"), prompts)?;
        // A struct of plain members always has a JSON form.
        rows.setting(Some(&*writing), carried::KEY.to_owned(), serde_json::to_string(&saved).unwrap_or_default())?;
    }
    rows.flush(Some(&*writing))?;
    settings::set(&*writing, &[("latestRootBlobId", SqlValue::Text(root_id))])?;
    writing.commit()?;
    drop(writing);
    if let Some(after) = after {
        host.replace(home.store, &home.note(), after.as_bytes(), note::MODE, None)?;
    }
    if record.typed.as_ref().is_some_and(|typed| typed().is_ok_and(|typed| !typed.is_empty())) {
        let prompts: Vec<&str> = header.prompt_history.iter().map(|prompt| prompt.content.as_str()).collect();
        let text = serde_json::to_string(&prompts).unwrap_or_else(|_| "[]".to_owned());
        host.replace(home.store, &home.prompts(), text.as_bytes(), note::MODE, None)?;
    }
    Ok(())
}

/// What of the messages stays, by the nodes that do.
fn stays(record: &Record, conversation: &Conversation, plan: &RewindPlan) -> Result<Stays, DriverError> {
    let removed: HashSet<i64> = plan.removed.iter().copied().collect();
    let kept: HashSet<i64> = plan.kept.iter().copied().collect();
    let facts = Rc::new(record.facts()?);
    if let Some(unknown) = plan.kept.iter().chain(&plan.removed).find(|id| !(1..=facts.total()).contains(*id)) {
        let message =
            format!("session `{}` has no node {unknown}; look at it again before it is cut back", record.session.id);
        return Err(DriverError::new(ErrorCode::Conflict, message));
    }
    let mut chain = Chain::new((record.reader)(ALL)?, facts, 0.0, 0.0);
    let mut stays = Stays::default();
    let mut stay = true;
    while let Some(steps) = chain.message(&mut Vec::new())? {
        // A message that makes no node goes with the one before it.
        if !steps.is_empty() {
            stay = steps.iter().any(|step| kept.contains(&step.node.node_id) || !removed.contains(&step.node.node_id));
        }
        let beside = conversation.notes.get(stays.messages.len()).is_some_and(|note| note.beside);
        stays.messages.push(stay);
        if beside {
            continue;
        }
        for step in steps {
            let request = step.request.filter(|request| !request.is_empty() && step.node.role == Role::User);
            match (request, stay) {
                (Some(request), true) => stays.last = Some((request, 0)),
                (Some(request), false) => {
                    stays.gone.insert(request);
                }
                (None, true) if step.node.role == Role::Assistant => {
                    if let Some((_, told)) = &mut stays.last {
                        *told += usize::from(step.node.thinking.is_some())
                            + usize::from(!step.node.content.is_empty())
                            + step.node.tool_calls.len();
                    }
                }
                _ => {}
            }
        }
    }
    Ok(stays)
}

/// Ids of the turns that stay; of the last one that is cut short, where it is and what it becomes.
#[expect(clippy::type_complexity, reason = "said in words above")]
fn turns(
    root: &ConversationStateStructure,
    blobs: &Blobs,
    stays: &Stays,
) -> Result<(Vec<Vec<u8>>, Option<(usize, Vec<u8>)>), DriverError> {
    let ids: Vec<String> = root.turn_ids.iter().map(|id| hex(id)).collect();
    let (mut kept, mut cut) = (Vec::new(), None);
    for (id, blob) in root.turn_ids.iter().zip(blobs.all(&ids)?) {
        if let Blob::Read(bytes) = blob
            && let Ok(ConversationTurnStructure { turn: Some(Turn::AgentConversationTurn(turn)) }) =
                ConversationTurnStructure::decode(bytes.as_slice())
        {
            let request = String::from_utf8_lossy(&turn.request_id).into_owned();
            if stays.gone.contains(&request) {
                break;
            }
            if let Some((last, told)) = &stays.last
                && *last == request
                && turn.step_ids.len() > *told
            {
                cut = Some((kept.len(), shortened(&bytes, *told)?));
            }
        }
        kept.push(id.clone());
    }
    Ok((kept, cut))
}

/// A turn with its first steps alone.
fn shortened(turn: &[u8], steps: usize) -> Result<Vec<u8>, DriverError> {
    let mut out = Wire::default();
    for field in fields(turn)? {
        if field.number != 1 {
            out = out.whole(&field);
            continue;
        }
        let (mut inner, mut told) = (Wire::default(), 0);
        for field in fields(field.value)? {
            if field.number == 2 {
                told += 1;
                if told > steps {
                    continue;
                }
            }
            inner = inner.whole(&field);
        }
        out = out.message(1, inner);
    }
    Ok(out.finish())
}

/// The root that names what stays.
fn new_root(
    bytes: &[u8],
    root: &ConversationStateStructure,
    conversation: &Conversation,
    stays: &Stays,
    turns: &[Vec<u8>],
) -> Result<Vec<u8>, DriverError> {
    let own = || {
        conversation.messages.iter().zip(&conversation.notes).zip(&stays.messages).filter(|((_, note), _)| !note.beside)
    };
    let rest = own().skip_while(|((_, note), _)| !note.archived).skip_while(|((_, note), _)| note.archived);
    let rest: Vec<_> = rest.collect();
    // A compaction stays one when all that it took away stays, and something after it.
    let compacted = own().all(|((_, note), stays)| !note.archived || *stays) && rest.iter().any(|(_, stays)| **stays);
    let of = |blob: &String| unhex(blob).unwrap_or_default();
    let view: Vec<Vec<u8>> = if compacted {
        let front = root.message_ids.len().saturating_sub(rest.len());
        let rest = rest.iter().filter(|(_, stays)| **stays).map(|((blob, _), _)| of(blob));
        root.message_ids[..front].iter().cloned().chain(rest).collect()
    } else {
        own().filter(|(_, stays)| **stays).map(|((blob, _), _)| of(blob)).collect()
    };
    let goes = |field: &Field<'_>| match field.number {
        MESSAGES | PENDING | TURNS => true,
        number if ARCHIVES.contains(&number) || number == COMPACTIONS => !compacted,
        _ => false,
    };
    let mut out = view.iter().fold(Wire::default(), |out, id| out.bytes(MESSAGES, id));
    out = turns.iter().fold(out, |out, id| out.bytes(TURNS, id));
    let mut timings = 0;
    for field in fields(bytes)?.iter().filter(|field| !goes(field)) {
        if field.number == TIMINGS {
            timings += 1;
            if timings > turns.len() {
                continue;
            }
        }
        out = out.whole(field);
    }
    Ok(out.finish())
}

/// The order of the nodes that stay. What the agent added since the chat was saved gets numbers
/// under which nothing rides along.
fn planned(conversation: &Conversation, stays: &Stays) -> Vec<Planned> {
    let mut fresh =
        conversation.notes.iter().filter_map(|note| note.saved).max().map_or(0, |last| last.saturating_add(1));
    let mut planned = Vec::new();
    let mut kept: BTreeSet<u32> = BTreeSet::new();
    for ((blob, note), stays) in conversation.messages.iter().zip(&conversation.notes).zip(&stays.messages) {
        if !stays {
            continue;
        }
        let lies = match (note.beside, note.branch) {
            (false, _) => Lies::Seen,
            (true, None) => Lies::Unseen,
            // Under a node that went, it hangs under none.
            (true, Some(Under(parent))) => Lies::Left(parent.filter(|parent| kept.contains(parent))),
        };
        let number = note.saved.unwrap_or_else(|| {
            fresh = fresh.saturating_add(1);
            fresh - 1
        });
        kept.insert(number);
        planned.push(Planned { number, blob: blob.clone(), lies });
    }
    planned
}

/// What rode along with the session, without what the cut makes wrong.
fn older(raw: &RawValue, went_on: bool) -> Option<Box<RawValue>> {
    let Ok(Value::Object(mut told)) = serde_json::from_str(raw.get()) else { return None };
    told.remove("lastActivityAt");
    if went_on {
        told.remove("agentMode");
        told.remove("model");
    }
    if let Some(Value::Object(metadata)) = told.get_mut("metadata") {
        metadata.remove("stats");
    }
    RawValue::from_string(Value::Object(told).to_string()).ok()
}
