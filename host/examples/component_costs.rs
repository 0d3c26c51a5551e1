//! What bringing in and calling a component costs, in the form of one table:
//! `cargo run --release -p sepia --example component_costs -- driver.wasm`.

#![allow(clippy::print_stdout, reason = "the table is what was asked for")]

use sepia::limits::Limits;
use sepia::loader::component::Components;
use sepia::loader::{Driver, Origin};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a component: component_costs driver.wasm")?;
    let wasm = std::fs::read(path)?;
    let folder = tempfile::tempdir()?;
    let start = || Components::new(Limits::default(), Some(folder.path().to_owned()));
    let compile = timed(|| async { start().bring_in(&wasm, Origin::Embedded).await }).await?;
    println!("component                      {:>9} KiB", wasm.len() >> 10);
    println!("engine, compile, describe      {:>9.1?}", compile.0);
    let mut engine = Vec::new();
    let mut warm = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        let host = start();
        engine.push(begun.elapsed());
        host.bring_in(&wasm, Origin::Embedded).await?;
        warm.push(begun.elapsed());
    }
    println!("start                          {:>9.1?}", median(&mut engine));
    println!("engine, cached code, describe  {:>9.1?}", median(&mut warm));
    let driver = compile.1.into_driver(Vec::new());
    let mut calls = Vec::new();
    for _ in 0..2_000 {
        calls.push(timed(|| locks(&driver)).await?.0);
    }
    println!("one call, fresh store          {:>9.1?}", median(&mut calls));
    println!("resident at most               {:>9} KiB", peak_kib().unwrap_or(0));
    Ok(())
}

async fn locks(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    driver.session_read().ok_or("it does not read sessions")?.locks().await?;
    Ok(())
}

async fn timed<R, E, F: Future<Output = Result<R, E>>>(work: impl FnOnce() -> F) -> Result<(Duration, R), E> {
    let begun = Instant::now();
    let result = work().await?;
    Ok((begun.elapsed(), result))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}
