//! Several real processes: each test starts itself anew, with what it is to do in the
//! environment.

use super::super::LogErrorKind;
use super::{all, fact, open, session};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where the log of a started process lies.
const LOG: &str = "FACTS_TEST_LOG";

fn log_of_child() -> Option<PathBuf> {
    std::env::var_os(LOG).map(PathBuf::from)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// This very program, running one test. `shell` may prepare the process.
fn child(test: &str, log: &Path, shell: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$0\" \"$@\"")]).arg(program);
    command.args(["--exact", &test, "--nocapture", "--test-threads", "1"]).env(LOG, log);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Tells the parent, past the harness.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n@{line}").unwrap();
    out.flush().unwrap();
}

/// What the child tells.
fn told(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix('@').map(str::to_owned))
}

#[test]
fn what_was_acknowledged_survives_the_end_of_its_process() {
    const CALLS: usize = 3;
    if let Some(path) = log_of_child() {
        // Several at once, in calls of two facts; each is told of once it is acknowledged.
        runtime().block_on(async {
            let log = open(&path);
            let endless = async |name: usize| {
                for number in 0_u64.. {
                    let two = vec![fact(2 * number), fact(2 * number + 1)];
                    let stored = log.append(&session(&name.to_string()), two).await.unwrap();
                    tell(&format!("{name} {}", stored[1].sequence));
                }
            };
            tokio::join!(endless(0), endless(1), endless(2));
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    for round in 0..3 {
        let mut acknowledged = [0_u64; CALLS];
        let mut child = child("what_was_acknowledged_survives_the_end_of_its_process", &path, "");
        let mut lines = told(&mut child);
        let mut count = |line: String| {
            let (name, last) = line.split_once(' ').unwrap();
            acknowledged[name.parse::<usize>().unwrap()] = last.parse().unwrap();
        };
        (&mut lines).take(200 + round * 77).for_each(&mut count);
        child.kill().unwrap();
        lines.for_each(&mut count);
        child.wait().unwrap();
        assert!(acknowledged.iter().sum::<u64>() > 200);
        runtime().block_on(async {
            let log = open(&path);
            for (name, acknowledged) in acknowledged.into_iter().enumerate() {
                let page = all(&log, &session(&name.to_string())).await;
                // At most the one call is more that was stored and not yet told of.
                assert!([acknowledged, acknowledged + 2].contains(&page.last), "{acknowledged} {}", page.last);
                assert_eq!(super::sequences(&page.facts), (1..=page.last).collect::<Vec<_>>());
                log.forget(&session(&name.to_string())).await.unwrap();
            }
            log.close().await.unwrap();
        });
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn processes_that_write_at_once_share_the_numbers() {
    const EACH: u64 = 150;
    if let Some(path) = log_of_child() {
        let mut told = String::new();
        runtime().block_on(async {
            let log = open(&path);
            for number in 0..EACH {
                let stored = log.append(&session("s"), vec![fact(number)]).await.unwrap();
                write!(told, "{} ", stored[0].sequence).unwrap();
            }
            log.close().await.unwrap();
        });
        tell(&told);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    // None of them finds a file: they also agree on who makes it.
    let mut children: Vec<_> =
        (0..3).map(|_| child("processes_that_write_at_once_share_the_numbers", &path, "")).collect();
    let mut given = Vec::new();
    for child in &mut children {
        let mut lines = told(child);
        let line = lines.next().unwrap();
        given.extend(line.split_whitespace().map(|sequence| sequence.parse::<u64>().unwrap()));
        assert_eq!(lines.next(), None);
        assert!(child.wait().unwrap().success());
    }
    given.sort_unstable();
    assert_eq!(given, (1..=3 * EACH).collect::<Vec<_>>());
    let page = runtime().block_on(async { all(&open(&path), &session("s")).await });
    assert_eq!(super::sequences(&page.facts), given);
}

#[test]
fn a_full_disk_fails_what_is_asked_and_nothing_that_was_stored() {
    if let Some(path) = log_of_child() {
        let large = format!("\"{}\"", "x".repeat(100_000));
        runtime().block_on(async {
            let log = open(&path);
            let mut stored = 0;
            let error = loop {
                match log.append(&session("s"), vec![fact(1), fact(&large)]).await {
                    Ok(facts) => stored += facts.len(),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error.kind, LogErrorKind::Full | LogErrorKind::Failed), "{error:?}");
            assert!(error.cause.is_some());
            tell(&format!("{stored} {}", std::process::id()));
            // The parent makes room, and says so.
            std::io::stdin().lines().next().unwrap().unwrap();
            let facts = log.append(&session("s"), vec![fact(1), fact(&large)]).await.unwrap();
            assert_eq!(facts[0].sequence, stored as u64 + 1);
            log.close().await.unwrap();
        });
        tell("works again");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    // No file of that process may grow beyond some 1 MB.
    let full = "trap '' XFSZ; ulimit -S -f 2000;";
    let mut child = child("a_full_disk_fails_what_is_asked_and_nothing_that_was_stored", &path, full);
    let mut lines = told(&mut child);
    let line = lines.next().unwrap();
    let (stored, pid) = line.split_once(' ').unwrap();
    let stored: u64 = stored.parse().unwrap();
    assert!(stored >= 2);
    let page = runtime().block_on(async { all(&open(&path), &session("s")).await });
    assert_eq!(super::sequences(&page.facts), (1..=stored).collect::<Vec<_>>());
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap());
    let unlimited = rustix::process::Rlimit { current: None, maximum: None };
    rustix::process::prlimit(pid, rustix::process::Resource::Fsize, unlimited).unwrap();
    writeln!(child.stdin.take().unwrap(), "go on").unwrap();
    assert_eq!(lines.next().unwrap(), "works again");
    assert!(child.wait().unwrap().success());
    let page = runtime().block_on(async { all(&open(&path), &session("s")).await });
    assert_eq!(super::sequences(&page.facts), (1..=stored + 2).collect::<Vec<_>>());
}
