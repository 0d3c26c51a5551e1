//! A model server on the loopback interface: answers every turn with the same text, and keeps
//! what it was asked.
//!
//! `tiny_http` serves it: synchronous, so that there is no second async world beside the
//! program's, and small, with no dependency whose features the component runtime shares (which
//! would be compiled anew for the tests).

mod answer;

pub(crate) use answer::TEXT as ANSWER;

use crate::Failed;
use serde_json::Value;
use std::io::Read;
use std::mem;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use tiny_http::{Request, Server};

/// A longer body is refused.
const LONGEST_BODY: u64 = 256 << 20;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// Path and query.
    pub(crate) url: String,
    /// Its body; `null` when that was no JSON.
    pub(crate) body: Value,
}

/// The running server; it ends when it is dropped.
pub(crate) struct ModelServer {
    server: Arc<Server>,
    port: u16,
    recorded: Arc<Mutex<Vec<Recorded>>>,
    worker: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts one on a port that is free.
    pub(crate) fn start() -> Result<Self, Failed> {
        let server = Server::http((Ipv4Addr::LOCALHOST, 0))
            .map_err(|e| format!("the model server can't listen on the loopback interface: {e}"))?;
        let port = server.server_addr().to_ip().ok_or("the model server has no port")?.port();
        let server = Arc::new(server);
        let recorded = Arc::default();
        let worker = thread::spawn({
            let (server, recorded) = (Arc::clone(&server), Arc::clone(&recorded));
            move || server.incoming_requests().for_each(|request| serve(request, &recorded))
        });
        Ok(Self { server, port, recorded, worker: Some(worker) })
    }

    /// Where it is, without a path.
    pub(crate) fn address(&self) -> String {
        format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// All that was asked since this was called last.
    pub(crate) fn take(&self) -> Vec<Recorded> {
        mem::take(&mut *lock(&self.recorded))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(worker) = self.worker.take() {
            // It has nothing to tell but that it ended.
            let _ended = worker.join();
        }
    }
}

fn serve(mut request: Request, recorded: &Mutex<Vec<Recorded>>) {
    let mut body = Vec::new();
    if request.as_reader().take(LONGEST_BODY).read_to_end(&mut body).is_err() {
        // The client went away in the middle of its request: nobody waits for an answer.
        return;
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let url = request.url().to_owned();
    let answer = answer::to(request.method(), &url, &body);
    // Recorded before it is answered: whoever has the answer finds the request.
    lock(recorded).push(Recorded { url, body });
    // A program that was ended doesn't wait for its answer.
    let _sent = request.respond(answer);
}

fn lock(recorded: &Mutex<Vec<Recorded>>) -> MutexGuard<'_, Vec<Recorded>> {
    // A list is whole whenever the lock is free.
    recorded.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    /// The answer to a request, head and body.
    fn ask(server: &ModelServer, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_turn_is_answered_and_recorded() {
        let server = ModelServer::start().unwrap();
        let whole = ask(&server, "POST", "/v1/messages?beta=true", r#"{"model":"m","messages":[]}"#);
        assert!(whole.starts_with("HTTP/1.1 200"), "{whole}");
        assert!(whole.contains(ANSWER) && whole.contains(r#""stop_reason":"end_turn""#), "{whole}");
        let streamed = ask(&server, "POST", "/v1/messages", r#"{"model":"m","messages":[],"stream":true}"#);
        assert!(streamed.contains("text/event-stream"), "{streamed}");
        let events: Vec<&str> = streamed.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let expected = [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ];
        assert_eq!(events, expected);
        let asked = server.take();
        assert_eq!(
            asked.iter().map(|asked| asked.url.as_str()).collect::<Vec<_>>(),
            ["/v1/messages?beta=true", "/v1/messages"]
        );
        assert_eq!(asked[1].body["stream"], true);
        assert!(server.take().is_empty());
    }

    #[test]
    fn what_it_does_not_know_is_an_error_that_is_recorded() {
        let server = ModelServer::start().unwrap();
        assert!(ask(&server, "POST", "/v1/other", "no JSON").starts_with("HTTP/1.1 404"));
        assert!(ask(&server, "POST", "/v1/messages/count_tokens", "{}").contains(r#""input_tokens""#));
        let asked = server.take();
        assert_eq!((asked[0].url.as_str(), &asked[0].body), ("/v1/other", &Value::Null));
    }
}
