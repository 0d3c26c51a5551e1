//! One running program, as whoever speaks to it sees it.

use super::end::{End, EndKind};
use super::group::{Group, Launch, Pipes};
use super::incoming::Incoming;
use super::noise::Noise;
use super::stderr::StderrTail;
use super::supervision::Process;
use crate::jsonrpc::{Calls, FrameReader, FrameSender, Peer};
use std::io;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// What a program may cost.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// One frame of it, bytes.
    pub(crate) frame: usize,
    /// The variable that raises it.
    pub(crate) frame_variable: &'static str,
    /// Lines kept of its stderr.
    pub(crate) stderr_lines: usize,
    /// Lines in a row that are no message.
    pub(crate) noise: u32,
    /// Frames to it that may wait.
    pub(crate) frames_ahead: usize,
    /// How long it has to end by itself once its stdin is closed.
    pub(crate) farewell: Duration,
}

/// What the host wants of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Run,
    /// End, with time to do so by itself.
    End,
    /// End now: it overran its time.
    Kill,
}

/// What a connection and the tasks of its process share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) calls: Calls,
    pub(super) stderr: StderrTail,
    pub(super) noise: Mutex<Noise>,
    pub(super) bounds: Bounds,
    /// It has shown that it speaks: noise no longer ends it.
    pub(super) speaks: AtomicBool,
    /// A large answer is being parsed, or handed to somebody who takes his time.
    pub(super) parsing: AtomicBool,
    pub(super) end: OnceLock<End>,
}

/// A running program. Dropped, it is ended.
#[derive(Debug)]
pub(crate) struct Connection {
    peer: Peer,
    shared: Arc<Shared>,
    wish: watch::Sender<Wish>,
    gone: watch::Receiver<bool>,
}

impl Connection {
    /// Starts the program.
    /// `kept` is dropped once the process and its group are gone.
    pub(crate) fn start(
        launch: &Launch<'_>,
        bounds: Bounds,
        incoming: Incoming,
        kept: impl Send + 'static,
    ) -> io::Result<Self> {
        let (group, pipes) = Group::start(launch, Stdio::piped())?;
        let Pipes { stdin: Some(stdin), stdout, stderr } = pipes else {
            return Err(io::Error::other("the system gave the new process no stdin"));
        };
        let shared = Arc::new(Shared {
            calls: Calls::default(),
            stderr: StderrTail::new(bounds.stderr_lines),
            noise: Mutex::default(),
            bounds,
            speaks: AtomicBool::new(false),
            parsing: AtomicBool::new(false),
            end: OnceLock::new(),
        });
        let (sender, writer) = FrameSender::start(stdin, shared.bounds.frames_ahead);
        let (wish, wishes) = watch::channel(Wish::Run);
        let (tell_gone, gone) = watch::channel(false);
        let process = Process {
            group,
            stdout: FrameReader::new(stdout, shared.bounds.frame).reporting_early(),
            stderr: tokio::spawn(shared.stderr.clone().drain(stderr)),
            writer,
            incoming,
            shared: Arc::clone(&shared),
        };
        tokio::spawn(async move {
            process.supervise(wishes).await;
            drop(kept);
            // Nobody may be waiting.
            let _ = tell_gone.send(true);
        });
        Ok(Self { peer: Peer::new(shared.calls.clone(), sender), shared, wish, gone })
    }

    /// It has shown that it speaks: whatever else it writes between its messages is counted and
    /// passed over from now on.
    pub(crate) fn speaks(&self) {
        self.shared.speaks.store(true, Ordering::Relaxed);
    }

    /// For calls.
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Why it is no more; `None` while it is.
    pub(crate) fn end(&self) -> Option<&End> {
        self.shared.end.get()
    }

    /// Ends it now, since it overran its time.
    pub(crate) fn kill(&self) {
        self.wish.send_replace(Wish::Kill);
    }

    /// Lets it end by itself, and makes it when it doesn't.
    pub(crate) fn ask_to_end(&self) {
        self.wish.send_replace(Wish::End);
    }

    /// Ready when the process and its group are gone.
    pub(crate) async fn gone(&self) {
        // An error means that the task that would tell is gone itself.
        let _ = self.gone.clone().wait_for(|gone| *gone).await;
    }

    /// Its last lines on stderr.
    pub(crate) fn stderr(&self) -> String {
        self.shared.stderr.text()
    }

    /// Lines on its stdout that were no messages, in all.
    pub(crate) fn passed_over(&self) -> u64 {
        self.shared.noise().all()
    }

    /// What it wrote besides answers, as a half sentence.
    pub(crate) fn noise(&self) -> String {
        self.shared.noise().describe()
    }
}

impl Shared {
    /// It is no more, and what it said last.
    pub(super) fn lost(&self, what: String) -> End {
        let said = self.stderr.last().map_or_else(String::new, |line| format!("; it last said: {line}"));
        End { kind: EndKind::Lost, message: what + &self.noise().describe() + &said }
    }

    pub(super) fn noise(&self) -> MutexGuard<'_, Noise> {
        self.noise.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
