//! What an agent asks before it does something.

use super::update::ToolCallUpdate;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Options of one request.
const MOST_OPTIONS: usize = 64;

/// A choice that an agent offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// What answers with it.
    pub option_id: String,
    /// For people.
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always`; agents may have others.
    pub kind: String,
}

impl PermissionOption {
    /// Whether choosing it forbids.
    pub fn rejects(&self) -> bool {
        self.kind.starts_with("reject")
    }

    /// Whether choosing it permits.
    pub fn allows(&self) -> bool {
        self.kind.starts_with("allow")
    }
}

/// `session/request_permission`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PermissionRequest {
    /// The call that it is about; its id is empty when the agent does not tell.
    pub(crate) tool_call: ToolCallUpdate,
    /// What may be chosen; the first of each id.
    pub(crate) options: Vec<PermissionOption>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Outcome {
    /// This option.
    Selected { option_id: String },
    /// None; the turn is being ended.
    Cancelled,
}

impl PermissionRequest {
    /// Reads what there is.
    pub(crate) fn of(params: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut options: Vec<PermissionOption> = Vec::new();
        for option in params["options"].as_array().into_iter().flatten().take(MOST_OPTIONS) {
            let (option_id, name) = (text(&option["optionId"]), text(&option["name"]));
            if !option_id.is_empty() && options.iter().all(|known| known.option_id != option_id) {
                options.push(PermissionOption { option_id, name, kind: text(&option["kind"]) });
            }
        }
        Self { tool_call: ToolCallUpdate::of(&params["toolCall"]), options }
    }

    /// The answer that forbids: once, if that is offered.
    pub(crate) fn rejection(&self) -> Outcome {
        let of_kind = |kind: &str| self.options.iter().find(|option| option.kind == kind);
        let option = of_kind("reject_once").or_else(|| self.options.iter().find(|option| option.rejects()));
        option.map_or(Outcome::Cancelled, |option| Outcome::Selected { option_id: option.option_id.clone() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Outcome, PermissionRequest};
    use serde_json::json;

    #[test]
    fn the_rejection_is_the_mildest_that_is_offered() {
        let request = |kinds: &[&str]| {
            let options: Vec<_> = kinds
                .iter()
                .map(|kind| json!({"optionId": format!("id-{kind}"), "name": kind, "kind": kind}))
                .collect();
            PermissionRequest::of(&json!({"toolCall": {"toolCallId": "t"}, "options": options}))
        };
        let selected = |id: &str| Outcome::Selected { option_id: id.to_owned() };
        assert_eq!(request(&["allow_once", "reject_always", "reject_once"]).rejection(), selected("id-reject_once"));
        assert_eq!(request(&["allow_once", "reject_always"]).rejection(), selected("id-reject_always"));
        assert_eq!(request(&["allow_once"]).rejection(), Outcome::Cancelled);
        assert_eq!(PermissionRequest::of(&json!(7)).rejection(), Outcome::Cancelled);
        assert_eq!(
            serde_json::to_value(selected("a")).unwrap(),
            json!({"outcome": "selected", "optionId": "a"}),
            "the spelling of the protocol"
        );
    }
}
