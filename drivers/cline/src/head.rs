//! The start of a transcript: when it was written, and what was said first.

use crate::elements::Elements;
use crate::gather;
use crate::index::{Dialect, Source};
use crate::text::Text;
use crate::time;
use sepia_ir::{DriverError, Role};
use sepia_sdk::Host;

/// Messages that are looked at for the first prompt.
const MOST: usize = 32;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// When the agent wrote the file last, epoch seconds.
    pub(crate) updated: Option<f64>,
    pub(crate) prompt: Option<String>,
    /// Time of the first message, epoch seconds.
    pub(crate) started: Option<f64>,
}

/// Looks at the start of a transcript; at its messages only if it is asked to.
pub(crate) fn look(host: &Host, source: &Source, messages: bool) -> Result<Head, DriverError> {
    let mut elements = Elements::head(host, source.place.clone());
    elements.begin()?;
    let updated = elements.text_member("updated_at").and_then(|at| time::of_text(&at));
    let mut head = Head { updated, ..Head::default() };
    for _ in 0..if messages { MOST } else { 0 } {
        let Some(element) = elements.next()? else { break };
        let text = Text::of(element.bytes.unwrap_or_default());
        let Ok(Some(made)) = gather::made(&text, 1, source.dialect) else { continue };
        head.started = head.started.or(made.time);
        let typed = made.nodes.into_iter().find(|node| node.role == Role::User && gather::is_typed(node));
        if let Some(node) = typed {
            head.prompt = Some(node.content);
            break;
        }
    }
    Ok(head)
}

impl Source {
    /// A source for its head alone.
    pub(crate) fn head_of(place: crate::pieces::Place, dialect: Dialect) -> Self {
        Self { place, dialect, ..Self::default() }
    }
}
