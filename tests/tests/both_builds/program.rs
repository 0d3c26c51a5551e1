//! The built `sepia`, run with an environment of its own.

use crate::both::built;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

/// `sepia` that sees nothing of this machine but what is given to it.
pub fn sepia(home: &Path) -> Command {
    let mut command = Command::new(built("sepia"));
    command.env_clear().env("HOME", home.join("nobody")).env("SEPIA_HOME", home.join("sepia")).stdin(Stdio::null());
    command
}

/// Runs it; gives what it printed as JSON, and its exit code.
pub fn json_of(command: &mut Command) -> (Value, i32) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let told = String::from_utf8_lossy(&stderr).into_owned();
    let value =
        serde_json::from_slice(&stdout).unwrap_or_else(|e| panic!("{e}: {}\n{told}", String::from_utf8_lossy(&stdout)));
    (value, status.code().unwrap())
}

/// A running `sepia serve`. Dropped, it is ended.
pub struct Serve {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Serve {
    /// Over this Claude store; read by the program instead of the component if one is given.
    pub fn start(home: &Path, store: &Path, program: Option<&Path>) -> Self {
        let mut command = sepia(home);
        command.arg("serve").env("SEPIA_CLAUDE_DIR", store);
        if let Some(program) = program {
            let drivers = home.join("drivers");
            std::fs::create_dir_all(&drivers).unwrap();
            let place = drivers.join("sepia-driver-claude");
            if !place.exists() {
                std::os::unix::fs::symlink(program, place).unwrap();
            }
            command.env("SEPIA_DRIVER_DIR", drivers);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, next: 0 }
    }

    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.stdin.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], json!(self.next), "{line}");
        assert_eq!(answer["error"], json!(null));
        answer["result"].take()
    }

    /// Most memory that it ever held, bytes; of the host alone, without a driver program.
    pub fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// Time that it spent computing so far, seconds; of the host alone.
    pub fn computed(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks: f64 = fields.split(' ').skip(11).take(2).map(|field| field.parse::<f64>().unwrap()).sum();
        // Ticks of a hundredth of a second, on every Linux.
        ticks / 100.0
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}

/// `sepia driver check`
pub fn check(home: &Path, driver: impl AsRef<OsStr>, stores: &[(&str, &Path)]) -> Command {
    let mut command = sepia(home);
    command.args(["driver", "check", "--json"]).arg(driver);
    for (name, place) in stores {
        command.arg("--store").arg(format!("{name}={}", place.display()));
    }
    command
}
