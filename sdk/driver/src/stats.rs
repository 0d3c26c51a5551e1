//! What a session amounts to: messages, tool calls, tokens.

use serde::Serialize;

/// `metadata.stats` of a session, or of a part of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Typed prompts, model messages and tool results.
    pub messages: u64,
    /// What a person typed.
    pub user_prompts: u64,
    /// Messages of the model.
    pub assistant_messages: u64,
    /// Messages that the agent wrote in the model's name, as for an API error; left out when
    /// there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub synthetic_messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Their results.
    pub tool_results: u64,
    /// Results that say that the tool failed.
    pub tool_errors: u64,
    /// Tokens, once per model call.
    pub usage: Tokens,
}

impl Stats {
    /// Counts a message of the model, or one in its name.
    pub fn count_message(&mut self, synthetic: bool) {
        if synthetic {
            self.synthetic_messages += 1;
        } else {
            self.assistant_messages += 1;
        }
    }

    /// Sums up the messages, when everything else is counted.
    pub fn total(&mut self) {
        self.messages = self.user_prompts + self.assistant_messages + self.tool_results;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Put into the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// Adds input, output, read from and written to the cache.
    pub fn add(&mut self, [input, output, cache_read, cache_write]: [u64; 4]) {
        self.input += input;
        self.output += output;
        self.cache_read += cache_read;
        self.cache_write += cache_write;
    }

    /// Counts other figures in place of earlier ones.
    pub fn replace(&mut self, earlier: [u64; 4], later: [u64; 4]) {
        let [input, output, cache_read, cache_write] = earlier;
        self.input -= input;
        self.output -= output;
        self.cache_read -= cache_read;
        self.cache_write -= cache_write;
        self.add(later);
    }
}
