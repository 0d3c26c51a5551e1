//! The message of a node as JSON text, and the metadata that a reader makes of it.

use super::calls::Held;
use super::chat::{About, Call, Chat, Metrics, Sealed, Telemetry};
use super::own::Own;
use crate::draft::SUMMARISER;
use crate::heads::child_id;
use sepia_ir::{DriverError, ErrorCode, MessageNode, Role, TokenUsage};
use sepia_sdk::metadata::Members;
use serde_json::value::RawValue;

/// Reasoning that is sealed whole, as a reader shows it.
pub(crate) const REDACTED: &str = "[redacted]";

/// Times of a node.
#[derive(Debug)]
pub(crate) struct Times {
    /// As a reader will find it, epoch seconds.
    pub(crate) read: f64,
    /// As the message says it.
    pub(crate) said: Option<String>,
    /// When the row says that it was written, epoch seconds.
    pub(crate) written: i64,
}

/// What a message is made of.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) session: &'a str,
    pub(crate) id: &'a str,
    pub(crate) role: Role,
    pub(crate) content: &'a str,
    pub(crate) own: &'a Own,
    pub(crate) times: &'a Times,
    /// A person typed it.
    pub(crate) typed: bool,
}

impl Parts<'_> {
    /// Whether a node that names a twin is written as the first of the two.
    pub(crate) fn is_first_twin(&self) -> bool {
        self.role == Role::Assistant && self.own.twin.is_some() && self.own.marks(true).is_none()
    }

    /// Metadata as a reader will make it, its members in the same order.
    pub(crate) fn metadata(&self) -> String {
        let own = self.own;
        let mut metadata = Members::default();
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let written = self.times.written as f64;
        if self.times.said.is_some() && (self.times.read - written).abs() >= 1.0 {
            metadata.number("writtenAt", written);
        }
        metadata.text("messageId", self.id);
        match self.role {
            Role::User => {
                metadata.flag("isUserInput", self.typed);
                if self.content.starts_with(SUMMARISER) {
                    metadata.text("kind", "summariser-prompt");
                }
            }
            Role::Assistant => metadata.maybe_number("acuCost", own.acu_cost),
            Role::System | Role::Tool => {}
        }
        if !own.extensions.is_empty() {
            let mut extensions = Members::default();
            for (name, value) in &own.extensions {
                extensions.raw(name, value);
            }
            metadata.raw("extensions", &extensions.finish());
        }
        metadata.flag("isSystemPrefix", own.prefix);
        metadata.maybe_number("summarizedFrom", own.summarized_from);
        if let Some(prior) = &own.prior {
            metadata.raw("priorNodeIds", prior);
        }
        metadata.maybe_number("twin", own.twin.filter(|_| self.is_first_twin()));
        if let Some((agent, _)) = &own.agent {
            metadata.text("agentSession", &child_id(self.session, agent));
        }
        metadata.finish()
    }

    /// The message. `native` is the node as a reader will find it, `arguments` are those of the
    /// calls of the node, `held` says which of them are written.
    pub(crate) fn text(
        &self,
        native: &MessageNode,
        held: &[Held],
        arguments: &[String],
        extensions: &str,
    ) -> Result<String, DriverError> {
        let broken = |e: serde_json::Error| {
            let message = format!("node {} holds text that should be JSON and is not: {e}", native.node_id);
            DriverError::new(ErrorCode::Invalid, message)
        };
        let raw = |text: &'_ str| RawValue::from_string(text.trim().to_owned()).map_err(broken);
        let extensions = raw(if extensions == "null" { "{}" } else { extensions })?;
        let mut calls = Vec::with_capacity(held.len());
        for held in held {
            let text = held.wrapped.as_deref().unwrap_or(&arguments[held.at]);
            let arguments: &RawValue = serde_json::from_str(text.trim()).map_err(broken)?;
            let call = &held.native;
            calls.push(Call { id: &call.id, name: &call.name, arguments, index: call.index, kind: &call.kind });
        }
        let is_answer = self.role == Role::Assistant;
        let metrics = native.usage.map(metrics);
        let (role, source, operation) = match self.role {
            Role::System => ("system", "system", "context"),
            Role::User => ("user", "user", "input"),
            Role::Assistant => ("assistant", "assistant", "inference"),
            Role::Tool => ("tool", "tool_result", native.tool_name.as_deref().unwrap_or_default()),
        };
        let chat = Chat {
            message_id: self.id,
            role,
            content: self.content,
            tool_calls: is_answer.then_some(calls),
            thinking: native.thinking_signature.as_deref().map(|signature| Sealed {
                thinking: native.thinking.as_deref().filter(|text| *text != REDACTED).unwrap_or_default(),
                signature,
                signature_type: "sealed",
            }),
            tool_call_id: native.tool_call_id.as_deref(),
            metadata: About {
                num_tokens: metrics.map(|metrics| metrics.output_tokens),
                is_user_input: self.typed.then_some(true),
                request_id: native.request_id.as_deref(),
                metrics,
                finish_reason: native.finish_reason.as_deref(),
                extensions: &extensions,
                generation_model: native.model.as_deref(),
                committed_acu_cost: self.own.acu_cost.filter(|_| is_answer),
                created_at: self.times.said.as_deref(),
                telemetry: Telemetry { source, operation },
            },
        };
        serde_json::to_string(&chat).map_err(broken)
    }
}

fn metrics(usage: TokenUsage) -> Metrics {
    Metrics {
        ttft_ms: 0,
        total_time_ms: 0,
        input_tokens: count_of(usage.input),
        output_tokens: count_of(usage.output),
        cache_read_tokens: usage.cache_read.map(count_of),
        cache_creation_tokens: usage.cache_write.map(count_of),
        tpot_ms: 0,
        tokens_per_sec: 0,
    }
}

/// Tokens as they are written: a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
pub(crate) fn count_of(tokens: f64) -> u64 {
    if tokens.is_finite() && (0.0..9e15).contains(&tokens) { tokens.round() as u64 } else { 0 }
}
