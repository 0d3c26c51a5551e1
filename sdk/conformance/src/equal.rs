//! Whether a session that was written and read is the one that was to be written.

use sepia_ir::{Loss, LossKind, MessageNode, Session};
use std::collections::HashMap;

/// Compares a session with what is read of it after it was written: everything but its id, its agent and the
/// numbers of its nodes has to be equal, except what the losses declare: dropped nodes are gone, and of
/// mapped ones only the role is compared. Says what is different.
pub fn equal_but_for(sent: &Session, read: &Session, losses: &[Loss]) -> Result<(), String> {
    header(sent, read)?;
    let lost = |node: i64, kind: LossKind| losses.iter().any(|loss| loss.node_id == Some(node) && loss.kind == kind);
    let kept: Vec<&MessageNode> = sent.nodes.iter().filter(|n| !lost(n.node_id, LossKind::Dropped)).collect();
    if kept.len() != read.nodes.len() {
        return Err(format!("{} nodes became {}", kept.len(), read.nodes.len()));
    }
    let number: HashMap<i64, i64> =
        kept.iter().zip(&read.nodes).map(|(sent, read)| (sent.node_id, read.node_id)).collect();
    let parent_of: HashMap<i64, Option<i64>> = sent.nodes.iter().map(|n| (n.node_id, n.parent_node_id)).collect();
    for (wanted, found) in kept.iter().zip(&read.nodes) {
        // The parent of a node whose parent is gone is the nearest one that is not.
        let mut parent = wanted.parent_node_id;
        while let Some(gone) = parent.filter(|parent| !number.contains_key(parent)) {
            parent = parent_of.get(&gone).copied().flatten();
        }
        let parent = parent.map(|parent| number[&parent]);
        if lost(wanted.node_id, LossKind::Mapped) {
            if wanted.role != found.role {
                return Err(format!("node {} changed its role", wanted.node_id));
            }
            continue;
        }
        let wanted = MessageNode { node_id: found.node_id, parent_node_id: parent, ..(*wanted).clone() };
        if !same(&wanted, found) {
            return Err(format!("a node became something else:\n{wanted:#?}\n{found:#?}"));
        }
    }
    match number.get(&sent.main_chain_id) {
        Some(tip) if *tip != read.main_chain_id => {
            Err(format!("the tip is node {} instead of {tip}", read.main_chain_id))
        }
        _ => Ok(()),
    }
}

fn header(sent: &Session, read: &Session) -> Result<(), String> {
    let mut wanted = Session { nodes: Vec::new(), ..sent.clone() };
    let mut found = Session { nodes: Vec::new(), ..read.clone() };
    for session in [&mut wanted, &mut found] {
        session.id = String::new();
        session.backend_type = String::new();
        session.main_chain_id = 0;
    }
    // Metadata may gain members of the store, and loses none.
    let gained = gained(&wanted.metadata, &found.metadata);
    found.metadata.clone_from(&wanted.metadata);
    match (wanted == found, gained) {
        (true, Ok(())) => Ok(()),
        (false, _) => Err(format!("the session became something else:\n{wanted:#?}\n{found:#?}")),
        (_, Err(what)) => Err(what),
    }
}

fn same(wanted: &MessageNode, found: &MessageNode) -> bool {
    let mut found = found.clone();
    if gained(&wanted.metadata, &found.metadata).is_err() {
        return false;
    }
    found.metadata.clone_from(&wanted.metadata);
    *wanted == found
}

fn gained(wanted: &str, found: &str) -> Result<(), String> {
    use serde_json::Value;
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| format!("metadata is no JSON: {e}"));
    match (parse(wanted)?, parse(found)?) {
        (Value::Null, _) => Ok(()),
        (Value::Object(wanted), Value::Object(found)) => {
            match wanted.iter().find(|(key, value)| found.get(*key) != Some(value)) {
                None => Ok(()),
                Some((key, _)) => Err(format!("metadata lost its member {key}")),
            }
        }
        (wanted, found) if wanted == found => Ok(()),
        (wanted, found) => Err(format!("metadata {wanted} became {found}")),
    }
}
