//! What the person typed in a session, in order.

use crate::order;
use crate::schema::Schema;
use crate::time;
use crate::value::Columns;
use sepia_ir::PromptHistoryEntry;

/// The prompts of a session. Times are kept in seconds by most versions and in milliseconds by
/// some.
#[derive(Debug, Default)]
pub(crate) struct Prompts(Vec<(PromptHistoryEntry, Option<i64>)>);

impl Prompts {
    /// The query whose rows [`Prompts::take`] takes.
    pub(crate) fn sql(schema: &Schema) -> Option<String> {
        schema.has("prompt_history", &["session_id", "content"]).then(|| {
            let columns = schema.select("prompt_history", "p", &["content", "timestamp", "is_shell", "id"]);
            format!("SELECT {columns} FROM prompt_history p WHERE p.session_id = ?1")
        })
    }

    /// Takes a row.
    pub(crate) fn take(&mut self, row: &mut Columns) {
        if let Some(content) = row.text() {
            let timestamp = time::stored_milliseconds(row.number().unwrap_or_default());
            self.0.push((PromptHistoryEntry { content, timestamp, is_shell: row.flag() }, row.whole()));
        }
    }

    /// The first that was typed for the model.
    pub(crate) fn first(&self) -> Option<&str> {
        let typed = self.0.iter().filter(|(prompt, id)| !prompt.is_shell && id.is_some());
        typed.min_by_key(|(_, id)| *id).map(|(prompt, _)| prompt.content.as_str())
    }

    /// All of them, by one unit of time: a store may hold both.
    pub(crate) fn in_order(self) -> Vec<PromptHistoryEntry> {
        let by_id = order::by(self.0, |(_, id)| id.unwrap_or_default());
        let prompts = by_id.into_iter().map(|(prompt, _)| prompt).collect();
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds; beyond what fits it is no time")]
        order::by(prompts, |prompt: &PromptHistoryEntry| prompt.timestamp as i64)
    }
}
