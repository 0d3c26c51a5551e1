//! Frames to a stream of bytes, whole and one after the other.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use tempfile::{SpooledData, SpooledTempFile};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// What is sent whole: one line, or several, without their line feeds.
#[derive(Debug)]
pub enum Outgoing {
    /// In memory.
    Memory(Vec<u8>),
    /// Several, in memory.
    Lines(Vec<Vec<u8>>),
    /// In an unnamed file, from its start.
    File(File),
    /// Nothing: says when all before it was written.
    Told(oneshot::Sender<()>),
}

impl TryFrom<SpooledTempFile> for Outgoing {
    type Error = io::Error;

    fn try_from(spool: SpooledTempFile) -> io::Result<Self> {
        Ok(match spool.into_inner() {
            SpooledData::InMemory(memory) => Self::Memory(memory.into_inner()),
            SpooledData::OnDisk(mut file) => {
                file.rewind()?;
                Self::File(file)
            }
        })
    }
}

/// The other side no longer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Why a frame was not taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// As many wait as may.
    Full,
    /// The other side no longer reads.
    Closed,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other side of the connection no longer reads")
    }
}

impl std::error::Error for Closed {}

/// Hands frames to the one task that writes them. Cheap to clone; frames of all clones go out
/// whole, in the order of their hand-over, even when the sender gives up half-way.
#[derive(Debug, Clone)]
pub struct FrameSender(mpsc::Sender<Outgoing>);

impl FrameSender {
    /// Starts the task. At most `ahead` frames wait, then [`send`](Self::send) does. The task
    /// ends when all senders are gone and all is written, or with the first failure of `sink`.
    pub fn start<W: AsyncWrite + Unpin + Send + 'static>(sink: W, ahead: usize) -> (Self, JoinHandle<io::Result<()>>) {
        let (sender, frames) = mpsc::channel(ahead.max(1));
        (Self(sender), tokio::spawn(write_all(sink, frames)))
    }

    /// Hands over one frame; waits while too many wait already.
    pub async fn send(&self, frame: Outgoing) -> Result<(), Closed> {
        self.0.send(frame).await.map_err(|_| Closed)
    }

    /// Hands over one frame, or says at once why not.
    pub fn try_send(&self, frame: Outgoing) -> Result<(), NotTaken> {
        self.0.try_send(frame).map_err(|e| match e {
            mpsc::error::TrySendError::Full(_) => NotTaken::Full,
            mpsc::error::TrySendError::Closed(_) => NotTaken::Closed,
        })
    }

    /// Ready when the other side no longer reads.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// Bytes that are written at once when more wait: a small frame costs a call of the system
/// by itself only when it comes alone.
const AT_ONCE: usize = 128 << 10;

async fn write_all<W: AsyncWrite + Unpin>(mut sink: W, mut frames: mpsc::Receiver<Outgoing>) -> io::Result<()> {
    let mut gathered: Vec<u8> = Vec::new();
    while let Some(frame) = frames.recv().await {
        let mut next = Some(frame);
        while let Some(frame) = next.take() {
            match frame {
                Outgoing::Memory(line) if gathered.is_empty() => {
                    gathered = line;
                    gathered.push(b'\n');
                }
                Outgoing::Memory(line) => put(&mut gathered, &line),
                Outgoing::Lines(lines) => {
                    for line in lines {
                        put(&mut gathered, &line);
                        if gathered.len() >= AT_ONCE {
                            sink.write_all(&gathered).await?;
                            gathered.clear();
                        }
                    }
                }
                Outgoing::Told(told) => {
                    sink.write_all(&gathered).await?;
                    gathered.clear();
                    sink.flush().await?;
                    // Whoever asked may have gone.
                    let _gone = told.send(());
                }
                Outgoing::File(file) => {
                    sink.write_all(&gathered).await?;
                    gathered.clear();
                    copy(file, &mut sink).await?;
                    gathered.push(b'\n');
                }
            }
            if gathered.len() < AT_ONCE {
                next = frames.try_recv().ok();
            }
        }
        sink.write_all(&gathered).await?;
        gathered.clear();
        // What one large frame took is given back.
        gathered.shrink_to(AT_ONCE);
        sink.flush().await?;
    }
    sink.shutdown().await
}

fn put(gathered: &mut Vec<u8>, line: &[u8]) {
    gathered.extend_from_slice(line);
    gathered.push(b'\n');
}

const COPIED_AT_ONCE: usize = 256 << 10;

/// Reads on a thread that may wait, since a disk may be slow.
async fn copy<W: AsyncWrite + Unpin>(mut file: File, sink: &mut W) -> io::Result<()> {
    let mut part = vec![0; COPIED_AT_ONCE];
    loop {
        let read;
        (file, part, read) = tokio::task::spawn_blocking(move || {
            let read = file.read(&mut part);
            (file, part, read)
        })
        .await
        .map_err(io::Error::other)?;
        match read {
            Ok(0) => return Ok(()),
            Ok(bytes) => sink.write_all(&part[..bytes]).await?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Closed, FrameSender, Outgoing};
    use std::io::Write;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn frames_go_out_whole_from_memory_and_from_a_file() {
        let (mut read, write) = tokio::io::duplex(7);
        let (sender, task) = FrameSender::start(write, 4);
        let feed = tokio::spawn(async move {
            for limit in [1000, 10] {
                let mut spool = tempfile::spooled_tempfile(limit);
                spool.write_all(&[b'x'; 100]).unwrap();
                sender.send(spool.try_into().unwrap()).await.unwrap();
            }
            sender.send(Outgoing::Memory(b"end".to_vec())).await.unwrap();
        });
        let mut text = String::new();
        read.read_to_string(&mut text).await.unwrap();
        feed.await.unwrap();
        task.await.unwrap().unwrap();
        let line = "x".repeat(100);
        assert_eq!(text, format!("{line}\n{line}\nend\n"));
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_told_to_who_sends() {
        let (read, write) = tokio::io::duplex(7);
        let (sender, task) = FrameSender::start(write, 1);
        drop(read);
        sender.send(Outgoing::Memory(b"a".to_vec())).await.unwrap();
        sender.closed().await;
        assert_eq!(sender.send(Outgoing::Memory(b"b".to_vec())).await, Err(Closed));
        assert!(task.await.unwrap().is_err());
    }
}
