//! The members that are asked for, as a tree of names.

use std::fmt;

const MAX_MEMBERS: usize = 32;
/// Names and `[]` of one member at most.
const MAX_PARTS: usize = 32;

/// What is asked of a value.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Members of the query that this value is the answer to.
    pub(super) wanted: Vec<u8>,
    /// What is asked of the members of an object, by the length of their names modulo 64.
    members: Vec<(u8, Vec<u8>, usize)>,
    /// What is asked of each element of an array.
    pub(super) elements: Option<usize>,
    /// Bit `n` is set when a name of `n` bytes, modulo 64, is among the members: most keys of
    /// a line are not asked for, and this tells at once.
    lengths: u64,
}

impl Node {
    /// The node of a member.
    #[inline]
    pub(super) fn member(&self, key: &[u8]) -> Option<usize> {
        let length = key.len() % 64;
        if self.lengths >> length & 1 == 0 {
            return None;
        }
        let same = self.members.iter().filter(|(known, ..)| usize::from(*known) == length);
        same.into_iter().find(|(_, name, _)| name == key).map(|(.., node)| *node)
    }

    /// Whether any member is asked for.
    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }
}

/// The members of a query. Node 0 is the line.
#[derive(Debug)]
pub struct Pattern(Vec<Node>);

/// Members that can't be asked for, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadMember(String);

impl fmt::Display for BadMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadMember {}

impl Pattern {
    /// Reads `a.b[].c` and the like; at most 32 of them.
    pub fn of(members: &[impl AsRef<str>]) -> Result<Self, BadMember> {
        if members.len() > MAX_MEMBERS {
            let count = members.len();
            return Err(BadMember(format!("a projection has at most {MAX_MEMBERS} members, not {count}")));
        }
        let mut pattern = Self(vec![Node::default()]);
        for (number, member) in (0..).zip(members) {
            let end = pattern.add(member.as_ref())?;
            pattern.0[end].wanted.push(number);
        }
        Ok(pattern)
    }

    /// Whether no member is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn node(&self, at: usize) -> &Node {
        &self.0[at]
    }

    fn add(&mut self, member: &str) -> Result<usize, BadMember> {
        let bad = |why: &str| BadMember(format!("member `{member}` of a projection {why}"));
        let (mut at, mut parts) = (0, 0);
        for part in member.split('.') {
            let name = part.trim_end_matches("[]");
            if name.is_empty() {
                return Err(bad("has an empty name in it; write it like `a.b[].c`"));
            }
            let levels = (part.len() - name.len()) / 2;
            parts += 1 + levels;
            if parts > MAX_PARTS {
                return Err(bad("is too deep"));
            }
            at = self.member(at, name);
            for _ in 0..levels {
                at = self.element(at);
            }
        }
        Ok(at)
    }

    fn member(&mut self, at: usize, name: &str) -> usize {
        if let Some(known) = self.0[at].member(name.as_bytes()) {
            return known;
        }
        let next = self.grow();
        self.0[at].lengths |= 1 << (name.len() % 64);
        let length = u8::try_from(name.len() % 64).unwrap_or_default();
        self.0[at].members.push((length, name.as_bytes().to_vec(), next));
        next
    }

    fn element(&mut self, at: usize) -> usize {
        self.0[at].elements.unwrap_or_else(|| {
            let next = self.grow();
            self.0[at].elements = Some(next);
            next
        })
    }

    fn grow(&mut self) -> usize {
        self.0.push(Node::default());
        self.0.len() - 1
    }
}
