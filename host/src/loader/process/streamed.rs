//! Large answers, taken apart while they are handed on, so that what is in memory besides the
//! frame is a batch.

use crate::jsonrpc::Fragment;
use sepia_ir::{MessageNode, Session};
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// Most nodes of a batch.
const BATCH: usize = 256;

/// The answer to `session.get`, its nodes still text.
#[derive(Debug)]
pub(super) struct Got {
    /// The session without its nodes.
    pub(super) header: Session,
    answer: Fragment,
}

#[derive(Deserialize)]
struct Nodes<'a> {
    #[serde(borrow, default)]
    nodes: Option<&'a RawValue>,
}

/// Takes the session apart.
pub(super) fn get(answer: Fragment) -> serde_json::Result<Got> {
    let text = answer.get();
    let Nodes { nodes } = serde_json::from_str(text)?;
    let header = match nodes.map(RawValue::get) {
        None => serde_json::from_str(text)?,
        Some(nodes) => {
            let start = (nodes.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            let without = [&text[..start], "[]", &text[start + nodes.len()..]].concat();
            serde_json::from_str(&without)?
        }
    };
    Ok(Got { header, answer })
}

impl Got {
    /// Gives the nodes to `take` in batches, until it says `false`.
    pub(super) fn batches(&self, take: &mut dyn FnMut(Vec<MessageNode>) -> bool) -> serde_json::Result<()> {
        let Nodes { nodes } = self.answer.parse()?;
        let Some(nodes) = nodes.filter(|nodes| nodes.get() != "null") else { return Ok(()) };
        let mut batch = Vec::new();
        let mut wanted = true;
        each(nodes.get(), &mut |node: MessageNode| {
            batch.push(node);
            if batch.len() >= BATCH {
                wanted = take(std::mem::take(&mut batch));
            }
            wanted
        })?;
        if wanted && !batch.is_empty() {
            take(batch);
        }
        Ok(())
    }
}

/// The answer to `session.native`.
#[derive(Debug, Deserialize)]
pub(super) struct Copied<'a> {
    /// Name that the agent would give the file.
    pub(super) name: String,
    /// A list of strings, base64 each.
    #[serde(borrow)]
    pub(super) data: &'a RawValue,
}

/// Gives the elements of a JSON array to `take`, until it says `false`.
pub(super) fn each<T: DeserializeOwned>(json: &str, take: &mut dyn FnMut(T) -> bool) -> serde_json::Result<()> {
    let mut source = serde_json::Deserializer::from_str(json);
    Each { take, item: PhantomData }.deserialize(&mut source)
}

struct Each<'a, T> {
    take: &'a mut dyn FnMut(T) -> bool,
    item: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Each<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Each<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if !(self.take)(item) {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
        }
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
