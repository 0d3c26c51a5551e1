//! Processes that ignore signals. Only `exec` passes an ignored signal on without unsafe code, so
//! a shell ignores it first.

use super::entry::Never;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// First argument of a process that ignores signals and does nothing else.
pub(crate) const MODE: &str = "--stubborn";
/// First argument of an agent that ignores signals.
pub(crate) const DEAF_MODE: &str = "--ignoring-signals";

const IGNORE: &str = r#"trap "" TERM HUP INT; exec "$0" "$@""#;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
const LIMIT: Duration = Duration::from_secs(10);

/// Starts this process again as one that ignores signals, with the same pid. Comes back only with
/// the reason why it could not.
pub(crate) fn ignore_signals(arguments: &[OsString]) -> io::Error {
    match env::current_exe() {
        Ok(program) => deaf(&program).arg(DEAF_MODE).args(arguments).exec(),
        Err(e) => e,
    }
}

/// Starts a chain of processes and waits until the file has the pids of all.
pub(crate) fn spawn(depth: u32, pid_file: &Path, inherit_stdio: bool) -> io::Result<Vec<u32>> {
    let before = pids(pid_file)?.len();
    let mut command = deaf(&env::current_exe()?);
    command.args([OsStr::new(MODE), OsStr::new(&depth.to_string()), pid_file.as_os_str()]);
    if !inherit_stdio {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    if depth > 0 {
        command.spawn()?;
    }
    let end = Instant::now() + LIMIT;
    loop {
        let new = pids(pid_file)?.split_off(before);
        if new.len() >= depth as usize {
            return Ok(new);
        }
        if Instant::now() > end {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "not all of the processes have started"));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Is a process of the chain: notes its pid, starts the next one, stays for ever.
pub(super) fn stay(arguments: &[OsString]) -> Result<Never, String> {
    let [depth, pid_file] = arguments else { return Err(format!("{MODE} needs a depth and a file")) };
    let depth: u32 = depth.to_string_lossy().parse().map_err(|e| format!("the depth is no number: {e}"))?;
    let chain = || -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(pid_file)?;
        file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
        if depth > 1 {
            let next = depth - 1;
            // The next one inherits what is ignored.
            Command::new(env::current_exe()?).args([MODE, &next.to_string()]).arg(pid_file).spawn()?;
        }
        Ok(())
    };
    chain().map_err(|e| format!("the process could not stay: {e}"))?;
    loop {
        thread::park();
    }
}

fn deaf(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", IGNORE]).arg(program);
    command
}

/// The pids of a file, those whose line is finished.
fn pids(file: &Path) -> io::Result<Vec<u32>> {
    let text = match fs::read_to_string(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let finished = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    finished.map(|line| line.parse().map_err(io::Error::other)).collect()
}
