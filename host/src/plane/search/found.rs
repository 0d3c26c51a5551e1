//! What a search hands on.

use crate::plane::row::SessionRow;
use schemars::JsonSchema;
use sepia_ir::{SearchHit, SearchPart, TextSpan};
use serde::Serialize;

/// A session that was found: its row in the list, and where it matches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundRow {
    /// As in `sessions.list`.
    #[serde(flatten)]
    pub row: SessionRow,
    /// The first of its texts that match, the title first, then in the order of the store.
    pub hits: Vec<Hit>,
    /// Whether there are more than these.
    pub more_hits: bool,
}

/// One text in which the query matches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// What the text is.
    pub part: SearchPart,
    /// Node of the session; absent for titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// Epoch milliseconds; absent for titles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<f64>,
    /// The tool of calls and results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The first match with the text around it, as it is in the text.
    pub snippet: String,
    /// Start and end of each match in the snippet, counted in UTF-16 code units.
    pub matches: Vec<[u32; 2]>,
    /// The same, counted in bytes.
    #[serde(skip)]
    pub spans: Vec<TextSpan>,
}

impl Hit {
    /// Of what a driver found.
    pub(super) fn of(hit: SearchHit) -> Self {
        let units = |bytes: u32| {
            let before = hit.snippet.get(..bytes as usize).unwrap_or_default();
            u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX)
        };
        Self {
            part: hit.part,
            node_id: hit.node_id,
            created_at: hit.node_id.map(|_| hit.created_at * 1000.0),
            tool_name: hit.tool_name,
            matches: hit.matches.iter().map(|span| [units(span.start), units(span.end)]).collect(),
            spans: hit.matches,
            snippet: hit.snippet,
        }
    }
}

impl FoundRow {
    /// A row that stands for something that could not be searched.
    pub fn of_warning(row: SessionRow) -> Self {
        Self { row, hits: Vec::new(), more_hits: false }
    }
}
