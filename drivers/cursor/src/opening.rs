//! How a conversation begins: the first prompt, and the directory that its context names.

use crate::blobs::{Blob, Blobs};
use crate::conversation::Conversation;
use crate::json::decoded;
use crate::message;
use crate::prompt::one_line;
use crate::proto::ConversationStateStructure;
use sepia_ir::DriverError;
use std::cell::OnceCell;

/// Messages at the start of a chat in which its first prompt is looked for.
const OPENING: usize = 12;

/// The first messages of a conversation, read when they are asked for.
pub(crate) struct Opening<'a> {
    blobs: &'a Blobs,
    root: &'a ConversationStateStructure,
    read: OnceCell<(Option<String>, Option<String>)>,
}

impl<'a> Opening<'a> {
    pub(crate) fn of(blobs: &'a Blobs, root: &'a ConversationStateStructure) -> Self {
        Self { blobs, root, read: OnceCell::new() }
    }

    /// First prompt and directory.
    fn look(&self) -> Result<&(Option<String>, Option<String>), DriverError> {
        if let Some(known) = self.read.get() {
            return Ok(known);
        }
        let order = Conversation::order(self.root, self.blobs)?;
        let first = &order.messages[..order.messages.len().min(OPENING)];
        let (mut prompt, mut directory) = (None, None);
        for blob in self.blobs.all(first)? {
            let Blob::Read(bytes) = blob else { continue };
            let text = decoded(&bytes).0;
            for step in message::steps(&text, message::Place::default()).unwrap_or_default() {
                if directory.is_none() && step.node.role == sepia_ir::Role::User {
                    directory = workspace(&step.node.content);
                }
                prompt = prompt.or(step.prompt.filter(|prompt| !prompt.is_empty()));
            }
            if prompt.is_some() {
                break;
            }
        }
        Ok(self.read.get_or_init(|| (prompt, directory)))
    }

    /// A title made of the first prompt, else of the id, and which it is.
    pub(crate) fn title(&self, id: &str) -> Result<(String, &'static str), DriverError> {
        let prompt = self.look()?.0.as_deref().map(one_line).filter(|prompt| !prompt.is_empty());
        Ok(prompt.map_or_else(|| (id.chars().take(8).collect(), "id"), |prompt| (prompt, "first-prompt")))
    }

    /// The directory that its context names.
    pub(crate) fn workspace(&self) -> Result<Option<String>, DriverError> {
        Ok(self.look()?.1.clone())
    }
}

/// The directory that the context of a chat names.
fn workspace(context: &str) -> Option<String> {
    let line = context
        .trim_start()
        .strip_prefix("<user_info>")?
        .lines()
        .find_map(|line| line.strip_prefix("Workspace Path: "))?;
    Some(line.trim().to_owned()).filter(|path| !path.is_empty())
}
