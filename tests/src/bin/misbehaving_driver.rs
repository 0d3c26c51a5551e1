//! A driver program that does wrong, each name of the file another way: the tests link it
//! under the name of what they want to see. `sepia-driver-good` does right.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::zombie_processes,
    reason = "a program for tests; a failure of it is a failure of the test"
)]

use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::thread::park;
use std::time::Duration;

fn main() {
    let own = PathBuf::from(std::env::args_os().next().expect("argument 0"));
    let mode = own.file_name().expect("a file name").to_string_lossy().replace("sepia-driver-", "");
    let beside = own.parent().expect("a folder").to_owned();
    let mut pids = OpenOptions::new().create(true).append(true).open(beside.join("pids")).expect("pids");
    writeln!(pids, "{}", getpid().as_raw_nonzero()).expect("pids");
    if std::env::args().any(|argument| argument == "--manifest") {
        manifest(&mode);
    } else {
        Program { mode, beside, own, rows: 2 }.serve();
    }
}

fn manifest(mode: &str) {
    let mut manifest = json!({
        "id": "misbehaving", "label": "Misbehaving", "version": "0.1.0", "protocol": 1,
        "capabilities": ["sessionStore", {"convert": {"from": "a", "to": "b"}}, "unheard-of"],
        "agentCommand": "mis  behave --acp", "configSchema": null, "backendType": "mis", "later": [1]
    });
    match mode {
        "exits-in-probe" => {
            eprintln!("\x1b[31mno licence\x1b[0m");
            exit(7);
        }
        "killed-in-probe" => kill_process(getpid(), Signal::KILL).unwrap(),
        "hangs-in-probe" => hang(),
        "silent-in-probe" => exit(0),
        "text-in-probe" => return println!("usage: driver [--help]"),
        "cut-in-probe" => return print!("{{\"id\":\"misbehaving\",\"lab"),
        "talks-in-probe" => println!("Welcome back"),
        "endless-in-probe" => loop {
            let _ = io::stdout().write_all(&[b'x'; 4096]);
        },
        "forks-in-probe" => {
            spawn("sleep 1000");
        }
        "protocol-2" => manifest["protocol"] = json!(2),
        "no-protocol" => drop(manifest.as_object_mut().unwrap().remove("protocol")),
        "no-id" => manifest["id"] = json!(""),
        "path-id" => manifest["id"] = json!("../misbehaving"),
        "long-id" => manifest["id"] = json!("a".repeat(33)),
        // They write as the first version of the wire can; the second keeps what it says is deleted.
        "deletes" | "pretends-to-delete" => manifest["capabilities"] = json!(["sessionStore", "sessionWrite"]),
        "extended" => manifest["extensions"] = json!(["scan", "native", "locks"]),
        _ => {}
    }
    println!("{manifest}");
}

struct Program {
    mode: String,
    beside: PathBuf,
    own: PathBuf,
    rows: usize,
}

fn row(id: &str) -> Value {
    json!({
        "id": id, "title": format!("Title {id}"), "workingDirectory": "/w", "backendType": "mis",
        "agentMode": "accept-edits", "model": "m", "createdAt": 1.0, "lastActivityAt": 2.0,
        "mainChainId": 0, "metadata": null
    })
}

fn node(id: i64) -> Value {
    json!({"nodeId": id, "role": "user", "content": format!("node {id}"), "createdAt": 1.0, "metadata": null})
}

impl Program {
    fn serve(&self) {
        for line in io::stdin().lock().lines() {
            let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
            assert_eq!(request["jsonrpc"], "2.0");
            assert!(request["id"].as_u64().unwrap() >= 1);
            self.handle(&request);
        }
        match self.mode.as_str() {
            "ignores-eof" => hang(),
            "ignores-all" => self.again_without_signals(),
            _ => {}
        }
    }

    /// Whether this happens for the first time in this folder.
    fn first_time(&self) -> bool {
        OpenOptions::new().create_new(true).write(true).open(self.beside.join("met")).is_ok()
    }

    fn again_without_signals(&self) -> ! {
        use std::os::unix::process::CommandExt;
        // Ignored signals stay ignored in the program that follows.
        let script = "trap '' TERM HUP INT; while :; do sleep 1000; done";
        let error = Command::new("sh").arg("-c").arg(script).arg(&self.own).exec();
        panic!("{error}");
    }

