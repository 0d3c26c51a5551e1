//! Calls that wait for their answer.

use super::error_object::ErrorObject;
use super::fragment::Fragment;
use super::message::Response;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq)]
pub enum CallError {
    /// The peer's own answer.
    Said(ErrorObject),
    /// The connection ended first; the text says how.
    Ended(Arc<str>),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(error) => error.fmt(f),
            Self::Ended(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for CallError {}

/// What became of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Somebody waited for it.
    Delivered,
    /// Nobody does: never asked, answered before, or given up.
    Unexpected,
}

type Waiting = HashMap<u64, oneshot::Sender<Result<Fragment, ErrorObject>>>;

#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: Waiting,
    unexpected: u64,
    ended: Option<Arc<str>>,
}

/// The calls of one connection. Ids are 1, 2, 3, …
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<Mutex<State>>);

impl Calls {
    /// Takes a number for a call that is about to be sent. Fails when the connection has
    /// ended.
    pub fn begin(&self) -> Result<PendingCall, CallError> {
        let mut state = self.state();
        if let Some(reason) = &state.ended {
            return Err(CallError::Ended(Arc::clone(reason)));
        }
        state.last += 1;
        let id = state.last;
        let (answer, receiver) = oneshot::channel();
        state.waiting.insert(id, answer);
        Ok(PendingCall { id, receiver, calls: self.clone() })
    }

    /// Gives a response to the call that waits for it.
    pub fn settle(&self, response: Response) -> Settled {
        let mut state = self.state();
        let waiting = response.id.as_u64().and_then(|id| state.waiting.remove(&id));
        if let Some(Ok(())) = waiting.map(|answer| answer.send(response.outcome)) {
            return Settled::Delivered;
        }
        state.unexpected += 1;
        Settled::Unexpected
    }

    /// Fails all calls that wait, and all that come. The first reason given stays.
    pub fn end(&self, reason: impl Into<Arc<str>>) {
        let mut state = self.state();
        if state.ended.is_none() {
            state.ended = Some(reason.into());
        }
        state.waiting.clear();
    }

    /// How many responses nobody waited for.
    pub fn unexpected(&self) -> u64 {
        self.state().unexpected
    }

    /// How many calls wait.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that waits for its answer. Dropped, it is given up: an answer that comes later is
/// unexpected.
#[derive(Debug)]
pub struct PendingCall {
    id: u64,
    receiver: oneshot::Receiver<Result<Fragment, ErrorObject>>,
    calls: Calls,
}

impl PendingCall {
    /// Its number.
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl Future for PendingCall {
    type Output = Result<Fragment, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receiver).poll(context).map(|answer| {
            if let Ok(outcome) = answer {
                return outcome.map_err(CallError::Said);
            }
            let reason = self.calls.state().ended.clone();
            Err(CallError::Ended(reason.unwrap_or_else(|| "the connection ended".into())))
        })
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.calls.state().waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::{CallError, Calls, Settled};
    use crate::jsonrpc::{Message, Response, Version};

    fn response(line: &str) -> Response {
        let Message::Response(response) = Message::parse(line.to_owned(), Version::Unchecked) else { panic!("{line}") };
        response
    }

    #[tokio::test]
    async fn each_answer_finds_its_call_whatever_the_order() {
        let calls = Calls::default();
        let (one, two) = (calls.begin().unwrap(), calls.begin().unwrap());
        assert_eq!((one.id(), two.id()), (1, 2));
        assert_eq!(calls.settle(response(r#"{"id":2,"result":"b"}"#)), Settled::Delivered);
        assert_eq!(calls.settle(response(r#"{"id":1,"error":{"code":-1,"message":"a"}}"#)), Settled::Delivered);
        assert_eq!(two.await.unwrap().get(), "\"b\"");
        assert!(matches!(one.await, Err(CallError::Said(e)) if e.code == -1));
        assert_eq!(calls.unexpected(), 0);
    }

    #[tokio::test]
    async fn answers_that_nobody_asked_for_are_counted_and_settle_nothing() {
        let calls = Calls::default();
        let one = calls.begin().unwrap();
        for line in [
            r#"{"id":2,"result":1}"#,
            r#"{"id":"1","result":1}"#,
            r#"{"id":1.0,"result":1}"#,
            r#"{"id":-1,"result":1}"#,
            r#"{"id":null,"result":1}"#,
        ] {
            assert_eq!(calls.settle(response(line)), Settled::Unexpected, "{line}");
        }
        assert_eq!(calls.settle(response(r#"{"id":1,"result":7}"#)), Settled::Delivered);
        assert_eq!(calls.settle(response(r#"{"id":1,"result":8}"#)), Settled::Unexpected);
        assert_eq!(one.await.unwrap().get(), "7");
        drop(calls.begin().unwrap());
        assert_eq!(calls.waiting(), 0);
        assert_eq!(calls.settle(response(r#"{"id":2,"result":1}"#)), Settled::Unexpected);
        assert_eq!(calls.unexpected(), 7);
    }

    #[tokio::test]
    async fn the_end_of_the_connection_answers_everyone() {
        let calls = Calls::default();
        let (one, two) = (calls.begin().unwrap(), calls.begin().unwrap());
        calls.end("exited with code 3");
        calls.end("later");
        for call in [one, two] {
            assert_eq!(call.await, Err(CallError::Ended("exited with code 3".into())));
        }
        assert!(matches!(calls.begin(), Err(CallError::Ended(_))));
    }
}
