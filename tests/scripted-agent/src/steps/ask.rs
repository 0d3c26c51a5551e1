//! Asking for permission.

use crate::script::{Decision, Permission, PermissionRequest, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request for permission that is being written; a step by `into()`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct PermissionStep(PermissionRequest);

/// Asks whether a tool call with this id and title may run: `allow_once` or `reject_once`.
pub fn permission(id: &str, title: &str) -> PermissionStep {
    let tool_call = json!({"toolCallId": id, "title": title, "kind": "execute", "status": "pending"});
    PermissionStep(PermissionRequest { tool_call, options: None, then: BTreeMap::new(), wait: true })
}

impl PermissionStep {
    /// Asks about this `toolCall`.
    pub fn tool_call(mut self, tool_call: Value) -> Self {
        self.0.tool_call = tool_call;
        self
    }

    /// Offers these options: id and kind; the id is the name, too.
    pub fn options<'a>(self, options: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let options = options.into_iter().map(|(id, kind)| json!({"optionId": id, "name": id, "kind": kind}));
        let options = options.collect();
        self.raw_options(options)
    }

    /// Offers these `options`, whatever they are.
    pub fn raw_options(mut self, options: Value) -> Self {
        self.0.options = Some(options);
        self
    }

    /// Does this when an option was selected.
    pub fn when_selected(self, option: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.when(Decision::Selected(option.to_owned()), steps)
    }

    /// Does this when the outcome is `cancelled`.
    pub fn when_cancelled(self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.when(Decision::Cancelled, steps)
    }

    /// Does this when there is no outcome.
    pub fn when_refused(self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.when(Decision::Error, steps)
    }

    /// Does this for every other answer.
    pub fn otherwise(self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.when(Decision::Default, steps)
    }

    /// Goes on without an answer.
    pub fn without_waiting(mut self) -> Self {
        self.0.wait = false;
        self
    }

    /// The step.
    pub fn step(self) -> Step {
        self.into()
    }

    fn when(mut self, decision: Decision, steps: impl IntoIterator<Item = Step>) -> Self {
        self.0.then.insert(decision, steps.into_iter().collect());
        self
    }
}

impl From<PermissionStep> for Step {
    fn from(step: PermissionStep) -> Self {
        Permission { permission: step.0 }.into()
    }
}
