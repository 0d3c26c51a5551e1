//! Pages of programs that know none and answer with the whole branch.

use sepia_ir::HistoryPage;
use std::collections::HashSet;

/// Cuts the page that was asked for out of a longer one: at most `most` nodes before position
/// `before` of the branch.
pub(super) fn cut(mut page: HistoryPage, most: usize, before: Option<u64>) -> HistoryPage {
    let count = page.nodes.len();
    let end = before
        .map_or(count, |before| usize::try_from(before.saturating_sub(page.start)).unwrap_or(usize::MAX).min(count));
    let start = end.saturating_sub(most);
    let outside: Vec<_> = page.nodes.drain(end..).chain(page.tool_call_nodes.drain(..)).collect();
    let earlier: Vec<_> = page.nodes.drain(..start).collect();
    page.start += start as u64;
    let declared: HashSet<&str> =
        page.nodes.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
    let answered: HashSet<&str> = page.nodes.iter().filter_map(|node| node.tool_call_id.as_deref()).collect();
    let mut met = HashSet::new();
    let mut calling: Vec<_> = earlier
        .into_iter()
        .chain(outside)
        .filter(|node| {
            let wanted = |id: &str| answered.contains(id) && !declared.contains(id);
            node.tool_calls.iter().any(|call| wanted(&call.id)) && met.insert(node.node_id)
        })
        .collect();
    calling.sort_by_key(|node| node.node_id);
    page.tool_call_nodes = calling;
    page
}

#[cfg(test)]
mod tests {
    use super::cut;
    use sepia_ir::{HistoryPage, MessageNode, Role, ToolCall};

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "t".into(),
            arguments: "{}".into(),
            index: 0,
            kind: "function".into(),
            status: None,
            exit_code: None,
            duration_ms: None,
            locations: Vec::new(),
            diffs: Vec::new(),
        }
    }

    /// Ten nodes; 3 calls what 7 answers.
    fn whole() -> HistoryPage {
        let mut nodes: Vec<MessageNode> = (1..=10).map(|id| MessageNode::new(id, Role::User, 0.0)).collect();
        nodes[2].tool_calls = vec![call("c")];
        nodes[6].tool_call_id = Some("c".into());
        HistoryPage { nodes, tool_call_nodes: Vec::new(), total: 10, start: 0, index: None }
    }

    fn ids(nodes: &[MessageNode]) -> Vec<i64> {
        nodes.iter().map(|node| node.node_id).collect()
    }

    #[test]
    fn the_page_is_the_one_that_was_asked_for() {
        let page = cut(whole(), 4, None);
        assert_eq!((ids(&page.nodes), page.start, page.total), (vec![7, 8, 9, 10], 6, 10));
        assert_eq!(ids(&page.tool_call_nodes), [3]);
        let page = cut(whole(), 4, Some(6));
        assert_eq!((ids(&page.nodes), page.start), (vec![3, 4, 5, 6], 2));
        assert!(page.tool_call_nodes.is_empty());
        let page = cut(whole(), 4, Some(2));
        assert_eq!((ids(&page.nodes), page.start), (vec![1, 2], 0));
        let page = cut(whole(), 3, Some(99));
        assert_eq!((ids(&page.nodes), page.start), (vec![8, 9, 10], 7));
    }
}
