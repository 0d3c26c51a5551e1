//! Cline, through its Agent Client Protocol: it resumes from a command line only on a terminal.

use super::{KEY, confined};
use crate::Failed;
use crate::machine::Machine;
use serde_json::json;
use std::fs;
use std::process::Command;

/// The provider that is asked: with it a request has all that a session holds, in blocks.
const PROVIDER: &str = "anthropic";
/// A model of its catalogue; another is not taken from the environment.
const MODEL: &str = "claude-sonnet-4-6";

/// The command that speaks the Agent Client Protocol.
pub(crate) fn acp<'a>(command: &'a mut Command, machine: &Machine, server: &str) -> Result<&'a mut Command, Failed> {
    // Without the variable a daemon is started that outlives the program.
    Ok(point(confined(command, machine), machine, server)?.arg("--acp").env("CLINE_SESSION_BACKEND_MODE", "local"))
}

/// Points the program's model at the server, also in the settings that the machine has for it.
pub(crate) fn point<'a>(command: &'a mut Command, machine: &Machine, server: &str) -> Result<&'a mut Command, Failed> {
    settings(machine, server)?;
    Ok(command
        .env("CLINE_API_KEY", KEY)
        .env("CLINE_PROVIDER", PROVIDER)
        .env("CLINE_MODEL", MODEL)
        .env("CLINE_NO_AUTO_UPDATE", "1"))
}

/// Where the provider is can only be said in the settings of a person.
fn settings(machine: &Machine, server: &str) -> Result<(), Failed> {
    let folder = machine.home().join(".cline/data/settings");
    let provider = json!({
        "settings": {"provider": PROVIDER, "apiKey": KEY, "model": MODEL, "baseUrl": format!("{server}/v1")},
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual",
    });
    let settings = json!({"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": {PROVIDER: provider}});
    let written =
        fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("providers.json"), settings.to_string()));
    written.map_err(|e| format!("{} can't be written: {e}", folder.display()).into())
}
