//! The tools of an agent, asked about for one session: begun with the first call of a tool.

use crate::loader::{Fault, SessionWrite, Vocabulary};
use sepia_ir::ToolUse;

/// The tools of one agent.
pub(super) struct Tools<'a> {
    of: &'a dyn SessionWrite,
    is_begun: bool,
    vocabulary: Option<Box<dyn Vocabulary>>,
}

impl<'a> Tools<'a> {
    pub(super) fn of(of: &'a dyn SessionWrite) -> Self {
        Self { of, is_begun: false, vocabulary: None }
    }

    /// The agent's calls in common terms, one answer a call.
    pub(super) async fn common(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        match self.begun().await? {
            Some(vocabulary) => vocabulary.common_tools(calls).await,
            None => self.of.common_tools(calls).await,
        }
    }

    /// Common calls as the agent's own, one answer a call.
    pub(super) async fn own(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        match self.begun().await? {
            Some(vocabulary) => vocabulary.own_tools(calls).await,
            None => self.of.own_tools(calls).await,
        }
    }

    async fn begun(&mut self) -> Result<Option<&mut Box<dyn Vocabulary>>, Fault> {
        if !self.is_begun {
            self.vocabulary = self.of.vocabulary().await?;
            self.is_begun = true;
        }
        Ok(self.vocabulary.as_mut())
    }
}
