//! Calls of one agent's tools as calls of another's, where both have such a tool.
//!
//! What a call was is kept in the metadata of its node, so that on the way back it is that again:
//! `{"sepia":{"calls":{"<call id>":{"backend","name","arguments"}}}}`.

use super::losses::Losses;
use super::ordered::{Ordered, object, string};
use super::tools::Tools;
use crate::loader::{Fault, SessionWrite};
use sepia_ir::{LossKind, MessageNode, ToolUse};
use std::collections::HashMap;

/// Member of a node's metadata that is ours.
const KEY: &str = "sepia";
const CALLS: &str = "calls";

/// Translates the calls of one session.
pub(super) struct Translation<'a> {
    from: Option<Tools<'a>>,
    to: Tools<'a>,
    from_backend: &'a str,
    to_backend: &'a str,
    /// Tools by call, as they were and as they are.
    renamed: HashMap<String, (String, String)>,
}

impl<'a> Translation<'a> {
    /// From the tools of one agent, if it tells what they are, to those of another.
    pub(super) fn new(
        from: Option<&'a dyn SessionWrite>,
        to: &'a dyn SessionWrite,
        from_backend: &'a str,
        to_backend: &'a str,
    ) -> Self {
        Self { from: from.map(Tools::of), to: Tools::of(to), from_backend, to_backend, renamed: HashMap::new() }
    }

    /// The next nodes, their calls translated.
    pub(super) async fn apply(&mut self, nodes: &mut [MessageNode], losses: &mut Losses) -> Result<(), Fault> {
        if self.from_backend == self.to_backend {
            return Ok(());
        }
        for node in nodes.iter_mut() {
            self.restore(node);
        }
        let uses = self.untouched(nodes);
        let translated = self.translated(uses).await?;
        let mut translated = translated.into_iter();
        for node in nodes.iter_mut() {
            let mut kept: Vec<(String, String)> = Vec::new();
            for call in &mut node.tool_calls {
                if self.renamed.contains_key(&call.id) {
                    continue;
                }
                let Some(Some(own)) = translated.next() else { continue };
                losses.add(LossKind::Mapped, node.node_id, || {
                    if call.name == own.name {
                        format!("a call of `{}` has its arguments as this agent writes them", own.name)
                    } else {
                        format!("a call of `{}` became one of `{}`", call.name, own.name)
                    }
                });
                let (backend, name) = (string(self.from_backend), string(&call.name));
                let original = object([("backend", &*backend), ("name", &*name), ("arguments", &*call.arguments)]);
                kept.push((call.id.clone(), original));
                self.renamed.insert(call.id.clone(), (call.name.clone(), own.name.clone()));
                call.name = own.name;
                call.arguments = own.arguments;
            }
            if !kept.is_empty() {
                keep(node, &kept);
            }
        }
        for node in nodes {
            let (Some(call), Some(name)) = (&node.tool_call_id, &mut node.tool_name) else { continue };
            if let Some((_, is)) = self.renamed.get(call).filter(|(was, _)| was == name) {
                name.clone_from(is);
            }
        }
        Ok(())
    }

    /// The calls that were not restored, in order.
    fn untouched(&self, nodes: &[MessageNode]) -> Vec<ToolUse> {
        let calls = nodes.iter().flat_map(|node| &node.tool_calls);
        let untouched = calls.filter(|call| !self.renamed.contains_key(&call.id));
        untouched.map(|call| ToolUse { name: call.name.clone(), arguments: call.arguments.clone() }).collect()
    }

    async fn translated(&mut self, uses: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        let Some(from) = self.from.as_mut().filter(|_| !uses.is_empty()) else { return Ok(vec![None; uses.len()]) };
        let common = from.common(uses).await?;
        let asked: Vec<ToolUse> = common.iter().flatten().cloned().collect();
        if asked.is_empty() {
            return Ok(common);
        }
        let mut own = self.to.own(asked).await?.into_iter();
        Ok(common.into_iter().map(|common| common.and_then(|_| own.next().flatten())).collect())
    }

