//! Driver programs that do wrong: each costs its own call, leaves no process behind, and the
//! next call works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use futures::future::join_all;
use sepia::limits::Limits;
use sepia::loader::process::{ProcessDriver, probe};
use sepia::loader::{Capability, Driver, Fault, FaultKind, LoadError, LoadErrorKind, SessionRead};
use sepia_ir::{Branch, ErrorCode, HistoryQuery, SessionRef, SummaryDetail};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with the program under the name of a misdeed.
struct Bench {
    folder: TempDir,
    program: PathBuf,
    limits: Limits,
}

impl Bench {
    fn new(mode: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let program = folder.path().join(format!("sepia-driver-{mode}"));
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_misbehaving_driver"), &program).unwrap();
        let limits = Limits {
            process_call: Duration::from_secs(20),
            process_frame: 64 << 20,
            stderr_lines: 5,
            ..Limits::default()
        };
        Self { folder, program, limits }
    }

    fn with_time(mut self, millis: u64) -> Self {
        self.limits.process_call = Duration::from_millis(millis);
        self.limits.process_probe = Duration::from_millis(millis);
        self
    }

    async fn probe(&self) -> Result<sepia_ir::driver_wire::WireManifest, LoadError> {
        probe(&self.program, &self.limits).await
    }

    async fn driver(&self) -> ProcessDriver {
        ProcessDriver::new(&self.program, self.probe().await.unwrap(), self.limits.clone()).unwrap()
    }

    /// How many processes were started.
    fn starts(&self) -> usize {
        self.groups().len()
    }

    fn groups(&self) -> HashSet<u32> {
        let text = std::fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Waits until nothing of any group is left, which nobody tells us of.
    async fn assert_nothing_left(&self) {
        let since = Instant::now();
        loop {
            let left = members(&self.groups());
            if left.is_empty() {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(5), "left behind: {left:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Processes of these groups that run, or that we have not reaped. (A stranger's zombie waits
/// for the init process, which is no matter of ours.)
fn members(groups: &HashSet<u32>) -> Vec<String> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        let (state, parent, group) = (fields[0], fields[1], fields[2]);
        let ours = parent == std::process::id().to_string();
        if groups.contains(&group.parse().unwrap()) && (state != "Z" || ours) {
            found.push(stat);
        }
    }
    found
}

fn reader(driver: &ProcessDriver) -> &dyn SessionRead {
    driver.session_read().expect("it reads")
}

fn session(id: &str) -> SessionRef {
    SessionRef { id: id.into(), agent_id: None }
}

async fn lists(driver: &ProcessDriver) -> usize {
    reader(driver).scan().await.unwrap().entries.len()
}

/// A good driver of another folder answers.
async fn another_works() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    assert_eq!(lists(&driver).await, 2);
    driver.shutdown().await;
    bench.assert_nothing_left().await;
}

/// The first call of this misdeed fails so.
async fn fault_of(bench: &Bench) -> Fault {
    let driver = bench.driver().await;
    let since = Instant::now();
    let fault = reader(&driver).scan().await.unwrap_err();
    let bound = bench.limits.process_call + Duration::from_secs(1);
    assert!(since.elapsed() < bound, "{:?} after {:?}", fault.kind, since.elapsed());
    assert_eq!((fault.driver.as_str(), fault.call), ("misbehaving", "session-read.scan"));
    assert!(!fault.message.contains('\x1b') && !fault.stderr.contains('\x1b'));
    another_works().await;
    drop(driver);
    bench.assert_nothing_left().await;
    fault
}

// ---- being asked for the manifest -----------------------------------------------------------

#[tokio::test]
async fn a_good_program_is_known_by_its_manifest() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    let about = driver.about();
    assert_eq!(about.manifest.id, "misbehaving");
    assert_eq!(about.manifest.backend_type, "mis");
    assert_eq!(about.manifest.agent_command, ["mis", "behave", "--acp"]);
    assert_eq!(about.capabilities, [Capability::SessionRead]);
    assert!(!about.build.is_empty());
    assert_eq!(bench.starts(), 1);
    bench.assert_nothing_left().await;
}

#[tokio::test]
async fn a_program_that_fails_to_say_what_it_is_is_refused_with_the_reason() {
    for (mode, kind, part) in [
        ("exits-in-probe", LoadErrorKind::Manifest, "exited with code 7"),
        ("exits-in-probe", LoadErrorKind::Manifest, "no licence"),
        ("killed-in-probe", LoadErrorKind::Manifest, "signal 9"),
        ("hangs-in-probe", LoadErrorKind::Manifest, "within 0.5 s"),
        ("silent-in-probe", LoadErrorKind::Manifest, "no manifest"),
        ("text-in-probe", LoadErrorKind::Manifest, "manifest is wrong"),
        ("cut-in-probe", LoadErrorKind::Manifest, "manifest is wrong"),
        ("talks-in-probe", LoadErrorKind::Manifest, "more than one line"),
        ("endless-in-probe", LoadErrorKind::Manifest, "more than 1048576 bytes"),
        ("protocol-2", LoadErrorKind::Contract, "version 2"),
        ("no-protocol", LoadErrorKind::Manifest, "protocol"),
        ("no-id", LoadErrorKind::Manifest, "id"),
        ("path-id", LoadErrorKind::Manifest, "id"),
        ("long-id", LoadErrorKind::Manifest, "id"),
    ] {
        let bench = Bench::new(mode).with_time(500);
        let refused = bench.probe().await.unwrap_err();
        assert_eq!(refused.kind, kind, "{mode}: {refused}");
        assert!(refused.message.contains(part), "{mode}: {refused}");
        assert!(!refused.message.contains('\x1b'));
        bench.assert_nothing_left().await;
    }
}

#[tokio::test]
async fn a_child_that_holds_the_pipe_does_not_hold_up_the_probe() {
    let bench = Bench::new("forks-in-probe");
    let since = Instant::now();
    assert_eq!(bench.probe().await.unwrap().id, "misbehaving");
    assert!(since.elapsed() < Duration::from_secs(3));
    bench.assert_nothing_left().await;
}

#[tokio::test]
async fn what_is_no_program_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sepia-driver-text");
    let refused = probe(&path, &Limits::default()).await.unwrap_err();
    assert_eq!(refused.kind, LoadErrorKind::Start);
    std::fs::write(&path, "no program").unwrap();
    let refused = probe(&path, &Limits::default()).await.unwrap_err();
    assert_eq!(refused.kind, LoadErrorKind::Start);
}

