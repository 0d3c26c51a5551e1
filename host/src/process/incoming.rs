//! What a running program says.

use super::connection::Shared;
use super::end::{End, EndKind};
use crate::jsonrpc::{
    ErrorObject, Frame, FrameReader, Invalid, InvalidKind, Message, Response, Settled, Version, code,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::AsyncRead;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// A line larger than this is parsed on a thread that may take its time.
const PARSED_IN_PLACE: usize = 1 << 20;

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

/// Takes messages until the stream ends, which is `None`, or breaks.
pub(super) async fn read<R: AsyncRead + Unpin>(
    stdout: &mut FrameReader<R>,
    incoming: &Incoming,
    shared: &Shared,
) -> Option<End> {
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
        let taken = match (answer_or(parse(line, &shared.parsing).await), incoming) {
            (Message::Response(response), Incoming::Answers) => shared.calls.settle(response) == Settled::Delivered,
            // None is defined for this side yet; later versions may tell more than we know.
            (Message::Notification(_), Incoming::Answers) => continue,
            (message, Incoming::All { to, room }) if concerns_somebody(&message) => {
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

/// An answer that is not whole is one all the same: whoever waits for it need not wait longer.
fn answer_or(message: Message) -> Message {
    match message {
        Message::Invalid(Invalid { kind: InvalidKind::Response, id: Some(id), reason }) => {
            let error = ErrorObject::new(code::INVALID_REQUEST, format!("its answer is none: {reason}"));
            Message::Response(Response { id, outcome: Err(error) })
        }
        message => message,
    }
}

/// Whether it answers a call, tells something, or wants an answer, if only that it is no question.
fn concerns_somebody(message: &Message) -> bool {
    match message {
        Message::Response(_) | Message::Notification(_) | Message::Request(_) => true,
        Message::Invalid(invalid) => invalid.kind == InvalidKind::Request && invalid.id.is_some(),
        Message::Batch => false,
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
