//! Claude Code, on its own and behind the Agent Client Protocol.

use super::{KEY, LIMIT, confined, prompt};
use crate::Failed;
use crate::machine::Machine;
use crate::process_group::Group;
use crate::programs::Program;
use serde_json::Value;
use std::process::Command;

/// `claude -p --resume`: the answer that it prints.
pub(super) fn print(command: &mut Command, session: &str, machine: &Machine, server: &str) -> Result<String, Failed> {
    let prompt = prompt(Program::ClaudeCode);
    point(confined(command, machine), server).args(["-p", "--resume", session, &prompt, "--output-format", "json"]);
    let ended = Group::run(command, LIMIT)?;
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    match printed["result"].as_str() {
        Some(answer) if ended.status.success() && printed["is_error"] == false => Ok(answer.to_owned()),
        _ => Err(ended.said().into()),
    }
}

/// Points the program's model at the server.
pub(crate) fn point<'a>(command: &'a mut Command, server: &str) -> &'a mut Command {
    command
        .env("ANTHROPIC_BASE_URL", server)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
}
