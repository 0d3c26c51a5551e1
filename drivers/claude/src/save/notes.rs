//! Nodes that are no messages: notes of the agent itself, and what the agent has no place for.

use super::own::Own;
use super::riding::{self, Marks};
use super::turn::{Turns, raw};
use sepia_ir::{LossKind, MessageNode, Role};

impl Turns {
    pub(crate) fn system(&mut self, node: MessageNode) {
        let text = node.metadata.clone();
        let own = Own::of(&text);
        match own.kind.get() {
            Some("compact-boundary") => self.own_system(node, &own, "compact_boundary"),
            Some("local-command") => self.own_system(node, &own, "local_command"),
            _ => {
                self.lose(LossKind::MetadataOnly, node.node_id, "a system message is not shown to the model");
                let content = node.content.clone();
                self.apart(node, &content);
            }
        }
    }

    /// A note of the agent itself, as it had it.
    fn own_system(&mut self, mut node: MessageNode, own: &Own<'_>, subtype: &str) {
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(own.uuids().next());
        let exact = self.tree.would_be_mended(parent, 0);
        let boundary = subtype == "compact_boundary";
        let records = &mut self.records;
        records.begin(parent.filter(|_| !boundary).map(|parent| parent.uuid));
        if let Some(parent) = parent.filter(|_| boundary) {
            records.json(",\"logicalParentUuid\":");
            records.uuid(parent.uuid);
        }
        records.json(",\"isSidechain\":false,\"type\":\"system\"");
        records.text("subtype", subtype);
        records.text("content", &node.content);
        records.json(",\"isMeta\":false");
        records.identity(uuid, &time);
        records.json(",\"level\":\"info\"");
        raw(records, "compactMetadata", own.compact_metadata);
        let mut native = MessageNode::new(node.node_id, Role::System, seconds);
        native.metadata = String::new();
        std::mem::take(&mut node.content);
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }

    /// A node that the agent has no place for: a note between the messages, which a person sees and no model.
    pub(crate) fn apart(&mut self, mut node: MessageNode, content: &str) {
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(Own::of(&node.metadata).uuids().next());
        let exact = self.tree.would_be_mended(parent, 0);
        let records = &mut self.records;
        records.begin(parent.map(|parent| parent.uuid));
        records.json(",\"isSidechain\":false,\"type\":\"system\",\"subtype\":\"informational\"");
        records.text("content", content);
        records.json(",\"isMeta\":false");
        records.identity(uuid, &time);
        records.json(",\"level\":\"info\"");
        let mut native = MessageNode::new(node.node_id, Role::System, seconds);
        native.metadata = String::new();
        if node.content == content {
            std::mem::take(&mut node.content);
        } else {
            content.clone_into(&mut native.content);
        }
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: true, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }
}
