//! Pages of a session.

use crate::node::MessageNode;
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Which session: its id as listed, or the id of its parent with the sub-agent's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SessionRef {
    /// Id.
    pub id: String,
    /// Agent id.
    #[cfg_attr(feature = "component", component(name = "agent-id"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// Branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum Branch {
    /// From the tip of the live branch up to its root, in order.
    #[cfg_attr(feature = "component", component(name = "live"))]
    Live,
    /// Every node, in the order of the store.
    #[cfg_attr(feature = "component", component(name = "all"))]
    All,
}

/// History query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct HistoryQuery {
    /// Nodes at most, at least 1.
    pub limit: u32,
    /// Exclusive end of the page, counted from the oldest node of the branch; absent:
    /// the newest page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Branch.
    pub branch: Branch,
    /// What an earlier page of this session returned as `index`, if the host still has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Vec<u8>>,
}

/// History page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct HistoryPage {
    /// Oldest first.
    pub nodes: Vec<MessageNode>,
    /// Nodes outside the page whose tool calls are answered inside it.
    #[cfg_attr(feature = "component", component(name = "tool-call-nodes"))]
    pub tool_call_nodes: Vec<MessageNode>,
    /// Nodes of the branch.
    pub total: u64,
    /// Position of the first node of the page.
    pub start: u64,
    /// Anything that makes the next page cheap, at most 64 MiB; absent when the one given is still right.
    /// The driver checks it against the store before it trusts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Vec<u8>>,
}