// ---- being called -----------------------------------------------------------------------------

#[tokio::test]
async fn one_process_serves_all_calls_and_starts_with_the_first() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    assert_eq!(bench.starts(), 1, "the probe alone");
    let calls = (0..50).map(|_| reader(&driver).summary_of(session("s0")));
    for row in join_all(calls).await {
        assert_eq!(row.unwrap().title, "Title s0");
    }
    assert_eq!(bench.starts(), 2);
    driver.shutdown().await;
    bench.assert_nothing_left().await;
    assert_eq!(lists(&driver).await, 2, "it starts again");
    driver.shutdown().await;
    bench.assert_nothing_left().await;
}

#[tokio::test]
async fn a_program_that_only_lists_scans_by_listing() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    let read = reader(&driver);
    let report = read.scan().await.unwrap();
    let keys: Vec<String> = report.entries.iter().map(|entry| entry.key.clone()).collect();
    assert_eq!(keys, ["s0", "s1"]);
    let asked = vec!["s1".to_owned(), "gone".to_owned(), "s0".to_owned()];
    for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
        let rows = read.summaries(asked.clone(), detail).await.unwrap();
        let found: Vec<(&str, usize)> = rows.iter().map(|s| (s.key.as_str(), s.sessions.len())).collect();
        assert_eq!(found, [("s1", 1), ("gone", 0), ("s0", 1)]);
    }
    assert_eq!(read.scan().await.unwrap(), report);
    assert_eq!(read.locks().await.unwrap(), []);
    let fault = read.native(session("s0")).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::Unsupported));
}

#[tokio::test]
async fn a_session_comes_in_batches_and_a_page_is_cut_out_of_the_whole() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    let mut transcript = reader(&driver).open(session("s0")).await.unwrap();
    assert!(transcript.header.nodes.is_empty());
    assert_eq!((transcript.header.main_chain_id, transcript.header.prompt_history.len()), (1000, 1));
    let mut ids = Vec::new();
    while let Some(batch) = transcript.batches.recv().await {
        ids.extend(batch.unwrap().iter().map(|node| node.node_id));
    }
    assert_eq!(ids, (1..=1000).collect::<Vec<_>>());
    let query = HistoryQuery { limit: 3, before: Some(5), branch: Branch::Live, index: None };
    let page = reader(&driver).history(session("s0"), query).await.unwrap();
    let ids: Vec<i64> = page.nodes.iter().map(|node| node.node_id).collect();
    assert_eq!((ids, page.start, page.total), (vec![3, 4, 5], 2, 10));
}

