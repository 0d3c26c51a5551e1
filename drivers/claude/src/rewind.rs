//! Going back in a session, as the agent's own program does: a record says where the conversation stands. What came
//! after stays in the file as a branch that was left.

use crate::assemble::Envelope;
use crate::history::build;
use crate::index::{Index, NodeKind};
use crate::json::{Str, members, parse};
use crate::lines::{Lines, MAX_LINE};
use crate::place::{self, STORE, Transcript};
use crate::prompt::{self, Spoken};
use crate::save::closing::leaf_record;
use crate::save::prompts::LONGEST_PROMPT;
use crate::save::record::Records;
use crate::save::target::uuid_of;
use crate::transcript::tree;
use sepia_ir::{DriverError, ErrorCode, RewindPlan, Session, SessionRef};
use sepia_sdk::Host;
use std::collections::HashSet;
use std::rc::Rc;

members! {
    /// A record, for its id.
    Identified {
        uuid: Str<'a> = "uuid",
    }
}

/// Cuts a session back to the kept nodes; `header` names the tip.
pub(crate) fn rewind(
    host: &Host,
    session: &SessionRef,
    plan: &RewindPlan,
    header: &Session,
) -> Result<(), DriverError> {
    let located = place::locate(host, session)?;
    let unsupported = |message: &str| DriverError::new(ErrorCode::Unsupported, message);
    let transcript = Transcript::of(&located.file.path).ok_or_else(|| DriverError::unknown_session(&session.id))?;
    if located.inside.is_some() || transcript.is_agent() {
        return Err(unsupported("this agent doesn't go on with sub-agents, so there is no going back in them"));
    }
    let (index, envelope) = tree(host, session, &located)?;
    let tip = tip(&index, plan, header)?;
    let line = index.lines[index.nodes[tip as usize].last_line as usize];
    if line.length > MAX_LINE {
        return Err(unsupported("the message to go back to is longer than what sepia reads; choose the one before it"));
    }
    let mut lines = Lines::sparse(host.clone(), located.file.path.clone());
    let text = String::from_utf8_lossy(lines.get(line.offset, line.length)?).into_owned();
    let uuid = parse::<Identified<'_>>(&text).ok().and_then(|record| uuid_of(record.uuid.get()?));
    let Some(uuid) = uuid else {
        return Err(unsupported("the message to go back to has no id of the agent's form; choose another one"));
    };
    let prompt = latest_prompt(host, &located.file.path, index, envelope, tip)?;
    let mut records = Records::default();
    leaf_record(&mut records, uuid, true, &prompt, transcript.stem);
    host.append(STORE, &located.file.path, &records.bytes, located.file.bytes)
}

/// The node, from 0, that shall be the last: the one that the header names, or the last of the live branch that stays.
fn tip(index: &Index, plan: &RewindPlan, header: &Session) -> Result<u32, DriverError> {
    let at = |node: i64| u32::try_from(node.checked_sub(1)?).ok().filter(|at| (*at as usize) < index.nodes.len());
    let known = plan.kept.iter().chain(&plan.removed).all(|node| at(*node).is_some());
    if !known || plan.kept.len() + plan.removed.len() != index.nodes.len() {
        let message = "the session has other messages than the plan to go back in it; read it again";
        return Err(DriverError::new(ErrorCode::Conflict, message));
    }
    let kept: HashSet<u32> = plan.kept.iter().filter_map(|node| at(*node)).collect();
    let named = at(header.main_chain_id).filter(|tip| kept.contains(tip));
    let tip = named.or_else(|| index.live().into_iter().rfind(|node| kept.contains(node)));
    let above = |tip: u32| Index { tip: tip + 1, ..index.clone() }.live();
    match tip {
        Some(tip) if above(tip).iter().any(|node| !kept.contains(node)) => {
            let message = "a message that shall stay follows one that shall go; choose an earlier one to go back to";
            Err(DriverError::new(ErrorCode::Invalid, message))
        }
        Some(tip) if index.nodes[tip as usize].kind != NodeKind::System => Ok(tip),
        Some(_) => {
            let message = "the agent goes on from messages of the person, the model or a tool; choose one of these";
            Err(DriverError::new(ErrorCode::Unsupported, message))
        }
        None => {
            let message = "the agent can't go back to before the first message; delete the session instead";
            Err(DriverError::new(ErrorCode::Unsupported, message))
        }
    }
}

/// The latest prompt up to a node.
fn latest_prompt(
    host: &Host,
    path: &str,
    mut index: Index,
    envelope: Envelope,
    tip: u32,
) -> Result<String, DriverError> {
    index.tip = tip + 1;
    let prompts: Vec<u32> =
        index.live().into_iter().filter(|node| index.nodes[*node as usize].kind == NodeKind::User).collect();
    let index = Rc::new(index);
    for node in prompts.into_iter().rev() {
        let (nodes, _) = build(host, path, Rc::clone(&index), envelope.clone(), &[node])?;
        let Some(node) = nodes.first() else { continue };
        if let Spoken::Typed(text) = prompt::classify(&node.content)
            && !text.is_empty()
        {
            return Ok(text.chars().take(LONGEST_PROMPT).collect());
        }
    }
    Ok(String::new())
}
