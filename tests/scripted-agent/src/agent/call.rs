//! A request or notification of the client.

use super::bell::Bell;
use super::history::text_of;
use super::sessions::Session;
use serde_json::Value;
use std::sync::Arc;

/// What is asked for.
pub(crate) struct Call {
    /// None: it is a notification.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// The session that it names, or for a new one the id that it will have.
    pub(crate) session_id: Option<String>,
    /// The session of a prompt.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) bell: Arc<Bell>,
}

impl Call {
    /// The content blocks of a prompt.
    pub(crate) fn blocks(&self) -> &[Value] {
        self.params.get("prompt").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The text of a prompt.
    pub(crate) fn text(&self) -> String {
        text_of(self.blocks())
    }

    /// A text of the params.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }
}
