//! The agents that the plane knows, and what it can do for each.

use super::{AgentRuntime, Plane};
use schemars::JsonSchema;
use serde::Serialize;

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The `agent` of its sessions.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// What its driver can do: `sessionRead`, `sessionWrite`, `agentConfig`.
    pub capabilities: Vec<String>,
    /// `backendType` of its sessions.
    pub backend_type: String,
    /// Version of the driver.
    pub driver_version: String,
    /// `component` or `process`.
    pub driver_form: String,
    /// Where its sessions are.
    pub stores: Vec<AgentStore>,
    /// The program of its live sessions; `null`: they can only be read.
    pub runtime: Option<AgentRuntime>,
}

/// A place that an agent's sessions are in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentStore {
    /// Name within the driver.
    pub name: String,
    /// Absolute path, or why there is none.
    pub path: String,
    /// Whether anything is there.
    pub exists: bool,
}

impl Plane {
    /// The agents whose drivers are in use, in the order in which they are asked.
    pub async fn agents(&self) -> Vec<Agent> {
        let in_use =
            self.registry().await.found().iter().filter(|found| matches!(found.state, crate::registry::State::InUse));
        let agent = |found: &crate::registry::Found| {
            let about = found.about.as_ref()?;
            let stores = found.stores.iter().map(|store| AgentStore {
                name: store.request.name.clone(),
                path: store.place.as_ref().map_or_else(ToString::to_string, |place| place.path.display().to_string()),
                exists: store.exists,
            });
            Some(Agent {
                id: about.manifest.id.clone(),
                label: about.manifest.label.clone(),
                capabilities: about.capabilities.iter().map(|c| c.name().to_owned()).collect(),
                backend_type: about.manifest.backend_type.clone(),
                driver_version: about.manifest.version.clone(),
                driver_form: about.form.name().to_owned(),
                stores: stores.collect(),
                runtime: AgentRuntime::of(about, &self.environment),
            })
        };
        in_use.filter_map(agent).collect()
    }
}
