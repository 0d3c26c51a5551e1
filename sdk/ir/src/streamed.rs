//! A session as JSON while its nodes are still being made.

use crate::node::MessageNode;
use crate::session::Session;
use serde::Serialize;
use serde::ser::{Error, SerializeSeq, SerializeStruct, Serializer};
use std::cell::RefCell;

/// Where the nodes of a [`StreamedSession`] come from: batches, `None` at the end, or why
/// there are no more.
type Batches<'a> = dyn FnMut() -> Result<Option<Vec<MessageNode>>, String> + 'a;

/// A session that serialises exactly as [`Session`] does, its nodes taken batch by batch and
/// dropped when they are written. It can be serialised once.
pub struct StreamedSession<'a> {
    header: &'a Session,
    nodes: Nodes<'a>,
}

struct Nodes<'a>(RefCell<Box<Batches<'a>>>);

impl<'a> StreamedSession<'a> {
    /// The header, whose own `nodes` are passed over, with nodes from `next`.
    pub fn new(header: &'a Session, next: impl FnMut() -> Result<Option<Vec<MessageNode>>, String> + 'a) -> Self {
        Self { header, nodes: Nodes(RefCell::new(Box::new(next))) }
    }
}

/// Free-form JSON as the value that it is.
struct AsJson<'a>(&'a str);

impl Serialize for AsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::json_text::serialize(self.0, serializer)
    }
}

impl Serialize for StreamedSession<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let h = self.header;
        let mut out = serializer.serialize_struct("Session", 18)?;
        out.serialize_field("id", &h.id)?;
        out.serialize_field("title", &h.title)?;
        out.serialize_field("workingDirectory", &h.working_directory)?;
        out.serialize_field("backendType", &h.backend_type)?;
        out.serialize_field("agentMode", &h.agent_mode)?;
        out.serialize_field("model", &h.model)?;
        out.serialize_field("createdAt", &h.created_at)?;
        out.serialize_field("lastActivityAt", &h.last_activity_at)?;
        out.serialize_field("mainChainId", &h.main_chain_id)?;
        out.serialize_field("shellLastSeenIndex", &h.shell_last_seen_index)?;
        out.serialize_field("cogsJson", &h.cogs_json)?;
        out.serialize_field("workspaceDirs", &h.workspace_dirs)?;
        out.serialize_field("hidden", &h.hidden)?;
        if let Some(parent) = &h.parent_session_id {
            out.serialize_field("parentSessionId", parent)?;
        }
        if let Some(agent) = &h.agent_id {
            out.serialize_field("agentId", agent)?;
        }
        out.serialize_field("checkpoints", &h.checkpoints)?;
        out.serialize_field("metadata", &AsJson(&h.metadata))?;
        out.serialize_field("nodes", &self.nodes)?;
        out.serialize_field("promptHistory", &h.prompt_history)?;
        out.end()
    }
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut next = self.0.try_borrow_mut().map_err(S::Error::custom)?;
        let mut out = serializer.serialize_seq(None)?;
        while let Some(batch) = next().map_err(S::Error::custom)? {
            for node in &batch {
                out.serialize_element(node)?;
            }
        }
        out.end()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::StreamedSession;
    use crate::{CheckpointRef, MessageNode, PromptHistoryEntry, Role, Session};

    #[test]
    fn streamed_and_whole_are_the_same_text() {
        let mut session = Session::new("s", "b");
        session.parent_session_id = Some("p".into());
        session.agent_id = Some("a".into());
        session.metadata = r#"{"k":[1,2]}"#.into();
        session.checkpoints.push(CheckpointRef { ref_: "r".into(), created_at: 1.0, ..CheckpointRef::default() });
        session.prompt_history.push(PromptHistoryEntry { content: "hi".into(), timestamp: 2.0, is_shell: true });
        session.nodes = (1..=5).map(|id| MessageNode::new(id, Role::User, 3.5)).collect();
        let whole = serde_json::to_string(&session).unwrap();
        let nodes = std::mem::take(&mut session.nodes);
        let mut batches = nodes.chunks(2).map(<[_]>::to_vec);
        let streamed = serde_json::to_string(&StreamedSession::new(&session, || Ok(batches.next()))).unwrap();
        assert_eq!(streamed, whole);
    }

    #[test]
    fn a_source_that_fails_fails_the_writing() {
        let session = Session::new("s", "b");
        let streamed = StreamedSession::new(&session, || Err("gone".into()));
        assert!(serde_json::to_string(&streamed).unwrap_err().to_string().contains("gone"));
    }
}
