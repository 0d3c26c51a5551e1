//! The header of a write-ahead log, as SQLite's file format has it: a magic number that tells the order of bytes in its sums,
//! and a sum over itself.

use super::descriptors;
use std::io::Read;
use std::path::Path;

const HEADER: usize = 32;
/// The last bit says that sums are made of big-endian words.
const MAGIC: u32 = 0x377f_0682;

/// Whether anything in the log may count: it has more than its header, and that is whole.
pub(super) fn has_frames(log: &Path) -> bool {
    let mut start = Vec::new();
    let read = descriptors::with(log, |file| file.take(HEADER as u64 + 1).read_to_end(&mut start));
    // One that can't be read is SQLite's to judge.
    read.is_err() || start.first_chunk::<HEADER>().is_some_and(is_whole) && start.len() > HEADER
}

fn is_whole(header: &[u8; HEADER]) -> bool {
    let (words, _) = header.as_chunks::<4>();
    let magic = u32::from_be_bytes(words[0]);
    if magic & !1 != MAGIC {
        return false;
    }
    let word = |bytes: &[u8; 4]| if magic & 1 == 1 { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
    let (mut first, mut second) = (0_u32, 0_u32);
    for pair in words[..6].chunks_exact(2) {
        first = first.wrapping_add(word(&pair[0])).wrapping_add(second);
        second = second.wrapping_add(word(&pair[1])).wrapping_add(first);
    }
    (first, second) == (u32::from_be_bytes(words[6]), u32::from_be_bytes(words[7]))
}
