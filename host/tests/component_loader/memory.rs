//! Guests that want too much: memory, stack, handles, and what they hand over.

use crate::guests::{Place, driver, host, limits, ordered, read, still_serves, wasm};
use sepia::limits::Limits;
use sepia::loader::{FaultKind, LoadErrorKind, Origin};
use wasm_encoder::{ComponentSection, InstanceSection, MemorySection, MemoryType, Module, ModuleArg, ModuleSection};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_without_end_is_refused() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "grows_memory").await;
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Memory, "{fault}");
    still_serves(&host).await;
}

/// Forty memories of 10 MiB each are within the limit one by one, and not together.
#[tokio::test]
async fn memory_counts_over_all_memories() {
    let host = host(limits());
    let mut module = Module::new();
    let mut memories = MemorySection::new();
    let page = MemoryType { minimum: 160, maximum: None, memory64: false, shared: false, page_size_log2: None };
    memories.memory(page);
    module.section(&memories);
    let mut wasm = wasm("well_behaved").to_vec();
    let index = outer_modules(&wasm);
    ModuleSection(&module).append_to_component(&mut wasm);
    let mut instances = InstanceSection::new();
    for _ in 0..40 {
        instances.instantiate::<[(&str, ModuleArg); 0], &str>(index, []);
    }
    instances.append_to_component(&mut wasm);
    let error = host.bring_in(&wasm, Origin::Embedded).await.unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::Start, "{error}");
    assert!(error.message.contains("more memory than a driver may have"), "{error}");
    still_serves(&host).await;
}

/// Core modules of the component itself.
fn outer_modules(wasm: &[u8]) -> u32 {
    let (mut depth, mut modules) = (0, 0);
    for payload in wasmparser::Parser::new(0).parse_all(wasm) {
        match payload.unwrap() {
            wasmparser::Payload::Version { .. } => depth += 1,
            wasmparser::Payload::End(_) => depth -= 1,
            wasmparser::Payload::ModuleSection { .. } if depth == 1 => modules += 1,
            _ => {}
        }
    }
    modules
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recursion_without_end_is_a_crash_of_the_guest_alone() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "recurses_forever").await;
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Trap, "{fault}");
    assert!(fault.message.contains("stack"), "{fault}");
    still_serves(&host).await;
}

#[tokio::test]
async fn a_list_that_is_too_large_is_not_taken_over() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "hands_over_too_much").await;
    let fault = read(&bad).scan().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Transfer, "{fault}");
    still_serves(&host).await;
}

#[tokio::test]
async fn a_line_for_the_log_that_is_too_large_is_not_taken_over() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "hands_over_too_much").await;
    let fault = ordered(&bad, "log").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Transfer, "{fault}");
    still_serves(&host).await;
}

#[tokio::test]
async fn handles_without_end_are_refused() {
    let limits = Limits { handles: 100, ..limits() };
    let (host, place) = (host(limits), Place::new());
    let bad = driver(&host, &place, "hoards_handles").await;
    assert_eq!(ordered(&bad, "50").await.unwrap(), "50 opened");
    let fault = ordered(&bad, "1000000").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Handles, "{fault}");
    still_serves(&host).await;
}

/// What a call leaves open is closed with it.
#[tokio::test]
async fn leaked_handles_do_not_outlive_their_call() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "hoards_handles").await;
    // Thrice as many as a process may usually hold.
    for _ in 0..100 {
        assert_eq!(ordered(&bad, "30").await.unwrap(), "30 opened");
    }
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    assert!(open < 1_000, "{open} files are open");
    still_serves(&host).await;
}
