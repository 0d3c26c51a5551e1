//! The calling side of a connection.

use super::calls::{CallError, Calls};
use super::fragment::Fragment;
use super::id::Id;
use super::line;
use super::writer::{FrameSender, Outgoing};
use serde::Serialize;

/// Calls methods of the other side. Who reads the stream gives responses to
/// [`Calls::settle`] and its end to [`Calls::end`].
#[derive(Debug, Clone)]
pub struct Peer {
    calls: Calls,
    sender: FrameSender,
}

impl Peer {
    /// A caller that sends here, with the calls that the stream's reader settles.
    pub fn new(calls: Calls, sender: FrameSender) -> Self {
        Self { calls, sender }
    }

    /// The calls that wait.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Calls a method and waits for its answer. Bounding the time is the caller's matter:
    /// dropped, the call is given up.
    pub async fn call<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<Fragment, CallError> {
        let pending = self.calls.begin()?;
        let mut frame = Vec::new();
        line::request(&mut frame, &Id::number(pending.id()), method, params)
            .map_err(|e| CallError::Ended(format!("the call of {method} could not be written: {e}").into()))?;
        // When nobody reads any more, the reader of the stream will know why; waiting for
        // its word gives the better reason.
        let _closed = self.sender.send(Outgoing::Memory(frame)).await;
        pending.await
    }

    /// Tells something that wants no answer. Lost when the other side no longer reads.
    pub async fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<(), CallError> {
        let mut frame = Vec::new();
        line::notification(&mut frame, method, params)
            .map_err(|e| CallError::Ended(format!("the notification {method} could not be written: {e}").into()))?;
        self.sender.send(Outgoing::Memory(frame)).await.map_err(|e| CallError::Ended(e.to_string().into()))
    }

    /// Where its frames go.
    pub fn sender(&self) -> &FrameSender {
        &self.sender
    }
}
