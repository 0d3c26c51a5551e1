//! What we send to agents.

use super::part::PromptPart;
use super::permission::Outcome;
use serde::Serialize;

/// Version of the protocol that we speak.
const VERSION: u16 = 1;

/// `initialize`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    protocol_version: u16,
    client_capabilities: ClientCapabilities,
    client_info: ClientInfo,
}

#[derive(Debug, Serialize)]
struct ClientCapabilities {
    fs: FileCapabilities,
    terminal: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileCapabilities {
    read_text_file: bool,
    write_text_file: bool,
}

#[derive(Debug, Serialize)]
struct ClientInfo {
    name: &'static str,
    version: &'static str,
}

impl Initialize {
    /// A client that reads no files for its agent and lends it no terminal.
    pub(super) fn new() -> Self {
        Self {
            protocol_version: VERSION,
            client_capabilities: ClientCapabilities {
                fs: FileCapabilities { read_text_file: false, write_text_file: false },
                terminal: false,
            },
            client_info: ClientInfo { name: "sepia", version: env!("CARGO_PKG_VERSION") },
        }
    }
}

/// A server of tools that the agent is to use; we name none.
#[derive(Debug, Serialize)]
pub(super) enum McpServer {}

/// `session/new`, and with an id `session/load`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenSession<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
    pub(super) cwd: &'a str,
    pub(super) mcp_servers: [McpServer; 0],
}

/// `session/prompt`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt<'a> {
    pub(super) session_id: &'a str,
    pub(super) prompt: &'a [PromptPart],
}

/// `session/cancel`, `session/close`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfSession<'a> {
    pub(super) session_id: &'a str,
}

/// `session/set_config_option`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetConfigOption<'a> {
    pub(super) session_id: &'a str,
    pub(super) config_id: &'a str,
    pub(super) value: &'a str,
}

/// The answer to `session/request_permission`.
#[derive(Debug, Serialize)]
pub(super) struct PermissionAnswer<'a> {
    pub(super) outcome: &'a Outcome,
}
