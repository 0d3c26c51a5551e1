//! One running program: frames in and out, and its end.

use super::group::{Exit, Group, Pipes, Variable};
use super::noise::Noise;
use super::stderr::StderrTail;
use crate::jsonrpc::{Calls, Frame, FrameReader, FrameSender, Invalid, InvalidKind, Message, Peer, Settled, Version};
use crate::limits::Limits;
use crate::loader::FaultKind;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long what a dead program has left in its pipes is read.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long a program has to end by itself once its stdin is closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// A line larger than this is parsed on a thread that may take its time.
const PARSED_IN_PLACE: usize = 1 << 20;

/// Why a connection is no more.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) kind: FaultKind,
    /// A sentence about "it", the program.
    pub(super) message: String,
}

/// What the host wants of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Run,
    /// End, with time to do so by itself.
    End,
    /// End now: it overran its time.
    Kill,
}

#[derive(Debug)]
struct Shared {
    calls: Calls,
    stderr: StderrTail,
    noise: Mutex<Noise>,
    /// A large answer is being parsed.
    parsing: AtomicBool,
    end: OnceLock<End>,
}

/// A running program. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Connection {
    peer: Peer,
    shared: Arc<Shared>,
    wish: watch::Sender<Wish>,
    gone: watch::Receiver<bool>,
}

impl Connection {
    /// Starts the program.
    pub(super) fn start(program: &Path, environment: &[Variable], limits: &Limits) -> io::Result<Self> {
        const NO_ARGUMENTS: [&str; 0] = [];
        let (group, pipes) = Group::start(program, &NO_ARGUMENTS, environment, Stdio::piped())?;
        let Pipes { stdin: Some(stdin), stdout, stderr } = pipes else {
            return Err(io::Error::other("the system gave the new process no stdin"));
        };
        let shared = Arc::new(Shared {
            calls: Calls::default(),
            stderr: StderrTail::new(limits.stderr_lines),
            noise: Mutex::default(),
            parsing: AtomicBool::new(false),
            end: OnceLock::new(),
        });
        let (sender, writer) = FrameSender::start(stdin, 1);
        let (wish, wishes) = watch::channel(Wish::Run);
        let (tell_gone, gone) = watch::channel(false);
        let process = Process {
            group,
            stdout: FrameReader::new(stdout, limits.process_frame).reporting_early(),
            stderr: tokio::spawn(shared.stderr.clone().drain(stderr)),
            writer,
            shared: Arc::clone(&shared),
        };
        tokio::spawn(async move {
            process.supervise(wishes).await;
            // Nobody may be waiting.
            let _ = tell_gone.send(true);
        });
        Ok(Self { peer: Peer::new(shared.calls.clone(), sender), shared, wish, gone })
    }

    /// For calls.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Why it is no more; `None` while it is.
    pub(super) fn end(&self) -> Option<&End> {
        self.shared.end.get()
    }

    /// Ends it now, since it overran its time.
    pub(super) fn kill(&self) {
        self.wish.send_replace(Wish::Kill);
    }

    /// Lets it end by itself, and makes it when it doesn't.
    pub(super) fn ask_to_end(&self) {
        self.wish.send_replace(Wish::End);
    }

    /// Ready when the process and its group are gone.
    pub(super) async fn gone(&self) {
        // An error means that the task that would tell is gone itself.
        let _ = self.gone.clone().wait_for(|gone| *gone).await;
    }

    /// Its last lines on stderr.
    pub(super) fn stderr(&self) -> String {
        self.shared.stderr.text()
    }

    /// What it wrote besides answers, as a half sentence.
    pub(super) fn noise(&self) -> String {
        self.shared.noise().describe()
    }
}

impl Shared {
    fn lost(&self, what: String) -> End {
        let said = self.stderr.last().map_or_else(String::new, |line| format!("; it last said: {line}"));
        End { kind: FaultKind::Lost, message: what + &self.noise().describe() + &said }
    }

    fn noise(&self) -> MutexGuard<'_, Noise> {
        self.noise.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the task that watches over a process holds.
struct Process {
    group: Group,
    stdout: FrameReader<ChildStdout>,
    stderr: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
    shared: Arc<Shared>,
}

impl Process {
    async fn supervise(self, mut wishes: watch::Receiver<Wish>) {
        let Self { group, mut stdout, stderr, writer, shared } = self;
        let mut stderr = Some(stderr);
        let end = {
            let mut reading = pin!(read(&mut stdout, &shared));
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
                    End { kind: FaultKind::Time, message: "it overran its time and was stopped".to_owned() }
                }
                First::Wish(_) => End { kind: FaultKind::Lost, message: "it was shut down".to_owned() },
            }
        };
        let reason = end.message.clone();
        let polite = end.kind == FaultKind::Lost;
        // Set before the calls are failed: who is failed asks for it.
        let _ = shared.end.set(end);
        shared.calls.end(reason);
        // Dropping the writer closes the program's stdin.
        writer.abort();
        if polite {
            let _waited = timeout(FAREWELL, group.exited()).await;
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

/// Settles calls until the stream ends, which is `None`, or breaks.
async fn read<R: AsyncRead + Unpin>(stdout: &mut FrameReader<R>, shared: &Shared) -> Option<End> {
    loop {
        let line = match stdout.next().await {
            Ok(None) => return None,
            Ok(Some(Frame::Line(line))) => line,
            Ok(Some(Frame::NotUtf8 { bytes, .. })) => format!("({bytes} bytes that are not UTF-8)"),
            Ok(Some(Frame::TooLong { bytes })) => {
                let message = format!(
                    "it wrote a line of {bytes} bytes or more, over the limit of one answer; \
                     SEPIA_PROCESS_FRAME_MB raises that"
                );
                return Some(End { kind: FaultKind::Transfer, message });
            }
            Err(e) => {
                return Some(End { kind: FaultKind::Lost, message: format!("its stdout can't be read: {e}") });
            }
        };
        let start: String = line.chars().take(200).collect();
        let answered = match parse(line, &shared.parsing).await {
            Message::Response(response) => shared.calls.settle(response) == Settled::Delivered,
            // None is defined for this side yet; later versions may tell more than we know.
            Message::Notification(_) => continue,
            _ => false,
        };
        if answered {
            shared.noise().clear();
        } else if shared.noise().add(&start) {
            let message = format!("it writes what is no answer and does not stop{}", shared.noise().describe());
            return Some(End { kind: FaultKind::Contract, message });
        }
    }
}

async fn parse(line: String, parsing: &AtomicBool) -> Message {
    if line.len() <= PARSED_IN_PLACE {
        return Message::parse(line, Version::Required);
    }
    parsing.store(true, Ordering::Relaxed);
    let parsed = tokio::task::spawn_blocking(|| Message::parse(line, Version::Required)).await;
    parsing.store(false, Ordering::Relaxed);
    match parsed {
        Ok(message) => message,
        // The runtime is going down, or the parser panicked: no answer either way.
        Err(e) => Message::Invalid(Invalid { kind: InvalidKind::NotJson, id: None, reason: e.to_string() }),
    }
}
