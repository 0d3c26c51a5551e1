//! What comes in pieces: a task that pulls them out of the guest, a piece or two ahead of
//! whoever reads them. Each pull has a time of its own; a reader that goes away ends the task.

use super::bindings::exports::sepia::driver::session_read::Guest;
use super::call::{Sandbox, within};
use crate::loader::Fault;
use crate::loader::check::Nodes;
use sepia_ir::MessageNode;
use tokio::sync::mpsc;
use wasmtime::component::ResourceAny;

/// A resource of a guest, with all that it needs to live.
pub(super) struct Pulled {
    pub(super) sandbox: Sandbox,
    pub(super) guest: Guest,
    pub(super) resource: ResourceAny,
}

/// Pieces that wait, besides the one that is being made.
const AHEAD: usize = 1;
/// Text of a batch of nodes that is aimed at, bytes: large enough that the crossing costs
/// nothing beside it, small enough that a session of any size needs no memory.
const BATCH: usize = 512 << 10;
/// The first batch; how much text a node has shows after it.
const FIRST_BATCH: u32 = 64;
const MOST_NODES: u32 = 4096;
/// Bytes of one piece of a native copy.
const CHUNK: u32 = 1 << 20;

const NEXT_NODES: &str = "session-read.transcript.next";
const NEXT_BYTES: &str = "session-read.native-copy.next";

type Pieces<P> = mpsc::Receiver<Result<Vec<P>, Fault>>;

/// The nodes of a transcript.
pub(super) fn nodes(mut pulled: Pulled, mut checked: Nodes) -> Pieces<MessageNode> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut most = FIRST_BATCH;
        loop {
            let next = tokio::select! {
                () = sender.closed() => return,
                next = pulled.next_nodes(most, &mut checked) => next,
            };
            let piece = match next {
                Ok((nodes, _)) if nodes.is_empty() => return,
                Ok((nodes, bytes)) => {
                    most = next_size(most, nodes.len(), bytes);
                    Ok(nodes)
                }
                Err(fault) => Err(fault),
            };
            let over = piece.is_err();
            if sender.send(piece).await.is_err() || over {
                return;
            }
        }
    });
    receiver
}

/// The bytes of a native copy, at most `most` of them.
pub(super) fn bytes(mut pulled: Pulled, most: u64) -> Pieces<u8> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let mut sum = 0;
        loop {
            let next = tokio::select! {
                () = sender.closed() => return,
                next = pulled.next_bytes() => next,
            };
            let piece = match next {
                Ok(bytes) if bytes.is_empty() => return,
                Ok(bytes) => {
                    sum += bytes.len() as u64;
                    if sum > most {
                        Err(pulled
                            .sandbox
                            .breach(NEXT_BYTES, format!("the copy does not end: {} MiB so far", sum >> 20)))
                    } else {
                        Ok(bytes)
                    }
                }
                Err(fault) => Err(fault),
            };
            let over = piece.is_err();
            if sender.send(piece).await.is_err() || over {
                return;
            }
        }
    });
    receiver
}

impl Pulled {
    async fn next_nodes(&mut self, most: u32, checked: &mut Nodes) -> Result<(Vec<MessageNode>, usize), Fault> {
        let Self { sandbox, guest, resource } = self;
        sandbox.arm();
        let next = guest.transcript();
        let answer = within(sandbox.until(), next.call_next(&mut sandbox.store, *resource, most)).await;
        let mut nodes = sandbox.judge_result(NEXT_NODES, answer)?;
        if nodes.len() > most as usize {
            return Err(sandbox.breach(NEXT_NODES, format!("{} nodes came and {most} were asked for", nodes.len())));
        }
        let bytes = checked.batch(&mut nodes).map_err(|breach| sandbox.breach(NEXT_NODES, breach.0))?;
        Ok((nodes, bytes))
    }

    async fn next_bytes(&mut self) -> Result<Vec<u8>, Fault> {
        let Self { sandbox, guest, resource } = self;
        sandbox.arm();
        let next = guest.native_copy();
        let answer = within(sandbox.until(), next.call_next(&mut sandbox.store, *resource, CHUNK)).await;
        let bytes = sandbox.judge_result(NEXT_BYTES, answer)?;
        if bytes.len() > CHUNK as usize {
            return Err(sandbox.breach(NEXT_BYTES, format!("{} bytes came and {CHUNK} were asked for", bytes.len())));
        }
        Ok(bytes)
    }
}

/// How many nodes to ask for next, from what the last batch weighed. Grows slowly, for the
/// next nodes may be heavier, and shrinks at once.
fn next_size(asked: u32, came: usize, bytes: usize) -> u32 {
    let fitting = BATCH.saturating_mul(came) / bytes.max(1);
    u32::try_from(fitting).unwrap_or(MOST_NODES).min(asked.saturating_mul(4)).clamp(1, MOST_NODES)
}

#[cfg(test)]
mod tests {
    use super::next_size;

    #[test]
    fn batches_aim_at_half_a_mebibyte() {
        assert_eq!(next_size(64, 64, 64 * 1024), 256);
        assert_eq!(next_size(256, 256, 256 * 4096), 128);
        assert_eq!(next_size(64, 64, 64 << 20), 1);
        assert_eq!(next_size(1, 1, 100 << 20), 1);
        assert_eq!(next_size(4096, 4096, 4096 * 20), 4096);
        assert_eq!(next_size(64, 0, 0), 1);
    }
}
