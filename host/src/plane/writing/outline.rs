//! What has to be known of a session before its first node is handed over: which nodes are on the live
//! branch, which calls nobody answered, which results belong to no call.
//!
//! An agent refuses a history in which a call has no result or a result no call, at every later turn. So
//! each branch is paired as a whole: a call that is not answered before somebody speaks again gets
//! a result that says so, and a result without a call becomes text.

use sepia_ir::chain::{Link, live_links};
use sepia_ir::{MessageNode, Role};
use std::collections::{HashMap, HashSet};

/// What is known of each node, in the order of the store.
#[derive(Debug, Default)]
pub(super) struct Outline {
    links: Vec<Link>,
    roles: Vec<Role>,
    /// Ids and tools of the calls of a node, where it makes some.
    calls: HashMap<usize, Vec<OpenCall>>,
    /// The call that a tool node answers.
    answers: HashMap<usize, String>,
}

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) tool: String,
}

/// How a session is handed over.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// For each node, in the order of the store.
    pub(super) steps: Vec<Step>,
    /// Ids, as they are handed over, of what is not on the live branch.
    pub(super) off_branch: Vec<i64>,
    /// The tip, as it is handed over.
    pub(super) tip: i64,
}

/// How one node is handed over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// Its id where it comes from.
    pub(super) source: i64,
    /// Its id as it is handed over.
    pub(super) node: i64,
    pub(super) parent: Option<i64>,
    /// Results to come right before it.
    pub(super) before: Vec<Closing>,
    /// Results to come right after it, for it is the last of its branch.
    pub(super) after: Vec<Closing>,
    /// It is a result without a call.
    pub(super) is_orphan: bool,
}

/// A result for a call that nobody answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closing {
    pub(super) node: i64,
    pub(super) parent: i64,
    pub(super) call: OpenCall,
}

impl Outline {
    /// Takes the next nodes.
    pub(super) fn add(&mut self, nodes: &[MessageNode]) {
        for node in nodes {
            let at = self.links.len();
            self.links.push(Link::of(node));
            self.roles.push(node.role);
            if !node.tool_calls.is_empty() {
                self.calls.insert(at, calls_of(node));
            }
            if node.role == Role::Tool {
                self.answers.insert(at, node.tool_call_id.clone().unwrap_or_default());
            }
        }
    }

    /// Whether the nodes so far are one line, and none of them but the last is the tip.
    pub(super) fn is_line(&self, tip: i64) -> bool {
        self.links.windows(2).all(|two| two[1].parent == Some(two[0].node) && two[0].node != tip)
    }

    /// Decides how the session is handed over. Ids are given anew, from 0 and without gaps.
    pub(super) fn plan(&self, tip: i64) -> Plan {
        let by_id: HashMap<i64, usize> = self.links.iter().enumerate().map(|(at, link)| (link.node, at)).collect();
        // A parent that comes later, or never, is none: whoever reads a store that is damaged so says so.
        let parent_of = |at: usize| {
            self.links[at].parent.and_then(|parent| by_id.get(&parent)).copied().filter(|parent| *parent < at)
        };
        let parents: HashSet<usize> = (0..self.links.len()).filter_map(parent_of).collect();
        let live: HashSet<usize> = live_links(&self.links, tip).into_iter().collect();
        // What still waits for its result once a node has been heard.
        let mut open: HashMap<usize, Vec<OpenCall>> = HashMap::new();
        let mut plan = Plan::default();
        let mut numbers = Numbers::default();
        let mut given: Vec<i64> = Vec::with_capacity(self.links.len());
        for at in 0..self.links.len() {
            let parent = parent_of(at);
            let mut waiting = parent.and_then(|parent| open.get(&parent)).cloned().unwrap_or_default();
            let heard = Heard {
                source: self.links[at].node,
                role: self.roles[at],
                answers: self.answers.get(&at).map(String::as_str),
                calls: self.calls.get(&at).map_or(&[], Vec::as_slice),
            };
            let mut step = heard.step(parent.map(|parent| given[parent]), &mut waiting, &mut numbers);
            given.push(step.node);
            if !parents.contains(&at) {
                step.after = closings(std::mem::take(&mut waiting), step.node, &mut numbers);
            } else if !waiting.is_empty() {
                open.insert(at, waiting);
            }
            let ids = || step.before.iter().map(|c| c.node).chain([step.node]).chain(step.after.iter().map(|c| c.node));
            if live.contains(&at) {
                // The live branch is met in order, so the last of it is its tip.
                plan.tip = ids().last().unwrap_or_default();
            } else {
                plan.off_branch.extend(ids());
            }
            plan.steps.push(step);
        }
        plan
    }
}

/// Ids as they are handed over: from 0 and without gaps.
#[derive(Debug, Default)]
pub(super) struct Numbers(i64);

impl Numbers {
    fn next(&mut self) -> i64 {
        self.0 += 1;
        self.0 - 1
    }
}

/// What pairing asks of a node.
pub(super) struct Heard<'a> {
    pub(super) source: i64,
    pub(super) role: Role,
    /// The call that a tool node answers.
    pub(super) answers: Option<&'a str>,
    pub(super) calls: &'a [OpenCall],
}

