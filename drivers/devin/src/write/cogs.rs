//! `cogs_json`: what the agent puts a session's context together from. Of a session of another
//! agent there are none. Whether a session needs some is not known for certain; the four that every session has,
//! with a model that this agent has used, are what it makes itself.
//!
//! They are never taken over whole from another session: they hold what the person allowed
//! there.

use super::shape::Shape;
use crate::schema::carried;
use crate::value::Columns;
use sepia_ir::{DriverError, Session};
use sepia_sdk::Database;
use sepia_sdk::metadata::Members;

/// Sessions looked at for a model.
const DONORS: u32 = 8;

/// The cogs of a session; none when there is no model to name.
pub(crate) fn of(header: &Session, shape: &Shape, database: &dyn Database) -> Result<Option<String>, DriverError> {
    if !matches!(header.cogs_json.trim(), "" | "[]" | "null") {
        return Ok(Some(header.cogs_json.clone()));
    }
    let model = match used(shape, database)? {
        Some(model) => model,
        None if header.model.is_empty() => return Ok(None),
        None => header.model.clone(),
    };
    let cogs = [
        cog("User", "core/plan_mask", None),
        cog("User", "core/accept_edits", None),
        cog("System", "core/parallel-tool-calls", None),
        cog("System", "core/model", Some(&model)),
    ];
    Ok(Some(format!("[{}]", cogs.join(","))))
}

/// The model that one of the newest sessions of the agent itself uses.
fn used(shape: &Shape, database: &dyn Database) -> Result<Option<String>, DriverError> {
    if !shape.has("sessions", &["cogs_json", "last_activity_at"]) {
        return Ok(None);
    }
    // Sessions that were written here have no model of their own.
    let is_carried = shape.has("sessions", &["metadata"]);
    let native = if is_carried { format!("({}) IS NULL", carried("d")) } else { "1".to_owned() };
    let sql = format!(
        "SELECT json_extract(c.value, '$.model') FROM (SELECT d.last_activity_at AS active, \
         CASE WHEN json_valid(d.cogs_json) AND json_type(d.cogs_json) = 'array' THEN d.cogs_json ELSE '[]' END AS cogs \
         FROM sessions d WHERE {native} ORDER BY d.last_activity_at DESC LIMIT {DONORS}) s, json_each(s.cogs) c \
         WHERE c.type = 'object' AND json_extract(c.value, '$.lifetime.Unique') = 'core/model' \
         ORDER BY s.active DESC"
    );
    let models = database.rows(&sql, &[])?.into_iter().filter_map(|row| Columns::of(row).text());
    Ok(models.into_iter().find(|model| !model.is_empty()))
}

fn cog(source: &str, name: &str, model: Option<&str>) -> String {
    let object = |key: &str, value: &str| {
        let mut members = Members::default();
        members.text(key, value);
        members.finish()
    };
    let mut cog = Members::default();
    cog.raw("source", &object("Session", source));
    cog.raw("lifetime", &object("Unique", name));
    cog.raw("set_system_prefix", "null");
    for list in ["append_system_messages", "context", "footer_messages", "user_display", "permissions"] {
        cog.raw(list, "[]");
    }
    cog.raw("tool_availability", "null");
    match model {
        Some(model) => cog.text("model", model),
        None => cog.raw("model", "null"),
    }
    cog.finish()
}
