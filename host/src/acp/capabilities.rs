//! What an agent's program says that it can do.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What an agent's program says that it can do, as booleans.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// It goes on with a session that it has stored.
    pub load_session: bool,
    /// It lists its sessions.
    pub session_list: bool,
    /// What a prompt may hold beside text and links.
    pub prompt_capabilities: PromptCapabilities,
    /// What it can do with sessions.
    pub session_capabilities: SessionCapabilities,
}

/// What a prompt may hold beside text and links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCapabilities {
    /// Images.
    pub image: bool,
    /// Sounds.
    pub audio: bool,
    /// Files with their content.
    pub embedded_context: bool,
}

/// What an agent's program can do with sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the shape of the wire")]
pub struct SessionCapabilities {
    /// List them.
    pub list: bool,
    /// Delete one.
    pub delete: bool,
    /// Branch one off.
    pub fork: bool,
    /// Go on with one without telling it again.
    pub resume: bool,
    /// Let go of one.
    pub close: bool,
    /// Work in several directories.
    pub additional_directories: bool,
}

impl Capabilities {
    /// Of the result of `initialize`. `loadSession` counts when it is literally true; a member
    /// of `sessionCapabilities` when it is there and not `null` or `false`.
    pub(super) fn of(result: &Value) -> Self {
        let all = &result["agentCapabilities"];
        let is = |value: &Value| value == &Value::Bool(true);
        let prompt = &all["promptCapabilities"];
        let has = |name: &str| {
            all["sessionCapabilities"].get(name).is_some_and(|value| !value.is_null() && value != &Value::Bool(false))
        };
        Self {
            load_session: is(&all["loadSession"]),
            session_list: has("list"),
            prompt_capabilities: PromptCapabilities {
                image: is(&prompt["image"]),
                audio: is(&prompt["audio"]),
                embedded_context: is(&prompt["embeddedContext"]),
            },
            session_capabilities: SessionCapabilities {
                list: has("list"),
                delete: has("delete"),
                fork: has("fork"),
                resume: has("resume"),
                close: has("close"),
                additional_directories: has("additionalDirectories"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Capabilities;
    use serde_json::json;

    #[test]
    fn what_is_missing_or_of_another_type_is_not_there() {
        assert_eq!(Capabilities::of(&json!(null)), Capabilities::default());
        let said = json!({"agentCapabilities": {
            "loadSession": "true",
            "promptCapabilities": {"image": 1, "audio": false, "embeddedContext": true},
            "sessionCapabilities": {"list": null, "delete": {}, "fork": false, "close": true, "resume": []},
        }});
        let capabilities = Capabilities::of(&said);
        assert!(!capabilities.load_session && !capabilities.session_list && !capabilities.prompt_capabilities.image);
        assert!(capabilities.prompt_capabilities.embedded_context);
        let sessions = capabilities.session_capabilities;
        assert!(sessions.delete && sessions.close && sessions.resume && !sessions.list && !sessions.fork);
    }
}
