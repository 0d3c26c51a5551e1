//! One running program: frames in and out, and its end.

use super::group::{Exit, Group, Launch, Pipes};
use super::noise::Noise;
use super::stderr::StderrTail;
use crate::jsonrpc::{Calls, Frame, FrameReader, FrameSender, Invalid, InvalidKind, Message, Peer, Settled, Version};
use std::io;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::process::ChildStdout;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long what a dead program has left in its pipes is read.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// A line larger than this is parsed on a thread that may take its time.
const PARSED_IN_PLACE: usize = 1 << 20;

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

/// Where what it says goes.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Answers settle their calls; all else is passed over.
    Answers,
    /// Every message goes here in its order, answers too. Whoever takes them settles the calls,
    /// so that an answer counts after all that came before it, and ends the calls once there are
    /// no more messages.
    All {
        /// Where they go.
        to: mpsc::Sender<Said>,
        /// KiB of frames that may be on their way at once: whoever has a message has its share.
        room: Arc<Semaphore>,
    },
}

/// KiB of frames that may be on their way from one program at once.
pub(crate) const ROOM: u32 = 128 << 10;

/// A message on its way, and its share of the room for such.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) message: Message,
    pub(crate) share: OwnedSemaphorePermit,
}

/// Why a connection is no more.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) kind: EndKind,
    /// A sentence about "it", the program.
    pub(crate) message: String,
}

/// Kinds of [`End`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndKind {
    /// It died, closed its stdout, or was shut down.
    Lost,
    /// It overran its time.
    Time,
    /// It wrote a line over the limit.
    Transfer,
    /// It writes what is no message, and does not stop.
    Contract,
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
    bounds: Bounds,
    /// It has shown that it speaks: noise no longer ends it.
    speaks: AtomicBool,
    /// A large answer is being parsed, or handed to somebody who takes his time.
    parsing: AtomicBool,
    end: OnceLock<End>,
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
    fn lost(&self, what: String) -> End {
        let said = self.stderr.last().map_or_else(String::new, |line| format!("; it last said: {line}"));
        End { kind: EndKind::Lost, message: what + &self.noise().describe() + &said }
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
    incoming: Incoming,
    shared: Arc<Shared>,
}

impl Process {
    async fn supervise(self, mut wishes: watch::Receiver<Wish>) {
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

/// Takes messages until the stream ends, which is `None`, or breaks.
async fn read<R: AsyncRead + Unpin>(stdout: &mut FrameReader<R>, incoming: &Incoming, shared: &Shared) -> Option<End> {
    loop {
        let line = match stdout.next().await {
            Ok(None) => return None,
            Ok(Some(Frame::Line(line))) => line,
            Ok(Some(Frame::NotUtf8 { bytes, .. })) => format!("({bytes} bytes that are not UTF-8)"),
            Ok(Some(Frame::TooLong { bytes })) => {
                let message = format!(
                    "it wrote a line of {bytes} bytes or more, over the limit of one answer; \
                     {} raises that",
                    shared.bounds.frame_variable
                );
                return Some(End { kind: EndKind::Transfer, message });
            }
            Err(e) => {
                return Some(End { kind: EndKind::Lost, message: format!("its stdout can't be read: {e}") });
            }
        };
        let start: String = line.chars().take(200).collect();
        let kibibytes = u32::try_from(line.len() >> 10).unwrap_or(ROOM).saturating_add(1).min(ROOM);
        let taken = match (parse(line, &shared.parsing).await, incoming) {
            (Message::Response(response), Incoming::Answers) => shared.calls.settle(response) == Settled::Delivered,
            // None is defined for this side yet; later versions may tell more than we know.
            (Message::Notification(_), Incoming::Answers) => continue,
            (
                message @ (Message::Response(_) | Message::Notification(_) | Message::Request(_)),
                Incoming::All { to, room },
            ) => {
                shared.parsing.store(true, Ordering::Relaxed);
                // Where nobody takes it any more there is nobody to tell.
                if let Ok(share) = Arc::clone(room).acquire_many_owned(kibibytes).await {
                    let _gone = to.send(Said { message, share }).await;
                }
                shared.parsing.store(false, Ordering::Relaxed);
                true
            }
            _ => false,
        };
        if taken {
            shared.noise().clear();
            continue;
        }
        tracing::debug!("a line that is no message was passed over: {}", crate::text::clean_line(&start, 200));
        let in_a_row = shared.noise().add(&start);
        if in_a_row > shared.bounds.noise && !shared.speaks.load(Ordering::Relaxed) {
            let message = format!("it writes what is no answer and does not stop{}", shared.noise().describe());
            return Some(End { kind: EndKind::Contract, message });
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
