//! Which title a session shows.
//!
//! The order is: what a person named it, what the agent named it, the older summary, the
//! first text that a person typed, the first command. The agent's own lists put the *latest*
//! prompt before the summary or before the first prompt; such a title changes with every turn,
//! so here it stands in `metadata.lastPrompt` and titles a session only when nothing else does.

use crate::ends::Ends;
use crate::restoring::Carried;
use sepia_sdk::one_line;

/// Titles found in a transcript, the latest of each kind.
#[derive(Debug, Default, Clone)]
pub(crate) struct Titles {
    /// Given by a person; empty when it was taken away again.
    pub(crate) custom: Option<String>,
    /// Made by the agent.
    pub(crate) generated: Option<String>,
    /// The older form.
    pub(crate) summary: Option<String>,
    /// What the record of a session that was brought here carries besides.
    pub(crate) carried: Option<Carried>,
}

/// The title, and where it is from.
pub(crate) fn choose(titles: &Titles, ends: &Ends, id: &str) -> (String, &'static str) {
    let candidates = [
        (titles.custom.as_deref(), "custom"),
        (titles.generated.as_deref(), "generated"),
        (titles.summary.as_deref(), "summary"),
        (ends.first_prompt.as_deref(), "first-prompt"),
        (ends.first_command.as_deref(), "first-command"),
        (ends.last_prompt.as_deref(), "last-prompt"),
    ];
    for (text, source) in candidates {
        let title = one_line(text.unwrap_or_default());
        if !title.is_empty() {
            return (title, source);
        }
    }
    (id.chars().take(8).collect(), "id")
}
