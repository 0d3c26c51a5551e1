//! Which program serves an agent's live sessions on this machine.

use super::launch::Launch;
use crate::acp::runtimes::{Choice, Command, Runtime};
use crate::environment::Environment;
use crate::loader::About;
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::process::Variable;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsString;
use std::sync::Arc;

/// The program of an agent, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRuntime {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where the program is; `null` when it is not installed.
    pub program: Option<String>,
    /// Whether sessions of the agent can go live here.
    pub installed: bool,
    /// The variable that names the command, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

impl AgentRuntime {
    /// Of a driver's word; none when its agent has no program.
    pub(in crate::plane) fn of(about: &About, environment: &Environment) -> Option<Self> {
        let command = command_of(about, environment);
        (!command.words.is_empty()).then(|| Self {
            installed: command.found.is_some(),
            program: command.found.map(|path| path.display().to_string()),
            command: command.words,
            variable: command.variable,
        })
    }
}

fn command_of(about: &About, environment: &Environment) -> Command {
    Command::of(&about.manifest.id, &about.manifest.agent_command, environment)
}

impl Plane {
    /// How the agent's program is started for a session that works in `cwd`; `unknown_agent` when
    /// it has none, or none is installed.
    pub(super) async fn launch(&self, about: &About, cwd: String, choice: &Choice) -> Result<Launch, PlaneError> {
        let (id, label) = (&about.manifest.id, &about.manifest.label);
        let command = command_of(about, &self.environment);
        let moved = self.moved_stores(id).await;
        let runtime = Runtime::new(id, label, &command, choice, moved, &self.environment).ok_or_else(|| {
            let variable = format!("SEPIA_AGENT_{}_COMMAND", id.to_uppercase().replace('-', "_"));
            let message = match command.words.first() {
                None => format!("agent `{id}` has no program for live sessions; its sessions can be read"),
                Some(word) => format!(
                    "`{word}`, the program of agent `{id}`, is not installed; install it, or name it in {variable}"
                ),
            };
            PlaneError::new(ErrorKind::UnknownAgent, message)
        })?;
        Ok(Launch {
            runtime,
            cwd,
            limits: self.live.agent_limits,
            strays: Arc::clone(&self.live.strays),
            running: self.live.running.clone(),
            closing: self.live.closing.subscribe(),
        })
    }

    /// Variables of an agent's own that say where its stores are, set to where we read them: a
    /// session is to go on where it was found.
    async fn moved_stores(&self, agent: &str) -> Vec<Variable> {
        let registry = self.registry().await;
        let mut moved: Vec<Variable> = Vec::new();
        for store in registry.stores_of(agent) {
            let Ok(place) = &store.place else { continue };
            if place.moved_by.is_none() {
                continue;
            }
            for name in &store.request.env {
                let (base, below) =
                    name.split_once('/').map_or((name.as_str(), None), |(base, below)| (base, Some(below)));
                if base.starts_with("SEPIA_") {
                    continue;
                }
                let value: Option<OsString> = match below {
                    None => Some(place.path.clone().into()),
                    Some(_) => self.environment.get(base),
                };
                moved.extend(value.map(|value| (base.into(), value)));
            }
        }
        moved
    }
}
