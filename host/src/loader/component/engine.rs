//! The engine that compiles and runs components, and the clock that bounds them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;
use wasmtime::{Config, Engine};

/// How often a running guest is looked at.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The one engine of a [`super::Components`]. Compiled code and stores belong to it and never
/// meet those of another.
pub(super) fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        // The asynchronous component model (0.3) is not offered; its tables would cost every store.
        .concurrency_support(false)
        .wasm_memory64(false)
        // Where in a component machine code comes from is told to nobody: a tenth of an image, read at every start.
        .generate_address_map(false)
        // The difference between the two is what host functions get of a fibre's stack.
        .max_wasm_stack(512 << 10)
        .async_stack_size(2 << 20)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16));
    Engine::new(&config)
}

/// Moves the engine's epoch while at least one call runs. A thread of its own: a blocked
/// executor would stop a task, and with it the only thing that ends a loop.
#[derive(Debug)]
pub(super) struct Clock {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

/// A call that runs; the clock may sleep when there is none.
#[derive(Debug)]
pub(super) struct Running(Arc<AtomicUsize>);

impl Clock {
    /// Starts the thread; it ends with the engine.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (engine, calls) = (engine.weak(), Arc::clone(&running));
        let handle = std::thread::Builder::new().name("sepia-epoch".into()).spawn(move || {
            loop {
                if calls.load(Ordering::Acquire) == 0 {
                    std::thread::park();
                } else {
                    std::thread::sleep(TICK);
                }
                // Held no longer than for this: the thread keeps no engine alive.
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Self { running, thread: handle.thread().clone() })
    }

    /// Keeps the clock going until the answer is dropped.
    pub(super) fn run(&self) -> Running {
        if self.running.fetch_add(1, Ordering::AcqRel) == 0 {
            self.thread.unpark();
        }
        Running(Arc::clone(&self.running))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}
