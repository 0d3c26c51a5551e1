//! A model server on the loopback interface: answers a turn by rules, without one always with
//! the same text, and keeps what it was asked.
//!
//! `tiny_http` serves it: synchronous, so that there is no second async world beside the
//! program's, and small, with no dependency whose features the component runtime shares (which
//! would be compiled anew for the tests).

mod answer;
mod rule;

pub(crate) use rule::{Answer, Rule, TEXT as ANSWER};

use crate::Failed;
use crate::conversation;
use serde_json::Value;
use std::io::Read;
use std::mem;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
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
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

/// What all requests share.
#[derive(Default)]
struct Shared {
    rules: Vec<Rule>,
    /// How many answers were begun.
    answers: AtomicU64,
    state: Mutex<State>,
    /// Told of each change of the state.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    recorded: Vec<Recorded>,
    /// Nobody is to be answered any more.
    is_over: bool,
}

impl ModelServer {
    /// Starts one on a port that is free.
    pub(crate) fn start() -> Result<Self, Failed> {
        Self::with_rules(Vec::new())
    }

    /// Starts one that answers by these rules.
    pub(crate) fn with_rules(rules: Vec<Rule>) -> Result<Self, Failed> {
        let server = Server::http((Ipv4Addr::LOCALHOST, 0))
            .map_err(|e| format!("the model server can't listen on the loopback interface: {e}"))?;
        let port = server.server_addr().to_ip().ok_or("the model server has no port")?.port();
        let server = Arc::new(server);
        let shared = Arc::new(Shared { rules, ..Shared::default() });
        let worker = thread::spawn({
            let (server, shared) = (Arc::clone(&server), Arc::clone(&shared));
            move || {
                for request in server.incoming_requests() {
                    let shared = Arc::clone(&shared);
                    // Each on its own: an answer that takes long holds up no other.
                    thread::spawn(move || serve(request, &shared));
                }
            }
        });
        Ok(Self { server, port, shared, worker: Some(worker) })
    }

    /// Where it is, without a path.
    pub(crate) fn address(&self) -> String {
        format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// All that was asked since this was called last.
    pub(crate) fn take(&self) -> Vec<Recorded> {
        mem::take(&mut self.shared.state().recorded)
    }

    /// All that was asked since something was taken.
    pub(crate) fn asked(&self) -> Vec<Recorded> {
        self.shared.state().recorded.clone()
    }

    /// Waits for a request with this in a text of the person; whether it came in time.
    pub(crate) fn is_asked(&self, prompt: &str, limit: Duration) -> bool {
        let came = |state: &State| state.recorded.iter().any(|asked| conversation::asks(&asked.body, prompt));
        let state = self.shared.state();
        let waited = self.shared.changed.wait_timeout_while(state, limit, |state| !came(state));
        came(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        self.server.unblock();
        if let Some(worker) = self.worker.take() {
            // It has nothing to tell but that it ended.
            let _ended = worker.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole whenever the lock is free.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(mut request: Request, shared: &Shared) {
    let mut body = Vec::new();
    if request.as_reader().take(LONGEST_BODY).read_to_end(&mut body).is_err() {
        // The client went away in the middle of its request: nobody waits for an answer.
        return;
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let url = request.url().to_owned();
    let (said, delay) = rule::answer(&shared.rules, &body);
    let number = shared.answers.fetch_add(1, Ordering::Relaxed);
    let answer = answer::to(request.method(), &url, &body, &said, number);
    let delay = if answer::is_turn(request.method(), &url) { delay } else { Duration::ZERO };
    // Recorded before it is answered: whoever has the answer finds the request.
    let mut state = shared.state();
    state.recorded.push(Recorded { url, body });
    shared.changed.notify_all();
    // The delay ends with the server, too.
    drop(shared.changed.wait_timeout_while(state, delay, |state| !state.is_over));
    // A program that was ended doesn't wait for its answer.
    let _sent = request.respond(answer);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use serde_json::json;
    use std::io::Write;
    use std::net::TcpStream;

    /// The answer to a request, head and body.
    fn ask(server: &ModelServer, method: &str, path: &str, body: &str) -> String {
        let mut answer = String::new();
        send(server, method, path, body).read_to_string(&mut answer).unwrap();
        answer
    }

    fn send(server: &ModelServer, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        stream
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

    #[test]
    fn a_rule_calls_a_tool_in_both_forms() {
        let input = json!({"path": "ä"});
        let call = Answer::Call { id: "c1".into(), tool: "Write".into(), input: input.clone(), after: "Done.".into() };
        let rule = Rule { asked: "Write it".into(), answer: call, delay: Duration::ZERO };
        let server = ModelServer::with_rules(vec![rule]).unwrap();
        let mut body = json!({"model": "m", "tools": [{"name": "Write"}], "messages": [
            {"role": "user", "content": "Write it"}]});
        let whole = ask(&server, "POST", "/v1/messages", &body.to_string());
        let whole: Value = serde_json::from_str(whole.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(whole["content"], json!([{"type": "tool_use", "id": "c1", "name": "Write", "input": input}]));
        assert_eq!(whole["stop_reason"], "tool_use");
        body["stream"] = json!(true);
        let streamed = ask(&server, "POST", "/v1/messages", &body.to_string());
        let events: Vec<Value> = streamed
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|event| serde_json::from_str(event).unwrap())
            .collect();
        assert_eq!(events[1]["content_block"], json!({"type": "tool_use", "id": "c1", "name": "Write", "input": {}}));
        let sent: Value = serde_json::from_str(events[2]["delta"]["partial_json"].as_str().unwrap()).unwrap();
        assert_eq!(sent, input);
        assert_eq!(events[4]["delta"]["stop_reason"], "tool_use");
        assert_ne!(events[0]["message"]["id"], whole["id"]);
    }

    #[test]
    fn an_answer_that_takes_long_holds_up_no_other() {
        const LONG: Duration = Duration::from_secs(600);
        let rule = Rule { asked: "Think long".into(), answer: Answer::Text("Thought.".into()), delay: LONG };
        let server = ModelServer::with_rules(vec![rule]).unwrap();
        let body = |text: &str| json!({"tools": [{}], "messages": [{"role": "user", "content": text}]}).to_string();
        let mut late = send(&server, "POST", "/v1/messages", &body("Think long"));
        assert!(server.is_asked("Think long", Duration::from_secs(60)));
        assert!(!server.is_asked("hello", Duration::ZERO));
        assert!(ask(&server, "POST", "/v1/messages", &body("hello")).contains(ANSWER));
        assert_eq!(server.asked().len(), 2);
        // The end of the server ends the delay: otherwise this would wait for ten minutes.
        drop(server);
        let mut rest = String::new();
        // Whether it is answered yet or cut off, nobody waits any longer.
        let _cut = late.read_to_string(&mut rest);
    }
}