#[tokio::test]
async fn errors_come_back_as_what_they_mean() {
    let bench = Bench::new("fails");
    let driver = bench.driver().await;
    for (id, kind) in [
        ("-32002", FaultKind::Said(ErrorCode::Busy)),
        ("-32003", FaultKind::Said(ErrorCode::Locked)),
        ("-32004", FaultKind::Said(ErrorCode::Unsupported)),
        ("-32005", FaultKind::Said(ErrorCode::Store)),
        ("-32006", FaultKind::Said(ErrorCode::Invalid)),
        ("-32007", FaultKind::Said(ErrorCode::Conflict)),
        ("-32601", FaultKind::Said(ErrorCode::Unsupported)),
        ("-32602", FaultKind::Said(ErrorCode::Invalid)),
        ("-32603", FaultKind::Trap),
        ("-32700", FaultKind::Contract),
        ("-1", FaultKind::Contract),
    ] {
        let fault = reader(&driver).summary_of(session(id)).await.unwrap_err();
        assert_eq!(fault.kind, kind, "{id}: {fault}");
        assert!(fault.message.ends_with("it says no"), "{id}: {fault}");
    }
    // The message of "not found" is the id alone, on this wire.
    let fault = reader(&driver).summary_of(session("nope")).await.unwrap_err();
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::Said(ErrorCode::NotFound), "there is no session `nope`")
    );
    assert_eq!(bench.starts(), 2, "an error is no reason to start again");
}

// ---- dying --------------------------------------------------------------------------------------

#[tokio::test]
async fn a_program_that_dies_fails_the_call_at_once_and_says_how() {
    for (mode, part) in [
        ("exits", "exited with code 3"),
        ("killed", "signal 9"),
        ("closes-stdout", "closed its stdout"),
        ("forks-and-exits", "exited with code 4"),
    ] {
        let bench = Bench::new(mode);
        let since = Instant::now();
        let fault = fault_of(&bench).await;
        assert!(since.elapsed() < Duration::from_secs(10), "{mode}");
        assert_eq!(fault.kind, FaultKind::Lost, "{mode}: {fault}");
        assert!(fault.message.contains(part), "{mode}: {fault}");
        if mode == "exits" {
            assert_eq!(fault.stderr, "boom");
            assert!(fault.message.contains("boom"));
        }
    }
}

#[tokio::test]
async fn after_half_an_answer_the_next_call_has_a_new_process() {
    let bench = Bench::new("half-an-answer");
    let driver = bench.driver().await;
    let fault = reader(&driver).scan().await.unwrap_err();
    assert_eq!((fault.kind, fault.stderr.as_str()), (FaultKind::Lost, "lost my mind"));
    assert_eq!(lists(&driver).await, 2);
    assert_eq!(bench.starts(), 3);
    driver.shutdown().await;
    bench.assert_nothing_left().await;
}

#[tokio::test]
async fn an_answer_written_before_the_end_counts() {
    for (mode, expected) in [("answers-and-exits", 2), ("big-and-exits", 1)] {
        let bench = Bench::new(mode);
        for round in 0..5 {
            let driver = bench.driver().await;
            assert_eq!(lists(&driver).await, expected, "{mode} {round}");
            driver.shutdown().await;
        }
        bench.assert_nothing_left().await;
    }
}

#[tokio::test]
async fn all_that_wait_are_answered_when_the_program_dies() {
    let bench = Bench::new("exits");
    let driver = bench.driver().await;
    let calls = (0..4).map(|_| reader(&driver).scan());
    for outcome in join_all(calls).await {
        assert_eq!(outcome.unwrap_err().kind, FaultKind::Lost);
    }
    drop(driver);
    bench.assert_nothing_left().await;
}

// ---- not answering ------------------------------------------------------------------------------

