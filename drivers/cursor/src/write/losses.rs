//! What of a session its new agent does not see, as the report tells it.

use sepia_ir::{Loss, LossKind};

/// Nodes that are told one by one; of more only the number is told.
const MOST: usize = 1000;

/// Losses being gathered.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    told: Vec<Loss>,
    more: usize,
}

impl Losses {
    /// A node of which something is kept where the model does not see it.
    pub(crate) fn kept(&mut self, node_id: i64, what: &str) {
        if self.told.len() < MOST {
            let message = format!("{what} of node {node_id} is kept beside the chat, where the model does not see it");
            self.told.push(Loss { kind: LossKind::MetadataOnly, node_id: Some(node_id), message });
        } else {
            self.more += 1;
        }
    }

    /// Something of the session as a whole.
    pub(crate) fn session(&mut self, message: impl Into<String>) {
        self.told.push(Loss { kind: LossKind::MetadataOnly, node_id: None, message: message.into() });
    }

    pub(crate) fn finish(mut self) -> Vec<Loss> {
        if self.more > 0 {
            let message = format!(
                "parts of {} more nodes are kept beside the chat, where the model does not see them",
                self.more
            );
            self.session(message);
        }
        self.told
    }
}
