//! The config IR: what an agent is configured with.

use crate::json_text::{self, Json};
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// What an agent is configured with, at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentConfig {
    /// Instructions with files, loaded on demand.
    pub skills: Vec<Skill>,
    /// Instructions that always or for some files apply.
    pub rules: Vec<Rule>,
    /// Prompts with a name.
    pub commands: Vec<Command>,
    /// Programs run on events.
    pub hooks: Vec<Hook>,
    /// Sub-agents.
    pub agents: Vec<SubAgent>,
    /// JSON object: server name to its settings.
    #[serde(with = "json_text")]
    #[cfg_attr(feature = "component", component(name = "mcp-servers"))]
    pub mcp_servers: Json,
    /// What has no field of its own.
    #[serde(with = "json_text")]
    pub metadata: Json,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            skills: Vec::new(),
            rules: Vec::new(),
            commands: Vec::new(),
            hooks: Vec::new(),
            agents: Vec::new(),
            mcp_servers: "{}".to_owned(),
            metadata: json_text::null(),
        }
    }
}

/// Instructions with files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The instructions.
    #[serde(default)]
    pub body: String,
    /// What lies beside.
    #[serde(default)]
    pub files: Vec<SkillFile>,
    /// `sourcePath` and what has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    pub metadata: Json,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct SkillFile {
    /// Relative to the skill.
    pub path: String,
    /// Text.
    pub content: String,
}

/// Instructions that apply always or for some files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The instructions.
    #[serde(default)]
    pub body: String,
    /// Files for which it applies.
    #[serde(default)]
    pub globs: Vec<String>,
    /// Whether it applies always.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "always-apply"))]
    pub always_apply: bool,
    /// `rule` or `instructions`.
    #[serde(default = "default_rule_kind")]
    pub kind: String,
    /// `sourcePath` and what has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    pub metadata: Json,
}

fn default_rule_kind() -> String {
    "rule".to_owned()
}

/// A prompt with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The prompt.
    #[serde(default)]
    pub body: String,
    /// What to type after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "argument-hint"))]
    pub argument_hint: Option<String>,
    /// Tools that it may use; empty: no restriction.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "allowed-tools"))]
    pub allowed_tools: Vec<String>,
    /// Model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `sourcePath` and what has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    pub metadata: Json,
}

/// A program or prompt run on an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    /// `PascalCase`, as in `PreToolUse`.
    pub event: String,
    /// Which tools or sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// `command` or `prompt`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "component", component(name = "type"))]
    pub type_: String,
    /// The program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "timeout-sec"))]
    pub timeout_sec: Option<f64>,
    /// Whether a failure forbids the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "fail-closed"))]
    pub fail_closed: Option<bool>,
    /// How often it may run in a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "loop-limit"))]
    pub loop_limit: Option<i64>,
    /// What has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    pub metadata: Json,
}

/// A sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct SubAgent {
    /// Its name.
    pub name: String,
    /// When to use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its instructions.
    #[serde(default)]
    pub body: String,
    /// Tools that it may use; empty: no restriction.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Model to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `sourcePath` and what has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    pub metadata: Json,
}
