//! The state of the work in a conversation: tasks, summary, plan.

use crate::blobs::{Blob, Blobs, hex};
use crate::proto::{ConversationPlan, ConversationStateStructure, ConversationSummary, TodoItem};
use crate::record::{About, Todo};
use prost::Message;
use sepia_ir::DriverError;

/// Text of a field that may hold any bytes; absent when it is empty.
fn lossy(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Small blobs that tell the state of the work.
pub(crate) fn tell(about: &mut About, root: &ConversationStateStructure, blobs: &Blobs) -> Result<(), DriverError> {
    let todos: Vec<String> = root.todo_ids.iter().map(|id| hex(id)).collect();
    for blob in blobs.all(&todos)? {
        let Blob::Read(bytes) = blob else { continue };
        let Ok(todo) = TodoItem::decode(bytes.as_slice()) else { continue };
        let status = match todo.status {
            2 => "in_progress",
            3 => "completed",
            4 => "cancelled",
            _ => "pending",
        };
        let text = |bytes: &[u8]| lossy(bytes).unwrap_or_default();
        about.todos.push(Todo { id: text(&todo.id), content: text(&todo.content), status });
    }
    if let Some(bytes) = blobs.one(&hex(&root.summary_id))? {
        about.summary = ConversationSummary::decode(bytes.as_slice()).ok().and_then(|summary| lossy(&summary.summary));
    }
    if let Some(bytes) = blobs.one(&hex(&root.plan_id))? {
        about.plan = ConversationPlan::decode(bytes.as_slice()).ok().and_then(|plan| lossy(&plan.plan));
    }
    Ok(())
}
