//! What the person typed in a session, in order.

use crate::place::Opened;
use crate::time;
use crate::value::{Columns, text};
use sepia_ir::{DriverError, PromptHistoryEntry};

/// The prompts of a session. Times are kept in seconds by most versions and in milliseconds by
/// some.
pub(crate) fn read(opened: &Opened, session: &str) -> Result<Vec<PromptHistoryEntry>, DriverError> {
    let schema = &opened.schema;
    if !schema.has("prompt_history", &["session_id", "content"]) {
        return Ok(Vec::new());
    }
    let columns = schema.select("prompt_history", "p", &["content", "timestamp", "is_shell", "id"]);
    let sql = format!("SELECT {columns} FROM prompt_history p WHERE p.session_id = ?");
    let mut prompts = Vec::new();
    for row in opened.database.rows(&sql, &[text(session)])? {
        let mut row = Columns::of(row);
        let Some(content) = row.text() else { continue };
        let timestamp = time::milliseconds(row.number().unwrap_or_default());
        prompts.push((PromptHistoryEntry { content, timestamp, is_shell: row.flag() }, row.whole()));
    }
    // By one unit of time: a store may hold both.
    prompts.sort_by(|(a, a_id), (b, b_id)| a.timestamp.total_cmp(&b.timestamp).then(a_id.cmp(b_id)));
    Ok(prompts.into_iter().map(|(prompt, _)| prompt).collect())
}
