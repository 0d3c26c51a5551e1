//! Where the nodes that were written are, and what the reader will make of a parent.

use std::collections::HashMap;

/// A node that was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// Its last record.
    pub(crate) uuid: u128,
    /// Its number among the nodes of the file, from 1.
    pub(crate) number: u32,
}

/// The nodes that were written.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    places: HashMap<i64, Placed>,
    /// Of each node, by number: the node of the call that it answers, or 0.
    calls: Vec<u32>,
    /// Of each node: it is one of the results that the reader puts in a row.
    batched: Vec<bool>,
    /// The latest result of a node's calls.
    batches: HashMap<u32, u32>,
    /// The node that was written last.
    pub(crate) last: Option<i64>,
}

impl Tree {
    pub(crate) fn get(&self, node: i64) -> Option<Placed> {
        self.places.get(&node).copied()
    }

    /// Number of the next node.
    pub(crate) fn next(&self) -> u32 {
        u32::try_from(self.calls.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Whether the reader would take another node for the parent: it puts results of parallel calls in a
    /// row. `call` is the number of the node whose call is answered, or 0.
    pub(crate) fn would_be_mended(&self, parent: Option<Placed>, call: u32) -> bool {
        let natural = parent.map_or(0, |parent| parent.number);
        self.mended(natural, call) != natural
    }

    fn is_beside(&self, natural: u32, call: u32) -> bool {
        natural == call || self.call_of(natural) == call
    }

    fn call_of(&self, number: u32) -> u32 {
        number.checked_sub(1).and_then(|at| self.calls.get(at as usize)).copied().unwrap_or(0)
    }

    fn mended(&self, natural: u32, call: u32) -> u32 {
        let batch = |call: u32| self.batches.get(&call).copied().unwrap_or(natural);
        if call > 0 {
            return if self.is_beside(natural, call) { batch(call) } else { natural };
        }
        let in_batch = natural.checked_sub(1).is_some_and(|at| self.batched.get(at as usize) == Some(&true));
        if in_batch { batch(self.call_of(natural)) } else { natural }
    }

    /// Notes a node. `exact`: the record says that its parent is not to be mended.
    pub(crate) fn add(&mut self, node: i64, parent: Option<Placed>, uuid: u128, call: u32, exact: bool) {
        let number = self.next();
        let natural = parent.map_or(0, |parent| parent.number);
        let batched = call > 0 && !exact && self.is_beside(natural, call);
        if batched {
            self.batches.insert(call, number);
        }
        self.calls.push(call);
        self.batched.push(batched);
        self.places.insert(node, Placed { uuid, number });
        self.last = Some(node);
    }
}
