//! What guests write: bounded, cleaned, and never on our own stdout.

use crate::guests::{Place, driver, host, limits, ordered, read, still_serves};
use sepia::loader::FaultKind;
use sepia_ir::ErrorCode;
use std::process::Command;

/// Nothing that a terminal or a log would take for anything but text.
fn is_tame(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || c == '\u{202e}')
}

#[tokio::test]
async fn a_panic_is_a_crash_told_in_one_tame_line() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "panics_with_escapes").await;
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap);
    let line = fault.to_string();
    assert!(is_tame(&line), "{line:?}");
    assert!(line.contains("panicked at"), "{line}");
    assert!(line.contains(r"\n2026-01-01T00:00:00Z ERROR"), "{line}");
    assert!(fault.stderr.contains("all sessions were deleted"), "{}", fault.stderr);
    assert!(fault.stderr.lines().all(is_tame), "{:?}", fault.stderr);
    still_serves(&host).await;
}

#[tokio::test]
async fn the_text_of_an_error_is_tamed() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "panics_with_escapes").await;
    let fault = ordered(&bad, "").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::Store));
    assert_eq!(fault.message, r"red\nERROR forged");
}

#[tokio::test]
async fn a_flood_on_stderr_is_cut_and_the_call_succeeds() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "floods_stderr").await;
    assert_eq!(read(&bad).scan().await.unwrap().entries.len(), 2);
    still_serves(&host).await;
}

#[tokio::test]
async fn a_guest_that_ends_itself_ends_its_call() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "exits").await;
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Exit, "{fault}");
    still_serves(&host).await;
}

const CHILD: &str = "SEPIA_TEST_PRINTS_FRAMES";

/// Runs itself once more as a program whose stdout is caught.
#[test]
fn frames_that_a_guest_prints_reach_nobody() {
    if std::env::var_os(CHILD).is_some() {
        return prints_frames();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "output::frames_that_a_guest_prints_reach_nobody", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{stdout} {}", String::from_utf8_lossy(&child.stderr));
    assert!(stdout.contains("1 passed"), "{stdout}");
    assert!(!stdout.contains("jsonrpc") && !stdout.contains("forged"), "{stdout}");
}

#[tokio::main]
async fn prints_frames() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "prints_frames").await;
    assert_eq!(read(&bad).scan().await.unwrap().entries.len(), 2);
    still_serves(&host).await;
}