    fn handle(&self, request: &Value) {
        let answer = self.answer(request);
        match self.mode.as_str() {
            "exits" => {
                eprintln!("boom");
                exit(3);
            }
            "killed" => kill_process(getpid(), Signal::KILL).unwrap(),
            "hangs" => hang(),
            "ignores-all" if self.first_time() => self.again_without_signals(),
            "closes-stdout" => {
                rustix::stdio::dup2_stdout(OpenOptions::new().write(true).open("/dev/null").unwrap()).unwrap();
                hang();
            }
            "floods-stderr" => {
                let line = [b"flood ".repeat(20), b"\n".to_vec()].concat().repeat(512);
                let mut written = 0;
                while written < 100 << 20 {
                    io::stderr().write_all(&line).unwrap();
                    written += line.len();
                }
                eprint!("\x1b]0;title\x07the last word");
            }
            "forks-and-exits" => {
                spawn("trap '' TERM HUP; sleep 1000 & sleep 1000 & wait");
                exit(4);
            }
            "forks-and-hangs" => {
                spawn("trap '' TERM HUP; sleep 1000 & sleep 1000 & wait");
                hang();
            }
            "unknown-ids" => {
                let id = request["id"].as_u64().unwrap();
                for wrong in [json!(id + 100), json!(0), json!(id.to_string()), json!(-1), json!(1.5), Value::Null] {
                    say(&json!({"jsonrpc": "2.0", "id": wrong, "result": []}));
                }
                hang();
            }
            "duplicate-ids" => {
                say(&answer);
                say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": [row("second")]}));
                return;
            }
            "endless-line" => loop {
                let _ = io::stdout().write_all(&[b'x'; 4 << 10]);
            },
            "long-line" => {
                for _ in 0..600 {
                    let _ = io::stdout().write_all(&vec![b'x'; 1 << 20]);
                }
                say(&json!(""));
            }
            "half-an-answer" if self.first_time() => {
                let text = answer.to_string();
                io::stdout().write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
                io::stdout().flush().unwrap();
                eprintln!("lost my mind");
                exit(3);
            }
            "logs" => {
                say_lines(request);
                say(&answer);
                say_lines(request);
                return;
            }
            "logs-for-ever" => loop {
                let _ = writeln!(io::stdout(), "\x1b[2Jstill here");
            },
            "late" if self.first_time() => {
                std::thread::sleep(Duration::from_secs(3));
            }
            "answers-and-exits" => {
                say(&answer);
                exit(0);
            }
            "wrong-shape" => {
                return say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"rows": 7}}));
            }
            "fails" => {
                let id = request["params"]["id"].as_str().unwrap_or_default().to_owned();
                let code = id.parse::<i64>().unwrap_or(-32001);
                let message = if code == -32001 { id } else { "it says\x1b[2J no".to_owned() };
                return say(
                    &json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}),
                );
            }
            "not-utf8" => {
                let _ = io::stdout().write_all(b"\xff\xfe\n");
            }
            "big-and-exits" => {
                let mut big = row("big");
                big["title"] = json!("t".repeat(9 << 20));
                say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": [big]}));
                exit(0);
            }
            _ => {}
        }
        say(&answer);
    }

    /// Whether a session was deleted in this folder.
    fn is_deleted(&self, id: &str) -> bool {
        self.beside.join(format!("deleted-{id}")).exists()
    }

    fn answer(&self, request: &Value) -> Value {
        let id = request["params"]["id"].as_str().unwrap_or_default();
        if self.is_deleted(id) {
            let error = json!({"code": -32001, "message": id});
            return json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        }
        let result = match request["method"].as_str().unwrap() {
            "session.list" => {
                (0..self.rows).map(|n| format!("s{n}")).filter(|id| !self.is_deleted(id)).map(|id| row(&id)).collect()
            }
            "session.delete" => {
                if self.mode == "deletes" {
                    std::fs::write(self.beside.join(format!("deleted-{id}")), "").unwrap();
                }
                Value::Null
            }
            "session.get" => {
                let mut session = row("s0");
                session["nodes"] = (1..=1000).map(node).collect();
                if self.mode == "falling-ids" {
                    session["nodes"][500]["nodeId"] = json!(3);
                }
                session["mainChainId"] = json!(1000);
                session["promptHistory"] = json!([{"content": "go", "timestamp": 1.0}]);
                session
            }
            "session.summary" => row("s0"),
            // The whole, as programs without pages do.
            "session.history" => {
                let nodes: Value = (1..=10).map(node).collect();
                json!({"nodes": nodes, "toolCallNodes": [], "total": 10, "start": 0, "backendType": "mis"})
            }
            other => {
                let error = json!({"code": -32601, "message": format!("no method {other}")});
                return json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            }
        };
        json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
    }
}

/// What stands between frames on the stdout of real programs.
fn say_lines(request: &Value) {
    let id = &request["id"];
    let mut out = io::stdout().lock();
    out.write_all(b"Welcome back\n\n\x1b[?25l\n\"text\"\n[1]\n7\nnull\n\xff\n").unwrap();
    writeln!(out, "{}", json!({"level": "info", "id": id, "message": "x"})).unwrap();
    writeln!(out, "{}", json!({"jsonrpc": "1.0", "id": id, "result": {}})).unwrap();
    writeln!(out, "{}", json!({"jsonrpc": "2.0", "method": "driver.note", "params": {}})).unwrap();
}

fn say(frame: &Value) {
    let mut out = io::stdout().lock();
    out.write_all(frame.to_string().as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

/// A child that inherits stdout and stderr, and with them the pipes.
fn spawn(script: &str) {
    Command::new("sh").arg("-c").arg(script).stdin(Stdio::null()).spawn().unwrap();
}

fn hang() -> ! {
    loop {
        park();
    }
}
