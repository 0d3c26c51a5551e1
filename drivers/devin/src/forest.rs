//! The forest of a session's nodes, from columns alone: a message that can't be read cuts no
//! branch.

use crate::order;
use crate::place::Opened;
use crate::value::{Columns, text};
use sepia_ir::DriverError;

/// Nodes by place, in the order of their ids. A parent is always at an earlier place: links to
/// nothing, to the node itself and to later nodes are cut, which ends every circle.
#[derive(Debug, Default, Clone)]
pub(crate) struct Forest {
    ids: Vec<i64>,
    parents: Vec<Option<usize>>,
}

impl Forest {
    /// Of nodes whose ids rise, with the parents that they name.
    pub(crate) fn of(nodes: impl Iterator<Item = (i64, Option<i64>)>) -> Self {
        let (ids, named): (Vec<i64>, Vec<Option<i64>>) = nodes.unzip();
        let place = |at: usize, parent: i64| ids[..at].binary_search(&parent).ok();
        let parents = named.iter().enumerate().map(|(at, parent)| parent.and_then(|id| place(at, id))).collect();
        Self { ids, parents }
    }

    /// Of a session of the store.
    pub(crate) fn read(opened: &Opened, session: &str) -> Result<Self, DriverError> {
        if !opened.schema.has_nodes() {
            return Ok(Self::default());
        }
        let columns = opened.schema.select("message_nodes", "n", &["node_id", "parent_node_id"]);
        let sql = format!("SELECT {columns} FROM message_nodes n WHERE n.session_id = ? ORDER BY n.node_id");
        let rows = opened.database.rows(&sql, &[text(session)])?;
        let mut nodes: Vec<(i64, Option<i64>)> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut row = Columns::of(row);
            let Some(id) = row.whole().filter(|id| *id >= 0) else { continue };
            nodes.push((id, row.whole()));
        }
        // Rows that hold other things than numbers are in an order of their own.
        let mut nodes = order::by(nodes, |(id, _)| *id);
        nodes.dedup_by_key(|(id, _)| *id);
        Ok(Self::of(nodes.into_iter()))
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn place(&self, id: i64) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    pub(crate) fn id(&self, at: usize) -> i64 {
        self.ids[at]
    }

    /// The parent of the node at a place, by its id.
    pub(crate) fn parent(&self, at: usize) -> Option<i64> {
        self.parents[at].map(|parent| self.ids[parent])
    }

    /// Place of the tip: the node that is named, else the one with the largest id.
    pub(crate) fn tip(&self, named: Option<i64>) -> Option<usize> {
        named.and_then(|id| self.place(id)).or_else(|| self.ids.len().checked_sub(1))
    }

    /// Places from the root to a tip, in order.
    pub(crate) fn chain(&self, tip: Option<usize>) -> Vec<usize> {
        let mut chain: Vec<usize> = std::iter::successors(tip, |at| self.parents[*at]).collect();
        chain.reverse();
        chain
    }

    /// Places of the nodes that a sub-agent's session consists of: its tree, or only its chain
    /// when it grows out of its parent's. None when its tip is nowhere, or is a message of its
    /// parent.
    pub(crate) fn of_sub_agent(&self, main: Option<i64>, tip: i64) -> Option<Vec<usize>> {
        let tip = self.place(tip)?;
        let main = self.chain(self.tip(main));
        if main.binary_search(&tip).is_ok() {
            return None;
        }
        let chain = self.chain(Some(tip));
        let root = *chain.first()?;
        if main.first() == Some(&root) {
            return Some(chain);
        }
        let mut roots = Vec::with_capacity(self.len());
        for (at, parent) in self.parents.iter().enumerate() {
            let root = parent.map_or(at, |parent| roots[parent]);
            roots.push(root);
        }
        Some((0..self.len()).filter(|at| roots[*at] == root).collect())
    }

    /// Tips of branches: places of nodes without children.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        let mut is_parent = vec![false; self.len()];
        for parent in self.parents.iter().flatten() {
            is_parent[*parent] = true;
        }
        (0..self.len()).filter(|at| !is_parent[*at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Forest;

    fn forest(nodes: &[(i64, Option<i64>)]) -> Forest {
        Forest::of(nodes.iter().copied())
    }

    #[test]
    fn links_to_nowhere_to_itself_and_ahead_are_cut() {
        let forest = forest(&[(1, Some(404)), (2, Some(1)), (3, Some(5)), (4, Some(3)), (5, Some(4)), (6, Some(6))]);
        let chain = |tip: i64| forest.chain(forest.place(tip)).into_iter().map(|at| forest.id(at)).collect::<Vec<_>>();
        assert_eq!((chain(2), chain(5), chain(6)), (vec![1, 2], vec![3, 4, 5], vec![6]));
    }

    #[test]
    fn a_tip_that_is_nowhere_is_the_largest_id() {
        let forest = forest(&[(0, None), (7, Some(0))]);
        assert_eq!([forest.tip(Some(0)), forest.tip(Some(77)), forest.tip(None)], [Some(0), Some(1), Some(1)]);
        assert_eq!(Forest::default().tip(Some(1)), None);
    }

    #[test]
    fn a_sub_agent_is_its_tree_or_its_chain() {
        let nodes = [(1, None), (2, Some(1)), (3, Some(2)), (10, None), (11, Some(10)), (12, Some(10)), (13, Some(1))];
        let forest = forest(&nodes);
        let ids = |tip: i64| {
            forest
                .of_sub_agent(Some(3), tip)
                .map(|places| places.into_iter().map(|at| forest.id(at)).collect::<Vec<_>>())
        };
        assert_eq!(ids(11), Some(vec![10, 11, 12]));
        assert_eq!(ids(13), Some(vec![1, 13]));
        assert_eq!((ids(2), ids(99)), (None, None));
    }
}
