//! Laws of the nodes of a session.

use super::{Facts, Verdict, Verdicts, laws, must};
use sepia_ir::{Block, MessageNode, Role, Session};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashSet;

pub(crate) fn all(facts: &Facts<'_>, header: &Session, nodes: &[MessageNode]) -> Verdicts {
    laws![
        node_ids_rise(nodes),
        parents_come_before(nodes),
        the_tip_is_a_node(header, nodes),
        tool_nodes_answer_a_call(nodes),
        calls_have_ids_and_names(nodes),
        free_form_fields_are_json(nodes),
        content_is_the_text_of_the_blocks(nodes),
        usage_counts_once(nodes),
        times_of_nodes_are_plausible(facts, nodes),
    ]
}

/// Not negative, unique, rising in the order of the store.
fn node_ids_rise(nodes: &[MessageNode]) -> Verdict {
    let mut last = -1;
    for node in nodes {
        must(node.node_id > last, || format!("node {} comes after {last}", node.node_id))?;
        last = node.node_id;
    }
    Ok(())
}

/// A parent is a node that has come already.
fn parents_come_before(nodes: &[MessageNode]) -> Verdict {
    let mut met = HashSet::new();
    for node in nodes {
        if let Some(parent) = node.parent_node_id {
            must(met.contains(&parent), || format!("the parent {parent} of node {} is not before it", node.node_id))?;
        }
        met.insert(node.node_id);
    }
    Ok(())
}

/// `mainChainId` is one of the nodes; 0 when there is none.
fn the_tip_is_a_node(header: &Session, nodes: &[MessageNode]) -> Verdict {
    let tip = header.main_chain_id;
    let fits = if nodes.is_empty() { tip == 0 } else { nodes.iter().any(|node| node.node_id == tip) };
    must(fits, || format!("the tip {tip} is none of {} nodes", nodes.len()))
}

/// A tool node names the call that it answers, and no other node does.
fn tool_nodes_answer_a_call(nodes: &[MessageNode]) -> Verdict {
    for node in nodes {
        let named = node.tool_call_id.as_ref().is_some_and(|id| !id.is_empty());
        must(named == (node.role == Role::Tool), || {
            format!("node {} of role {:?} answers the call {:?}", node.node_id, node.role, node.tool_call_id)
        })?;
    }
    Ok(())
}

/// A call has an id and a name, and its id is unique in its node.
fn calls_have_ids_and_names(nodes: &[MessageNode]) -> Verdict {
    for node in nodes {
        let mut met = HashSet::new();
        for call in &node.tool_calls {
            must(!call.id.is_empty() && !call.name.is_empty(), || {
                format!("a call of node {} has no id or no name", node.node_id)
            })?;
            must(met.insert(&call.id), || format!("the call {} is twice in node {}", call.id, node.node_id))?;
        }
    }
    Ok(())
}

/// Metadata of nodes and arguments of calls are JSON.
fn free_form_fields_are_json(nodes: &[MessageNode]) -> Verdict {
    for node in nodes {
        let texts = node.tool_calls.iter().map(|call| &call.arguments).chain([&node.metadata]);
        for text in texts {
            serde_json::from_str::<IgnoredAny>(text)
                .map_err(|e| format!("a free-form field of node {} is no JSON: {e}", node.node_id))?;
        }
    }
    Ok(())
}

/// Where there are blocks with text, the content is their texts, joined by line feeds.
fn content_is_the_text_of_the_blocks(nodes: &[MessageNode]) -> Verdict {
    for node in nodes.iter().filter(|node| !node.blocks.is_empty()) {
        let texts: Vec<&str> = node
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        must(texts.is_empty() || node.content == texts.join("\n"), || {
            format!("the content of node {} is not the text of its blocks", node.node_id)
        })?;
    }
    Ok(())
}

/// Tokens stand on one node for each message of the provider, and are no negative numbers.
fn usage_counts_once(nodes: &[MessageNode]) -> Verdict {
    let mut met = HashSet::new();
    for node in nodes {
        let Some(usage) = &node.usage else { continue };
        let numbers = [Some(usage.input), Some(usage.output), usage.cache_read, usage.cache_write, usage.thinking];
        must(numbers.iter().flatten().all(|n| n.is_finite() && *n >= 0.0), || {
            format!("node {} used a negative number of tokens", node.node_id)
        })?;
        let metadata: Value = serde_json::from_str(&node.metadata).unwrap_or_default();
        if let Some(id) = metadata.get("messageId").and_then(Value::as_str) {
            must(met.insert(id.to_owned()), || format!("the usage of message {id} counts twice"))?;
        }
    }
    Ok(())
}

/// Finite, not negative, and no later than tomorrow.
fn times_of_nodes_are_plausible(facts: &Facts<'_>, nodes: &[MessageNode]) -> Verdict {
    let bound = facts.now + 86_400.0;
    for node in nodes {
        let at = node.created_at;
        must(at.is_finite() && (0.0..=bound).contains(&at), || format!("node {} was created at {at}", node.node_id))?;
    }
    Ok(())
}