    /// Calls that once were of the agent that they go to are what they were.
    fn restore(&mut self, node: &mut MessageNode) {
        if !node.metadata.contains("\"sepia\"") || node.tool_calls.is_empty() {
            return;
        }
        let Some(metadata) = Ordered::of(&node.metadata) else { return };
        let Some(own) = metadata.get(KEY).and_then(|own| Ordered::of(own.get())) else { return };
        let Some(mut kept) = own.get(CALLS).and_then(|calls| Ordered::of(calls.get())) else { return };
        let before = kept.0.len();
        for call in &mut node.tool_calls {
            let Some(original) = kept.get(&call.id).and_then(|kept| Ordered::of(kept.get())) else { continue };
            if original.text("backend").as_deref() != Some(self.to_backend) {
                continue;
            }
            let (Some(name), Some(arguments)) = (original.text("name"), original.get("arguments")) else { continue };
            self.renamed.insert(call.id.clone(), (call.name.clone(), name.clone()));
            call.name = name;
            arguments.get().clone_into(&mut call.arguments);
            kept.0.retain(|(id, _)| *id != call.id);
        }
        if kept.0.len() < before {
            node.metadata = with_calls(Some(&metadata), &kept);
        }
    }
}

/// Notes in a node's metadata what its calls were. What was noted before, of an earlier agent, stays.
fn keep(node: &mut MessageNode, calls: &[(String, String)]) {
    let metadata = Ordered::of(&node.metadata);
    if metadata.is_none() && node.metadata != "null" {
        // Metadata that is no object can't take a member, and is never given up for one.
        return;
    }
    let own = metadata.as_ref().and_then(|metadata| Ordered::of(metadata.get(KEY)?.get()));
    let mut kept = own.as_ref().and_then(|own| Ordered::of(own.get(CALLS)?.get())).unwrap_or_default();
    for (id, original) in calls {
        if let (None, Ok(original)) = (kept.get(id), serde_json::from_str(original)) {
            kept.0.push((id.clone(), original));
        }
    }
    node.metadata = with_calls(metadata.as_ref(), &kept);
}

/// Metadata whose calls are these; without our member when there are none.
fn with_calls(metadata: Option<&Ordered<'_>>, kept: &Ordered<'_>) -> String {
    let members = metadata.map_or(&[][..], |metadata| &metadata.0);
    let calls = object(kept.0.iter().map(|(id, original)| (id.as_str(), original.get())));
    let own = members.iter().find(|(name, _)| name == KEY).and_then(|(_, own)| Ordered::of(own.get()));
    let others: Vec<(String, &str)> = own
        .iter()
        .flat_map(|own| &own.0)
        .filter(|(name, _)| name != CALLS)
        .map(|(name, value)| (name.clone(), value.get()))
        .collect();
    let mut ours: Vec<(&str, &str)> = others.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    if !kept.0.is_empty() {
        ours.push((CALLS, &calls));
    }
    let ours = (!ours.is_empty()).then(|| object(ours));
    let rest = members.iter().filter(|(name, _)| name != KEY).map(|(name, value)| (name.as_str(), value.get()));
    let all: Vec<(&str, &str)> = rest.chain(ours.as_deref().map(|ours| (KEY, ours))).collect();
    if all.is_empty() { "null".to_owned() } else { object(all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepia_ir::Role;

    fn noted(metadata: &str, calls: &[(&str, &str)]) -> String {
        let mut node = MessageNode { metadata: metadata.into(), ..MessageNode::new(0, Role::Assistant, 0.0) };
        let calls: Vec<_> = calls.iter().map(|(id, original)| ((*id).to_owned(), (*original).to_owned())).collect();
        keep(&mut node, &calls);
        node.metadata
    }

    #[test]
    fn what_calls_were_is_noted_beside_what_is_there() {
        let original = r#"{"backend":"a","name":"Run","arguments":{"z": 1, "b":2}}"#;
        assert_eq!(noted("null", &[("c1", original)]), format!(r#"{{"sepia":{{"calls":{{"c1":{original}}}}}}}"#));
        let there = r#"{"z":1,"sepia":{"x":0,"calls":{"c0":{"y":2}}},"a":[ ]}"#;
        let both = format!(r#"{{"z":1,"a":[ ],"sepia":{{"x":0,"calls":{{"c0":{{"y":2}},"c1":{original}}}}}}}"#);
        assert_eq!(noted(there, &[("c1", original)]), both);
        assert_eq!(noted(&both, &[("c1", r#"{"other":true}"#)]), both, "the first original counts");
        assert_eq!(noted("[1]", &[("c1", original)]), "[1]");
    }

    #[test]
    fn what_is_not_noted_any_more_leaves_nothing() {
        let metadata = r#"{"sepia":{"calls":{"c":{}}}}"#;
        assert_eq!(with_calls(Ordered::of(metadata).as_ref(), &Ordered::default()), "null");
        let metadata = r#"{"b":1,"sepia":{"calls":{"c":{}}},"a":2}"#;
        assert_eq!(with_calls(Ordered::of(metadata).as_ref(), &Ordered::default()), r#"{"b":1,"a":2}"#);
    }
}
