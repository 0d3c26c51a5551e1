//! The index of a session as bytes that the host keeps for the next page.
//!
//! They are taken for what they are: data from outside. A checksum finds damage, the file's
//! size, time and inode tell whether they are still of this file, and every position is
//! checked before it is used.

use crate::assemble::Envelope;
use crate::index::{Index, LinePlan, NodeKind, NodePlan, position};
use sepia_ir::FileEntry;
use std::hash::{DefaultHasher, Hasher};

const MAGIC: &[u8; 8] = b"claude\x00\x01";
const LINE: usize = 20;
const NODE: usize = 22;

/// Packs an index.
pub(crate) fn pack(index: &Index, envelope: &Envelope, file: &FileEntry, inside: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + index.lines.len() * LINE + index.nodes.len() * NODE);
    out.extend_from_slice(MAGIC);
    for number in [file.bytes, file.modified_ns, file.inode] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    let texts = [
        &file.path,
        inside.unwrap_or_default(),
        &envelope.cwd,
        &envelope.version,
        &envelope.git_branch,
        &envelope.entrypoint,
    ];
    for text in texts {
        out.extend_from_slice(&position(text.len()).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
    for number in [index.tip, position(index.lines.len()), position(index.nodes.len())] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for line in &index.lines {
        out.extend_from_slice(&line.offset.to_le_bytes());
        for number in [line.length, line.number, line.node] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    for node in &index.nodes {
        for number in [node.parent, node.call, node.first_line, node.last_line, node.answered_line] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&[node.kind as u8, node.marks]);
    }
    let sum = checksum(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// The transcript that an index claims to be of; nothing is checked yet.
pub(crate) fn path_of(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes.strip_prefix(MAGIC)?.get(24..)?;
    text(&mut rest)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Unpacks an index if it is whole and still right for this file.
pub(crate) fn unpack(bytes: &[u8], file: &FileEntry, inside: Option<&str>) -> Option<(Index, Envelope)> {
    let (body, sum) = bytes.split_last_chunk::<8>()?;
    let mut rest = body.strip_prefix(MAGIC)?;
    if checksum(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    for number in [file.bytes, file.modified_ns, file.inode] {
        if take::<8>(&mut rest).map(u64::from_le_bytes)? != number {
            return None;
        }
    }
    if text(&mut rest)? != file.path || text(&mut rest)? != inside.unwrap_or_default() {
        return None;
    }
    let envelope = Envelope {
        cwd: text(&mut rest)?.to_owned(),
        version: text(&mut rest)?.to_owned(),
        git_branch: text(&mut rest)?.to_owned(),
        entrypoint: text(&mut rest)?.to_owned(),
    };
    let tip = number(&mut rest)?;
    let (lines, nodes) = (number(&mut rest)? as usize, number(&mut rest)? as usize);
    if rest.len() != lines.checked_mul(LINE)?.checked_add(nodes.checked_mul(NODE)?)? {
        return None;
    }
    let (line_bytes, node_bytes) = rest.split_at(lines * LINE);
    let index = Index {
        lines: line_bytes.chunks_exact(LINE).map(line).collect::<Option<_>>()?,
        nodes: node_bytes.chunks_exact(NODE).map(node).collect::<Option<_>>()?,
        tip,
    };
    is_sound(&index, file.bytes).then_some((index, envelope))
}

fn is_sound(index: &Index, size: u64) -> bool {
    let (lines, nodes) = (position(index.lines.len()), position(index.nodes.len()));
    index.tip <= nodes
        && index
            .lines
            .iter()
            .all(|line| line.node < nodes && line.offset.checked_add(line.length.into()).is_some_and(|end| end <= size))
        && index.nodes.iter().all(|node| {
            let last = node.last_line.max(node.answered_line);
            node.parent <= nodes && node.call <= nodes && node.first_line <= node.last_line && last < lines
        })
}

fn line(mut bytes: &[u8]) -> Option<LinePlan> {
    Some(LinePlan {
        offset: take::<8>(&mut bytes).map(u64::from_le_bytes)?,
        length: number(&mut bytes)?,
        number: number(&mut bytes)?,
        node: number(&mut bytes)?,
    })
}

fn node(mut bytes: &[u8]) -> Option<NodePlan> {
    let mut next = || number(&mut bytes);
    let (parent, call, first_line, last_line, answered_line) = (next()?, next()?, next()?, next()?, next()?);
    let [kind, marks] = take::<2>(&mut bytes)?;
    let kind = match kind {
        0 => NodeKind::User,
        1 => NodeKind::Assistant,
        2 => NodeKind::Tool,
        3 => NodeKind::System,
        _ => return None,
    };
    Some(NodePlan { parent, call, first_line, last_line, answered_line, kind, marks })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    take::<4>(bytes).map(u32::from_le_bytes)
}

fn text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = number(bytes)? as usize;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{pack, unpack};
    use crate::assemble::Envelope;
    use crate::index::{Index, LinePlan, NodeKind, NodePlan};
    use sepia_ir::FileEntry;

    fn sample() -> (Index, Envelope, FileEntry) {
        let line = |offset, node| LinePlan { offset, length: 10, number: 1, node };
        let node = |parent, line| NodePlan {
            parent,
            first_line: line,
            last_line: line,
            answered_line: line,
            kind: NodeKind::User,
            ..NodePlan::default()
        };
        let index = Index { lines: vec![line(0, 0), line(11, 1)], nodes: vec![node(0, 0), node(1, 1)], tip: 2 };
        let envelope = Envelope { cwd: "/p".into(), ..Envelope::default() };
        (index, envelope, FileEntry { path: "a".into(), bytes: 22, modified_ns: 5, inode: 7 })
    }

    #[test]
    fn what_was_packed_comes_back_for_the_same_file_only() {
        let (index, envelope, file) = sample();
        let bytes = pack(&index, &envelope, &file, None);
        assert_eq!(unpack(&bytes, &file, None), Some((index, envelope)));
        assert_eq!(unpack(&bytes, &FileEntry { bytes: 23, ..file.clone() }, None), None);
        assert_eq!(unpack(&bytes, &FileEntry { modified_ns: 6, ..file.clone() }, None), None);
        assert_eq!(unpack(&bytes, &file, Some("x")), None);
    }

    #[test]
    fn damage_of_any_byte_is_noticed() {
        let (index, envelope, file) = sample();
        let bytes = pack(&index, &envelope, &file, None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(unpack(&damaged, &file, None), None, "byte {at}");
            assert_eq!(unpack(&bytes[..at], &file, None), None, "cut at {at}");
        }
    }
}