impl Heard<'_> {
    /// How the node is handed over after `parent`, for which these calls wait; then those that wait after it.
    pub(super) fn step(&self, parent: Option<i64>, waiting: &mut Vec<OpenCall>, numbers: &mut Numbers) -> Step {
        let mut step = Step { source: self.source, parent, ..Step::default() };
        if self.role == Role::Tool {
            match waiting.iter().position(|call| Some(call.id.as_str()) == self.answers) {
                Some(known) => drop(waiting.remove(known)),
                None => step.is_orphan = true,
            }
        }
        // What the program notes for itself interrupts nobody.
        let speaks = matches!(self.role, Role::User | Role::Assistant) || step.is_orphan;
        if speaks {
            for call in std::mem::take(waiting) {
                let closing = Closing { node: numbers.next(), parent: step.parent.unwrap_or_default(), call };
                step.parent = Some(closing.node);
                step.before.push(closing);
            }
        }
        step.node = numbers.next();
        waiting.extend(self.calls.iter().cloned());
        step
    }
}

/// Results for the calls that still wait after the last node of a branch.
pub(super) fn closings(waiting: Vec<OpenCall>, mut last: i64, numbers: &mut Numbers) -> Vec<Closing> {
    let closing = |call| {
        let closing = Closing { node: numbers.next(), parent: last, call };
        last = closing.node;
        closing
    };
    waiting.into_iter().map(closing).collect()
}

/// The calls that a node makes.
pub(super) fn calls_of(node: &MessageNode) -> Vec<OpenCall> {
    let call = |call: &sepia_ir::ToolCall| OpenCall { id: call.id.clone(), tool: call.name.clone() };
    node.tool_calls.iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sepia_ir::ToolCall;

    fn node(id: i64, parent: Option<i64>, role: Role, calls: &[&str], answers: Option<&str>) -> MessageNode {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: format!("tool-{id}"),
            arguments: "{}".into(),
            index: 0,
            kind: "function".into(),
            status: None,
            exit_code: None,
            duration_ms: None,
            locations: vec![],
            diffs: vec![],
        };
        MessageNode {
            parent_node_id: parent,
            tool_calls: calls.iter().map(call).collect(),
            tool_call_id: answers.map(str::to_owned),
            ..MessageNode::new(id, role, 0.0)
        }
    }

    fn plan(nodes: &[MessageNode], tip: i64) -> Plan {
        let mut outline = Outline::default();
        outline.add(nodes);
        outline.plan(tip)
    }

    /// What is handed over in its order: `id<parent` of nodes, `!call` of closings, `?` of orphans.
    fn shown(plan: &Plan) -> Vec<String> {
        let parent = |parent: Option<i64>| parent.map_or("-".to_owned(), |parent| parent.to_string());
        let closing = |c: &Closing| format!("{}<{} !{}", c.node, c.parent, c.call.id);
        plan.steps
            .iter()
            .flat_map(|step| {
                let orphan = if step.is_orphan { " ?" } else { "" };
                let node = format!("{}<{}{orphan}", step.node, parent(step.parent));
                step.before.iter().map(closing).chain([node]).chain(step.after.iter().map(closing)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The history of field case SC-30: m1 … m8.
    #[test]
    fn calls_and_results_are_paired_over_the_whole_history() {
        let nodes = [
            node(1, None, Role::User, &[], None),
            node(2, Some(1), Role::Assistant, &["A", "B", "C"], None),
            node(3, Some(2), Role::Tool, &[], Some("A")),
            node(4, Some(3), Role::Tool, &[], Some("C")),
            node(5, Some(4), Role::User, &[], None),
            node(6, Some(5), Role::Assistant, &["D"], None),
            node(7, Some(6), Role::User, &[], None),
            node(8, Some(7), Role::Tool, &[], Some("Z")),
            node(9, Some(8), Role::Assistant, &["E"], None),
        ];
        let plan = plan(&nodes, 9);
        let expected =
            ["0<-", "1<0", "2<1", "3<2", "4<3 !B", "5<4", "6<5", "7<6 !D", "8<7", "9<8 ?", "10<9", "11<10 !E"];
        assert_eq!(shown(&plan), expected);
        assert_eq!(plan.tip, 11);
        assert_eq!(plan.off_branch, [0i64; 0]);
    }

    #[test]
    fn each_branch_is_paired_for_itself() {
        let nodes = [
            node(1, None, Role::User, &[], None),
            node(2, Some(1), Role::Assistant, &["A"], None),
            node(3, Some(2), Role::User, &[], None),
            node(4, Some(2), Role::Tool, &[], Some("A")),
            node(5, Some(4), Role::Assistant, &[], None),
        ];
        let plan = plan(&nodes, 5);
        assert_eq!(shown(&plan), ["0<-", "1<0", "2<1 !A", "3<2", "4<1", "5<4"]);
        assert_eq!((plan.tip, plan.off_branch.as_slice()), (5, &[2, 3][..]));
    }

    #[test]
    fn a_note_of_the_program_between_call_and_result_is_in_nobodys_way() {
        let nodes = [
            node(10, None, Role::Assistant, &["A"], None),
            node(20, Some(10), Role::System, &[], None),
            node(30, Some(20), Role::Tool, &[], Some("A")),
        ];
        assert_eq!(shown(&plan(&nodes, 30)), ["0<-", "1<0", "2<1"]);
    }

    #[test]
    fn a_parent_that_is_missing_or_later_makes_a_root() {
        let nodes = [node(1, Some(7), Role::User, &[], None), node(2, Some(3), Role::User, &[], None)];
        let plan = plan(&nodes, 2);
        assert_eq!(shown(&plan), ["0<-", "1<-"]);
        assert_eq!((plan.tip, plan.off_branch.as_slice()), (1, &[0][..]));
    }
}
