//! The task that watches over a process, from its first frame to the end of its group.

use super::connection::{Shared, Wish};
use super::end::{End, EndKind};
use super::group::{Exit, Group};
use super::incoming::{Incoming, read};
use crate::jsonrpc::FrameReader;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long what a dead program has left in its pipes is read.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// What the task that watches over a process holds.
pub(super) struct Process {
    pub(super) group: Group,
    pub(super) stdout: FrameReader<ChildStdout>,
    pub(super) stderr: JoinHandle<()>,
    pub(super) writer: JoinHandle<io::Result<()>>,
    pub(super) incoming: Incoming,
    pub(super) shared: Arc<Shared>,
}

impl Process {
    /// Until the process and all that it started are gone.
    pub(super) async fn supervise(self, mut wishes: watch::Receiver<Wish>) {
        let Self { group, mut stdout, stderr, writer, incoming, shared } = self;
        let mut stderr = Some(stderr);
        let end = {
            let mut reading = pin!(read(&mut stdout, &incoming, &shared));
            let first = tokio::select! {
                end = &mut reading => First::Read(end),
                exit = group.exited() => First::Exit(exit),
                wish = wish(&mut wishes) => First::Wish(wish),
            };
            match first {
                First::Read(Some(end)) => end,
                // Mostly because the program ended, which shows a moment later.
                First::Read(None) => match timeout(LAST_WORDS, group.exited()).await {
                    Ok(exit) => died(exit, &group, &shared, &mut stderr).await,
                    Err(_) => shared.lost("it closed its stdout".to_owned()),
                },
                First::Exit(exit) => {
                    // What it started goes with it, and lets go of the pipe.
                    group.kill();
                    match last_words(reading, &shared).await {
                        Some(end) => end,
                        None => died(exit, &group, &shared, &mut stderr).await,
                    }
                }
                First::Wish(Wish::Kill) => {
                    End { kind: EndKind::Time, message: "it overran its time and was stopped".to_owned() }
                }
                First::Wish(_) => End { kind: EndKind::Lost, message: "it was shut down".to_owned() },
            }
        };
        let reason = end.message.clone();
        let polite = end.kind == EndKind::Lost;
        // Set before the calls are failed: who is failed asks for it.
        let _ = shared.end.set(end);
        match incoming {
            // Whoever takes what is still on its way ends the calls behind it.
            Incoming::All { to, .. } if !to.is_closed() => drop(to),
            _ => shared.calls.end(reason),
        }
        // Dropping the writer closes the program's stdin.
        writer.abort();
        if polite {
            let _waited = timeout(shared.bounds.farewell, group.exited()).await;
        }
        group.end().await;
        drained(&mut stderr).await;
        // A process that left the group may hold the pipe for ever.
        if let Some(reader) = stderr {
            reader.abort();
        }
    }
}

/// Waits a moment for stderr to be read to its end.
async fn drained(stderr: &mut Option<JoinHandle<()>>) {
    if let Some(reader) = stderr
        && timeout(LAST_WORDS, reader).await.is_ok()
    {
        *stderr = None;
    }
}

/// What comes first of what a connection waits for.
enum First {
    Read(Option<End>),
    Exit(io::Result<Exit>),
    Wish(Wish),
}

/// Answers that the program had written before it ended still count.
async fn last_words(mut reading: Pin<&mut impl Future<Output = Option<End>>>, shared: &Shared) -> Option<End> {
    loop {
        match timeout(LAST_WORDS, &mut reading).await {
            Ok(end) => return end,
            Err(_) if shared.parsing.load(Ordering::Relaxed) => {}
            Err(_) => return None,
        }
    }
}

async fn died(exit: io::Result<Exit>, group: &Group, shared: &Shared, stderr: &mut Option<JoinHandle<()>>) -> End {
    group.kill();
    drained(stderr).await;
    match exit {
        Ok(exit) => shared.lost(format!("it {exit}")),
        Err(e) => shared.lost(format!("it can't be watched over: {e}")),
    }
}

/// Ready when the process is to end; the connection being dropped is the wish to end it.
async fn wish(wishes: &mut watch::Receiver<Wish>) -> Wish {
    match wishes.wait_for(|wish| *wish != Wish::Run).await {
        Ok(wish) => *wish,
        Err(_) => Wish::End,
    }
}
