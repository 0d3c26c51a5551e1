//! Memory and tables of one instance, counted all together.

use crate::limits::Limits;
use wasmtime::{ResourceLimiter, Result, format_err};

/// Counts what all memories and tables of a store hold, and remembers when it refused: the
/// error that comes out of the guest does not tell.
#[derive(Debug)]
pub(super) struct Limiter {
    memory: usize,
    most_memory: usize,
    elements: usize,
    most_elements: usize,
    refused: bool,
}

/// Core instances, memories and tables of one component; an ordinary one has five, two, two.
const PARTS: usize = 100;

impl Limiter {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            memory: 0,
            most_memory: limits.memory,
            elements: 0,
            most_elements: limits.table_elements,
            refused: false,
        }
    }

    /// Whether the guest asked for more than it may.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// An error ends the guest at once. A plain refusal would do so too in most languages, but
    /// only after their own machinery for that had run.
    fn refuse(&mut self, what: &str) -> wasmtime::Error {
        self.refused = true;
        format_err!("more {what} than a driver may have")
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _most: Option<usize>) -> Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.most_memory {
            return Err(self.refuse("memory"));
        }
        self.memory = total;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        self.refused = true;
        Err(error)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _most: Option<usize>) -> Result<bool> {
        let total = self.elements.saturating_add(desired.saturating_sub(current));
        if total > self.most_elements {
            return Err(self.refuse("table elements"));
        }
        self.elements = total;
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        self.refused = true;
        Err(error)
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        PARTS
    }
}
