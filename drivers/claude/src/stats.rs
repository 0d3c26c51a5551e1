//! What a session amounts to: messages, tool calls, tokens.

use serde::Serialize;

/// `metadata.stats` of a session. Tokens are counted once per model call; the agent may have
/// stored less output than there was, so they are lower bounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    /// Typed prompts, model messages and tool results.
    pub(crate) messages: u64,
    pub(crate) user_prompts: u64,
    /// Model calls.
    pub(crate) assistant_messages: u64,
    /// Messages that the agent wrote in the model's name, as for an API error.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) synthetic_messages: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tool_results: u64,
    pub(crate) tool_errors: u64,
    pub(crate) usage: Tokens,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

impl Tokens {
    /// Adds input, output, read from and written to the cache.
    pub(crate) fn add(&mut self, [input, output, cache_read, cache_write]: [u64; 4]) {
        self.input += input;
        self.output += output;
        self.cache_read += cache_read;
        self.cache_write += cache_write;
    }

    /// Counts other figures in place of earlier ones.
    pub(crate) fn replace(&mut self, earlier: [u64; 4], later: [u64; 4]) {
        let [input, output, cache_read, cache_write] = earlier;
        self.input -= input;
        self.output -= output;
        self.cache_read -= cache_read;
        self.cache_write -= cache_write;
        self.add(later);
    }
}

impl Stats {
    pub(crate) fn count_message(&mut self, synthetic: bool) {
        if synthetic {
            self.synthetic_messages += 1;
        } else {
            self.assistant_messages += 1;
        }
    }

    /// Completes the counts with the number of typed prompts.
    pub(crate) fn with_prompts(mut self, prompts: u64) -> Self {
        self.user_prompts = prompts;
        self.messages = prompts + self.assistant_messages + self.tool_results;
        self
    }
}
