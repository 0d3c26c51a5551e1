//! A session cut back, as the agent itself does it: another node becomes the newest one, and
//! what came after it stays in the store, off the live branch.

use super::rename::changeable;
use super::target::Target;
use crate::session::CHECKPOINTS;
use crate::value::{Columns, text};
use sepia_ir::{DriverError, ErrorCode, RewindPlan, Session, SessionRef, SqlValue};
use sepia_sdk::{Database, Host};

pub(crate) fn rewind(
    host: &Host,
    session: &SessionRef,
    plan: &RewindPlan,
    header: &Session,
) -> Result<(), DriverError> {
    let (source, id) = changeable(host, session)?;
    let target = Target::open(host, source)?;
    if !target.shape.has("sessions", &["main_chain_id"]) {
        let message = "this version of the agent keeps no branches; the session can't be rewound";
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    target.all_or_nothing(|| {
        if plan.kept.is_empty() {
            empty(&target, &id)?;
        } else {
            cut(&target, &id, plan, header)?;
        }
        if target.shape.has("sessions", &["last_activity_at"]) && header.last_activity_at > 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
            let active = SqlValue::Integer(header.last_activity_at.ceil() as i64);
            target.database.execute("UPDATE sessions SET last_activity_at = ? WHERE id = ?", &[active, text(&id)])?;
        }
        checkpoints(&target, &id, header)
    })
}

/// Makes the newest node that stays the tip.
fn cut(target: &Target, id: &str, plan: &RewindPlan, header: &Session) -> Result<(), DriverError> {
    let tip = header.main_chain_id;
    if !plan.kept.contains(&tip) {
        let message =
            format!("node {tip} is to be the newest of the session and is none of those that stay; make a new plan");
        return Err(DriverError::new(ErrorCode::Invalid, message));
    }
    let which = [text(id), SqlValue::Integer(tip)];
    let database: &dyn Database = &*target.database;
    let found = database.rows("SELECT 1 FROM message_nodes WHERE session_id = ? AND node_id = ? LIMIT 1", &which)?;
    if found.is_empty() {
        return Err(changed(tip));
    }
    let sql = "UPDATE sessions SET main_chain_id = ? WHERE id = ?";
    target.database.execute(sql, &[SqlValue::Integer(tip), text(id)]).map(drop)
}

fn changed(tip: i64) -> DriverError {
    DriverError::new(
        ErrorCode::Conflict,
        format!("node {tip} is no longer in the session; read it again and make a new plan"),
    )
}

/// Takes all messages away: there is no node that could be the newest, and without one the agent
/// goes on at the last.
fn empty(target: &Target, id: &str) -> Result<(), DriverError> {
    for table in ["message_nodes", "tool_call_state", "subagent_heads"] {
        if target.shape.has(table, &["session_id"]) {
            target.database.execute(&format!("DELETE FROM {table} WHERE session_id = ?"), &[text(id)])?;
        }
    }
    let tip = if target.shape.is_filled("sessions", "main_chain_id") { SqlValue::Integer(0) } else { SqlValue::Null };
    target.database.execute("UPDATE sessions SET main_chain_id = ? WHERE id = ?", &[tip, text(id)]).map(drop)
}

/// Keeps the checkpoints that the session shall have.
fn checkpoints(target: &Target, id: &str, header: &Session) -> Result<(), DriverError> {
    if !target.shape.has("sessions", &["metadata"]) {
        return Ok(());
    }
    let place = text(&format!("$.\"{CHECKPOINTS}\""));
    let database: &dyn Database = &*target.database;
    let sql = "SELECT CASE WHEN json_valid(metadata) THEN json_extract(metadata, ?) END FROM sessions WHERE id = ?";
    let stored = database.rows(sql, &[place.clone(), text(id)])?.into_iter().next();
    if stored.and_then(|row| Columns::of(row).text()).is_none() {
        // None were kept here: there is nothing to cut.
        return Ok(());
    }
    // Checkpoints always have a JSON form.
    let left = serde_json::to_string(&header.checkpoints).unwrap_or_else(|_| "[]".to_owned());
    let sql = "UPDATE sessions SET metadata = json_set(metadata, ?, json(?)) WHERE id = ?";
    target.database.execute(sql, &[place, text(&left), text(id)]).map(drop)
}
