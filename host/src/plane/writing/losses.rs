//! What of a session its new agent can't hold as it was.

use schemars::JsonSchema;
use sepia_ir::{Loss, LossKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// Losses that are told one by one; of more only the number is.
const MOST: usize = 500;

/// A loss, told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToldLoss {
    /// `mapped` (became something else of the same meaning), `metadata-only` (carried, and the agent does
    /// not see it), `dropped` (gone).
    pub kind: &'static str,
    /// The node, where it is one of the session that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// One sentence.
    pub message: String,
}

/// How many losses there are of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LossCounts {
    /// Became something else of the same meaning.
    pub mapped: u64,
    /// Carried, and the agent does not see it.
    pub metadata_only: u64,
    /// Gone.
    pub dropped: u64,
}

/// Losses as they are met.
#[derive(Debug, Default)]
pub(super) struct Losses {
    told: Vec<Loss>,
    counts: LossCounts,
}

impl Losses {
    pub(super) fn add(&mut self, kind: LossKind, node: i64, message: impl FnOnce() -> String) {
        self.count(kind);
        if self.told.len() < MOST {
            self.told.push(Loss { kind, node_id: Some(node), message: message() });
        }
    }

    /// Those that the driver reports.
    pub(super) fn extend(&mut self, losses: Vec<Loss>) {
        for loss in losses {
            self.count(loss.kind);
            if self.told.len() < MOST {
                self.told.push(loss);
            }
        }
    }

    fn count(&mut self, kind: LossKind) {
        let counts = &mut self.counts;
        let count = match kind {
            LossKind::Mapped => &mut counts.mapped,
            LossKind::MetadataOnly => &mut counts.metadata_only,
            LossKind::Dropped => &mut counts.dropped,
        };
        *count += 1;
    }

    /// The losses one by one, as far as they are told, and how many there are. `source` gives the id that a
    /// node has where it comes from.
    pub(super) fn finish(self, source: impl Fn(i64) -> Option<i64>) -> (Vec<ToldLoss>, LossCounts) {
        let told = self.told.into_iter().map(|loss| ToldLoss {
            kind: match loss.kind {
                LossKind::Mapped => "mapped",
                LossKind::MetadataOnly => "metadata-only",
                LossKind::Dropped => "dropped",
            },
            node_id: loss.node_id.and_then(&source),
            message: loss.message,
        });
        (told.collect(), self.counts)
    }
}

/// Losses for people: each sentence once, with how often it is met.
pub fn summed(losses: &[ToldLoss]) -> Vec<(&'static str, &str, usize)> {
    let mut sums: BTreeMap<(&'static str, &str), usize> = BTreeMap::new();
    for loss in losses {
        *sums.entry((loss.kind, loss.message.as_str())).or_default() += 1;
    }
    sums.into_iter().map(|((kind, message), count)| (kind, message, count)).collect()
}
