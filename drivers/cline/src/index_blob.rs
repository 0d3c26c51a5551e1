//! The index of a transcript as bytes that the host keeps for the next page.
//!
//! They are taken for what they are: data from outside. A checksum finds damage, and what the
//! files looked like tells whether they are still of these files.

use crate::index::Index;
use crate::place::Kept;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Changes with the form of the index and with what the nodes are made of.
const FORM: &str = concat!("cline 2 ", env!("CARGO_PKG_VERSION"));

#[derive(Serialize, Deserialize)]
struct Blob<'a> {
    form: String,
    /// Key of what the transcript is part of.
    key: String,
    stamp: String,
    checksum: u64,
    #[serde(borrow)]
    index: &'a RawValue,
}

fn checksum(key: &str, stamp: &str, index: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, stamp, index).hash(&mut hasher);
    hasher.finish()
}

/// Packs an index; nothing when there is none to keep.
pub(crate) fn pack(index: &Index, kept: &Kept, stamp: &str) -> Option<Vec<u8>> {
    let index = serde_json::value::to_raw_value(index).ok()?;
    let key = kept.key();
    let checksum = checksum(&key, stamp, index.get());
    let blob = Blob { form: FORM.to_owned(), key, stamp: stamp.to_owned(), checksum, index: &index };
    serde_json::to_string(&blob).ok().map(String::into_bytes)
}

/// Where a packed index says that its session is. Nothing of it may be trusted.
pub(crate) fn place_of(bytes: &[u8]) -> Option<Kept> {
    let blob = serde_json::from_str::<Blob<'_>>(std::str::from_utf8(bytes).ok()?).ok()?;
    if blob.form == FORM { Kept::of(&blob.key) } else { None }
}

/// Unpacks an index of these files.
pub(crate) fn unpack(bytes: &[u8], kept: &Kept, stamp: &str) -> Option<Index> {
    let blob = serde_json::from_str::<Blob<'_>>(std::str::from_utf8(bytes).ok()?).ok()?;
    let right = blob.form == FORM
        && blob.key == kept.key()
        && blob.stamp == stamp
        && blob.checksum == checksum(&blob.key, stamp, blob.index.get());
    if right { serde_json::from_str(blob.index.get()).ok() } else { None }
}
