//! Asking a program what driver it is.

use crate::limits::Limits;
use crate::loader::{LoadError, LoadErrorKind};
use crate::process::{Environment, Exit, Group, Launch, StderrTail};
use sepia_ir::driver_wire::{PROTOCOL, WireManifest};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::timeout;

/// Largest manifest, bytes.
const MOST: u64 = 1 << 20;
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Runs `program --manifest` and takes what it says. The program and all that it started are
/// gone afterwards, whatever it does.
pub async fn probe(program: &Path, limits: &Limits) -> Result<WireManifest, LoadError> {
    let arguments = ["--manifest".into()];
    let launch = Launch { program, arguments: &arguments, environment: Environment::Ours(&[]), directory: None };
    let (group, pipes) = Group::start(&launch, Stdio::null()).map_err(|e| {
        LoadError::new(LoadErrorKind::Start, format!("it can't be started: {e}; is it a program for this machine?"))
    })?;
    let tail = StderrTail::new(limits.stderr_lines);
    let mut stderr = tokio::spawn(tail.clone().drain(pipes.stderr));
    let outcome = timeout(limits.process_probe, output(&group, pipes.stdout)).await;
    group.end().await;
    if timeout(LAST_WORDS, &mut stderr).await.is_err() {
        stderr.abort();
    }
    let said = tail.last().map_or_else(String::new, |line| format!("; it last said: {line}"));
    let wrong = |what: String| LoadError::new(LoadErrorKind::Manifest, what + &said);
    let (bytes, exit) = match outcome {
        Err(_) => {
            return Err(wrong(format!("it did not answer --manifest within {} s", limits.process_probe.as_secs_f64())));
        }
        Ok(Err(e)) => return Err(wrong(format!("its answer to --manifest can't be read: {e}"))),
        Ok(Ok(output)) => output,
    };
    if exit != Exit::Code(0) {
        return Err(wrong(format!("it {exit} when asked for --manifest")));
    }
    if bytes.len() as u64 > MOST {
        return Err(wrong(format!("its answer to --manifest has more than {MOST} bytes")));
    }
    check(parse(&bytes).map_err(wrong)?)
}

/// What it writes until it ends, at most one byte more than is allowed.
async fn output(group: &Group, stdout: ChildStdout) -> io::Result<(Vec<u8>, Exit)> {
    let mut bytes = Vec::new();
    let mut stdout = stdout.take(MOST + 1);
    let exit = tokio::select! {
        read = stdout.read_to_end(&mut bytes) => {
            read?;
            if bytes.len() as u64 > MOST {
                return Ok((bytes, Exit::Code(0)));
            }
            group.exited().await?
        }
        exit = group.exited() => {
            // A child that holds the pipe would keep it open for ever.
            group.kill();
            if let Ok(read) = timeout(LAST_WORDS, stdout.read_to_end(&mut bytes)).await {
                read?;
            }
            exit?
        }
    };
    Ok((bytes, exit))
}

fn parse(bytes: &[u8]) -> Result<WireManifest, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("its manifest is not UTF-8: {e}"))?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    match (lines.next(), lines.next()) {
        (None, _) => Err("it printed no manifest".to_owned()),
        (Some(_), Some(_)) => Err("it printed more than one line when asked for --manifest".to_owned()),
        (Some(line), None) => serde_json::from_str(line).map_err(|e| format!("its manifest is wrong: {e}")),
    }
}

fn check(manifest: WireManifest) -> Result<WireManifest, LoadError> {
    if manifest.protocol != PROTOCOL {
        return Err(LoadError::new(
            LoadErrorKind::Contract,
            format!(
                "it speaks version {} of the driver protocol and this sepia speaks {PROTOCOL}; get the one made for the other",
                manifest.protocol
            ),
        ));
    }
    super::announced::manifest(manifest.clone())?;
    Ok(manifest)
}
