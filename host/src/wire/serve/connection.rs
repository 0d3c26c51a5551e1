//! One client from its first frame to the end.

use super::feeds::Feeds;
use super::live::Answered;
use super::methods::{self, Method};
use super::order::Order;
use super::{answer, error};
use crate::jsonrpc::{Frame, FrameReader, FrameSender, Id, Message, Request, Version, code};
use crate::plane::Plane;
use futures::FutureExt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Time that running requests have when the process is told to end.
const GRACE: Duration = Duration::from_secs(2);
/// Time that a client has to read what it was sent last.
const LAST_FRAMES: Duration = Duration::from_secs(5);
/// Requests that wait for an agent besides those that run; more take the places of others.
const TALKING: usize = 512;
/// Answers that may wait for the client to read.
const FRAMES_AHEAD: usize = 16;

/// Why the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client closed its side; everything it asked was answered.
    Eof,
    /// `shutdown`
    Shutdown,
    /// The process was told to end.
    Signal,
    /// The client no longer reads.
    ClientGone,
}

/// Serves one client. `stop` becomes ready when the process is told to end.
///
/// Requests run at once, up to the limit; beyond it reading waits, so a client that floods
/// is slowed and nothing grows. Every request is answered exactly once, also at the end.
pub async fn serve(
    plane: Arc<Plane>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<End> {
    let stop = stop.shared();
    let (sender, mut writing) = FrameSender::start(output, FRAMES_AHEAD);
    let (closing, _) = watch::channel(false);
    let mut client = Client {
        places: Arc::new(Semaphore::new(plane.limits().concurrent_requests)),
        plane,
        feeds: Feeds::new(sender.clone()),
        sender,
        closing,
        running: JoinSet::new(),
        talking: JoinSet::new(),
        changes: Order::default(),
        said: Order::default(),
        shutdown: None,
    };
    let end = client.run(input, stop.clone()).await?;
    let last = client.finish(end, stop.clone()).await;
    let late = async {
        if end == End::Eof {
            stop.await;
        }
        sleep(LAST_FRAMES).await;
    };
    let written = tokio::select! {
        written = &mut writing => written.map_err(io::Error::other)?,
        () = late => {
            writing.abort();
            tracing::warn!("the client did not read its last frames");
            return Ok(end);
        }
    };
    // Nobody reads any more: what the writer says of that is no news.
    if end != End::ClientGone && last {
        written?;
    }
    Ok(end)
}

struct Client {
    plane: Arc<Plane>,
    sender: FrameSender,
    feeds: Feeds,
    places: Arc<Semaphore>,
    /// Set when running requests have to give up.
    closing: watch::Sender<bool>,
    running: JoinSet<()>,
    /// Those that wait for an agent.
    talking: JoinSet<()>,
    changes: Order,
    /// What is said to live sessions: it reaches them in the order in which it came.
    said: Order,
    /// Id of the request to shut down, answered last.
    shutdown: Option<Id>,
}

impl Client {
    async fn run(&mut self, input: impl AsyncRead + Unpin, stop: impl Future<Output = ()>) -> io::Result<End> {
        let mut frames = FrameReader::new(input, self.plane.limits().client_frame);
        let mut stop = std::pin::pin!(stop);
        let sender = self.sender.clone();
        let places = Arc::clone(&self.places);
        loop {
            // A place first, so that a frame that was read is also served.
            let place = tokio::select! {
                place = Arc::clone(&places).acquire_owned() => place.map_err(io::Error::other)?,
                () = &mut stop => return Ok(End::Signal),
                () = sender.closed() => return Ok(End::ClientGone),
            };
            let frame = tokio::select! {
                frame = frames.next() => frame?,
                () = &mut stop => return Ok(End::Signal),
                () = sender.closed() => return Ok(End::ClientGone),
            };
            while self.running.try_join_next().is_some() {}
            while self.talking.try_join_next().is_some() {}
            let Some(frame) = frame else { return Ok(End::Eof) };
            match self.understand(frame) {
                Understood::Request(method, request) => self.start(method, request, place),
                Understood::Wrong(id, error) => tokio::select! {
                    sent = sender.send(answer::failure(&id, &error)) => {
                        if sent.is_err() {
                            return Ok(End::ClientGone);
                        }
                    }
                    () = &mut stop => return Ok(End::Signal),
                },
                Understood::Nothing => {}
                Understood::Shutdown(id) => {
                    self.shutdown = id;
                    return Ok(End::Shutdown);
                }
            }
        }
    }

    fn understand(&self, frame: Frame) -> Understood {
        let limit = self.plane.limits().client_frame;
        let wrong = |number, message: String| Understood::Wrong(Id::null(), error::bad_frame(number, message));
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong { bytes } => {
                let message = format!(
                    "the frame has {bytes} bytes and may have {limit}; split the request, or raise SEPIA_MAX_FRAME_MB"
                );
                return wrong(code::PARSE, message);
            }
            Frame::NotUtf8 { bytes, at } => {
                return wrong(code::PARSE, format!("the frame of {bytes} bytes is not UTF-8 from byte {at} on"));
            }
        };
        match Message::parse(line, Version::Required) {
            Message::Request(request) => match methods::by_name(&request.method) {
                Ok(Method::Shutdown) => Understood::Shutdown(Some(request.id)),
                Ok(method) => Understood::Request(method, request),
                Err(error) => Understood::Wrong(request.id, error),
            },
            Message::Notification(note) if note.method == "shutdown" => Understood::Shutdown(None),
            Message::Notification(note) => {
                tracing::debug!("a notification was passed over: {}", crate::text::clean_line(&note.method, 80));
                Understood::Nothing
            }
            Message::Response(_) => {
                tracing::debug!("a response was passed over; nothing was asked");
                Understood::Nothing
            }
            Message::Batch => wrong(code::INVALID_REQUEST, "batches are not taken; send one request a line".into()),
            Message::Invalid(invalid) => {
                let of_frame = invalid.to_error();
                let id = invalid.id.unwrap_or_else(Id::null);
                Understood::Wrong(id, error::bad_frame(of_frame.code, of_frame.message))
            }
        }
    }

    /// Runs a request beside the others.
    fn start(&mut self, method: Method, request: Request, place: tokio::sync::OwnedSemaphorePermit) {
        let (plane, sender, feeds) = (Arc::clone(&self.plane), self.sender.clone(), self.feeds.clone());
        // What waits for an agent may wait for long, and takes nobody's place.
        let waits = method.waits_for_an_agent() && self.talking.len() < TALKING;
        let place = (!waits).then_some(place);
        let tasks = if waits { &mut self.talking } else { &mut self.running };
        let turn = method.is_said_to_a_session().then(|| self.said.position());
        let mut closing = self.closing.subscribe();
        let mut position = method.changes_something().then(|| self.changes.position());
        tasks.spawn(async move {
            let id = request.id.clone();
            let answer = async {
                if let Some(position) = &mut position {
                    position.reached().await;
                }
                methods::answer_to(&plane, method, request, &feeds, turn).await
            };
            let answer = tokio::select! {
                answer = answer => answer,
                _ = closing.wait_for(|closing| *closing) => answer::failure(&id, &error::shutting_down()).into(),
            };
            drop(position);
            let Answered { answer, begin } = answer;
            // A client that is gone is noticed by whoever reads its frames.
            let _gone = sender.send(answer).await;
            if let Some(begin) = begin {
                begin.send_replace(true);
            }
            drop(place);
        });
    }

    /// Lets running requests finish, ends the plane, answers `shutdown`. Whether the client
    /// could still be answered. A client that does not read holds none of that up, but for the
    /// answers of one that has only closed its side.
    async fn finish(mut self, end: End, stop: impl Future<Output = ()>) -> bool {
        let Self { plane, sender, feeds, closing, running, talking, .. } = &mut self;
        let requests = async {
            match end {
                // Whoever sends and hangs up still gets the answers; each is bounded by itself.
                End::Eof => tokio::select! {
                    () = all_of(running) => {}
                    () = sender.closed() => {}
                    () = stop => {}
                },
                End::Shutdown | End::Signal => {
                    let _late = timeout(GRACE, all_of(running)).await;
                }
                End::ClientGone => feeds.stop(),
            }
        };
        let live = async {
            if end != End::ClientGone {
                // What waits for an agent has a moment more.
                let _late = timeout(GRACE, all_of(talking)).await;
            }
            plane.let_all_go().await;
        };
        tokio::join!(requests, live);
        closing.send_replace(true);
        for left in [running, talking] {
            if timeout(GRACE, all_of(left)).await.is_err() {
                left.shutdown().await;
            }
        }
        plane.shutdown().await;
        if timeout(GRACE, feeds.finished()).await.is_err() {
            feeds.stop();
        }
        let Some(id) = self.shutdown.take() else { return true };
        let answer = answer::result(&id, &(), self.plane.limits().answer_in_memory);
        matches!(timeout(GRACE, self.sender.send(answer)).await, Ok(Ok(())))
    }
}

/// Ready when all have ended.
async fn all_of(running: &mut JoinSet<()>) {
    while running.join_next().await.is_some() {}
}

enum Understood {
    Request(Method, Request),
    Wrong(Id, crate::jsonrpc::ErrorObject),
    Shutdown(Option<Id>),
    Nothing,
}
