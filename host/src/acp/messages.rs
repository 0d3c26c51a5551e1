//! What an agent says, in its order.

use super::error::AgentError;
use crate::jsonrpc::{Calls, ErrorObject, Id, Message, Notification, Request};
use crate::process::{self, Connection};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Something that an agent says.
#[derive(Debug)]
pub(crate) enum Said {
    /// An answer; the call has it.
    Answered,
    /// A question, which wants an answer.
    Request(Request),
    /// A question that is none, with what is to be answered.
    Malformed(Id, ErrorObject),
    /// News, and its share of the room for what is on its way from the agent.
    Notification(Notification, OwnedSemaphorePermit),
}

/// What a running agent says, in its order.
#[derive(Debug)]
pub(crate) struct Messages {
    incoming: mpsc::Receiver<process::Said>,
    calls: Calls,
    connection: Arc<Connection>,
}

impl Messages {
    /// The messages of this connection, which go into `incoming`.
    pub(super) fn new(incoming: mpsc::Receiver<process::Said>, connection: Arc<Connection>) -> Self {
        let calls = connection.peer().calls().clone();
        Self { incoming, calls, connection }
    }

    /// The next thing that the agent says. An answer has then settled its call. None when the
    /// agent is gone: its calls have then failed.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        loop {
            match self.incoming.recv().await {
                Some(process::Said { message: Message::Response(response), .. }) => {
                    self.calls.settle(response);
                    return Some(Said::Answered);
                }
                Some(process::Said { message: Message::Request(request), .. }) => return Some(Said::Request(request)),
                Some(process::Said { message: Message::Notification(note), share }) => {
                    return Some(Said::Notification(note, share));
                }
                Some(process::Said { message: Message::Invalid(invalid), .. }) => {
                    let error = invalid.to_error();
                    if let Some(id) = invalid.id {
                        return Some(Said::Malformed(id, error));
                    }
                }
                Some(process::Said { message: Message::Batch, .. }) => {}
                None => {
                    self.end_calls();
                    return None;
                }
            }
        }
    }

    /// Takes what the agent says until a call is answered, and hands over all else.
    pub(crate) async fn until<T>(
        &mut self,
        call: impl Future<Output = Result<T, AgentError>>,
        mut other: impl FnMut(Said),
    ) -> Result<T, AgentError> {
        let mut call = pin!(call);
        let mut gone = false;
        loop {
            tokio::select! {
                biased;
                outcome = &mut call => return outcome,
                said = self.next(), if !gone => match said {
                    Some(said) => other(said),
                    None => gone = true,
                }
            }
        }
    }

    fn end_calls(&self) {
        let end = self.connection.end().map_or("it is gone", |end| end.message.as_str());
        self.calls.end(end);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // Nobody would settle them.
        self.end_calls();
    }
}