#[tokio::test]
async fn a_program_that_does_not_answer_is_stopped_with_all_it_started() {
    for mode in ["hangs", "ignores-all", "forks-and-hangs", "unknown-ids"] {
        let bench = Bench::new(mode).with_time(700);
        let fault = fault_of(&bench).await;
        assert_eq!(fault.kind, FaultKind::Time, "{mode}: {fault}");
        assert!(fault.message.contains("0.7 s"), "{mode}: {fault}");
        if mode == "unknown-ids" {
            assert!(fault.message.contains("6 lines"), "{fault}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_not_taken_for_that_of_the_next_call() {
    let bench = Bench::new("late").with_time(700);
    let driver = bench.driver().await;
    assert_eq!(reader(&driver).scan().await.unwrap_err().kind, FaultKind::Time);
    assert_eq!(reader(&driver).summary_of(session("s0")).await.unwrap().title, "Title s0");
    assert_eq!(bench.starts(), 3);
    driver.shutdown().await;
    bench.assert_nothing_left().await;
}

#[tokio::test]
async fn shutdown_ends_what_ignores_it() {
    for mode in ["ignores-eof", "ignores-all"] {
        let bench = Bench::new(mode).with_time(30_000);
        // So that the first call is answered.
        std::fs::write(bench.folder.path().join("met"), "").unwrap();
        let driver = bench.driver().await;
        assert_eq!(lists(&driver).await, 2);
        let since = Instant::now();
        driver.shutdown().await;
        assert!(since.elapsed() < Duration::from_secs(4), "{mode}");
        // Killed when it returns; the system may take a moment to bury them.
        bench.assert_nothing_left().await;
    }
}

#[tokio::test]
async fn shutdown_does_not_wait_for_a_call_that_hangs() {
    let bench = Bench::new("hangs").with_time(30_000);
    let driver = bench.driver().await;
    let call = reader(&driver).scan();
    let stop = async {
        while bench.starts() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        driver.shutdown().await;
    };
    let (outcome, ()) = tokio::join!(call, stop);
    assert_eq!(outcome.unwrap_err().kind, FaultKind::Lost);
    bench.assert_nothing_left().await;
}

#[test]
fn the_end_of_the_runtime_is_the_end_of_the_program() {
    let bench = Bench::new("ignores-all");
    std::fs::write(bench.folder.path().join("met"), "").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let driver = runtime.block_on(async {
        let driver = bench.driver().await;
        assert_eq!(lists(&driver).await, 2);
        driver
    });
    drop(runtime);
    drop(driver);
    // What is left of a process that was killed is for the next runtime to reap.
    let groups = bench.groups();
    let since = Instant::now();
    while members(&groups).iter().any(|stat| !stat.contains(") Z ")) {
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", members(&groups));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn a_caller_that_gives_up_does_not_disturb_the_next() {
    let bench = Bench::new("good");
    let driver = bench.driver().await;
    for _ in 0..20 {
        let mut call = Box::pin(reader(&driver).scan());
        let given_up = tokio::time::timeout(Duration::from_micros(300), &mut call).await;
        drop(given_up);
        drop(call);
        assert_eq!(reader(&driver).summary_of(session("s0")).await.unwrap().title, "Title s0");
    }
    assert_eq!(bench.starts(), 2);
}

// ---- saying too much ------------------------------------------------------------------------------

#[tokio::test]
async fn other_output_settles_nothing_and_breaks_nothing() {
    for mode in ["logs", "not-utf8"] {
        let bench = Bench::new(mode);
        let driver = bench.driver().await;
        for _ in 0..3 {
            assert_eq!(lists(&driver).await, 2, "{mode}");
        }
        assert_eq!(bench.starts(), 2);
    }
}

#[tokio::test]
async fn the_first_answer_of_an_id_counts() {
    let bench = Bench::new("duplicate-ids");
    let driver = bench.driver().await;
    for _ in 0..5 {
        let ids: Vec<String> = reader(&driver).scan().await.unwrap().entries.into_iter().map(|e| e.key).collect();
        assert_eq!(ids, ["s0", "s1"]);
    }
}

#[tokio::test]
async fn output_without_end_is_ended() {
    let bench = Bench::new("logs-for-ever");
    let fault = fault_of(&bench).await;
    assert_eq!(fault.kind, FaultKind::Contract);
    assert!(fault.message.contains("`still here`"), "{fault}");
}

#[tokio::test]
async fn a_line_without_end_is_ended_at_the_limit() {
    for mode in ["endless-line", "long-line"] {
        let bench = Bench::new(mode);
        let fault = fault_of(&bench).await;
        assert_eq!(fault.kind, FaultKind::Transfer, "{mode}: {fault}");
        assert!(fault.message.contains("SEPIA_PROCESS_FRAME_MB"));
    }
}

#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_its_end_is_kept() {
    let bench = Bench::new("floods-stderr");
    let driver = bench.driver().await;
    let before = resident();
    assert_eq!(lists(&driver).await, 2);
    assert!(resident().saturating_sub(before) < 64 << 20, "100 MiB of stderr cost memory");
    driver.shutdown().await;
    bench.assert_nothing_left().await;
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn a_result_that_breaks_the_contract_is_a_fault_of_that_call() {
    let bench = Bench::new("wrong-shape");
    assert_eq!(fault_of(&bench).await.kind, FaultKind::Contract);
    let bench = Bench::new("falling-ids");
    let driver = bench.driver().await;
    let mut transcript = reader(&driver).open(session("s0")).await.unwrap();
    let mut last = None;
    while let Some(batch) = transcript.batches.recv().await {
        last = Some(batch);
    }
    assert_eq!(last.unwrap().unwrap_err().kind, FaultKind::Contract);
    assert_eq!(lists(&driver).await, 2, "and the next one works");
}

#[test]
fn the_build_changes_with_the_program() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (one, two) = (Bench::new("good"), Bench::new("good"));
        let build = |bench: &Bench| {
            let program: &Path = &bench.program;
            (program.to_owned(), bench.limits.clone())
        };
        let about = |(path, limits): (PathBuf, Limits)| async move {
            let manifest = probe(&path, &limits).await.unwrap();
            ProcessDriver::new(&path, manifest, limits).unwrap().about().build.clone()
        };
        assert_eq!(about(build(&one)).await, about(build(&one)).await);
        assert_ne!(about(build(&one)).await, about(build(&two)).await);
    });
}
