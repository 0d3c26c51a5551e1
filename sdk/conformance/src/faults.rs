//! Services that fail at a chosen step of a write, as a full disk or a killed process does.

use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_sdk::{Database, Host, NewFile, Query, Services, WritableDatabase, WritingServices};
use std::cell::Cell;
use std::rc::Rc;

/// What happens at a step of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full: the step fails and leaves nothing, and so does everything after it that needs
    /// room. Taking things away and rolling back still work.
    Full,
    /// The process dies before the step: neither it nor anything after it happens.
    DiesBefore,
    /// The process dies right after the step was done.
    DiesAfter,
}

/// All of them.
pub const FAULTS: [Fault; 3] = [Fault::Full, Fault::DiesBefore, Fault::DiesAfter];

/// Counts the steps of a write, and has one of them fail.
#[derive(Debug)]
struct Steps {
    left: Cell<u64>,
    fault: Fault,
    done: Cell<u64>,
    struck: Cell<bool>,
}

/// Whether a step needs room on the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Room,
    Nothing,
}

fn gone() -> DriverError {
    DriverError::new(ErrorCode::Store, "the process is gone (injected)")
}

fn full() -> DriverError {
    DriverError::new(ErrorCode::Store, "no space is left on the device (injected)")
}

impl Steps {
    fn step<R>(&self, needs: Needs, work: impl FnOnce() -> Result<R, DriverError>) -> Result<R, DriverError> {
        if self.struck.get() {
            return match (self.fault, needs) {
                (Fault::Full, Needs::Nothing) => work(),
                (Fault::Full, Needs::Room) => Err(full()),
                _ => Err(gone()),
            };
        }
        self.done.set(self.done.get() + 1);
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
            return work();
        }
        self.struck.set(true);
        match (self.fault, needs) {
            (Fault::Full, Needs::Room) => Err(full()),
            (Fault::Full, Needs::Nothing) => work(),
            (Fault::DiesBefore, _) => Err(gone()),
            (Fault::DiesAfter, _) => {
                drop(work()?);
                Err(gone())
            }
        }
    }

    fn is_dead(&self) -> bool {
        self.struck.get() && self.fault != Fault::Full
    }
}

/// Runs a write once without a fault, then again with each fault at each of its steps, every time on a
/// fresh store. `check` looks at what is left, through services that work, and panics when that is neither
/// the old state nor the new one. Returns how many steps there are.
pub fn at_every_step<T, S: Services + 'static>(
    fresh: impl Fn() -> T,
    services: impl Fn(&T) -> (S, Box<dyn WritingServices>),
    write: impl Fn(&Host) -> Result<(), DriverError>,
    check: impl Fn(&T, Option<Fault>, Result<(), DriverError>),
) -> u64 {
    let run = |fault: Option<Fault>, at: u64| {
        let store = fresh();
        let steps = Rc::new(Steps {
            left: Cell::new(at),
            fault: fault.unwrap_or(Fault::Full),
            done: Cell::new(0),
            struck: Cell::new(false),
        });
        let (reading, writing) = services(&store);
        let host = Host::new(reading).and_writing(Failing { writing, steps: Rc::clone(&steps) });
        let outcome = write(&host);
        drop(host);
        check(&store, fault, outcome);
        steps.done.get()
    };
    let steps = run(None, u64::MAX);
    for at in 0..steps {
        for fault in FAULTS {
            run(Some(fault), at);
        }
    }
    steps
}

struct Failing {
    writing: Box<dyn WritingServices>,
    steps: Rc<Steps>,
}

impl WritingServices for Failing {
    fn replace(
        &self,
        store: &str,
        path: &str,
        content: &[u8],
        mode: u32,
        expect: Option<u64>,
    ) -> Result<(), DriverError> {
        self.steps.step(Needs::Room, || self.writing.replace(store, path, content, mode, expect))
    }

    fn append(&self, store: &str, path: &str, content: &[u8], expect: u64) -> Result<(), DriverError> {
        self.steps.step(Needs::Room, || self.writing.append(store, path, content, expect))
    }

    fn create(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn NewFile>, DriverError> {
        let file = self.steps.step(Needs::Room, || self.writing.create(store, path, mode))?;
        Ok(Box::new(FailingFile { file: Some(file), steps: Rc::clone(&self.steps) }))
    }

    fn discard(&self, store: &str, path: &str) -> Result<u64, DriverError> {
        self.steps.step(Needs::Nothing, || self.writing.discard(store, path))
    }

    fn writable_database(&self, store: &str, path: &str) -> Result<Box<dyn WritableDatabase>, DriverError> {
        let database = self.steps.step(Needs::Nothing, || self.writing.writable_database(store, path))?;
        Ok(Box::new(FailingDatabase { database, steps: Rc::clone(&self.steps) }))
    }

    fn new_database(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn WritableDatabase>, DriverError> {
        let database = self.steps.step(Needs::Room, || self.writing.new_database(store, path, mode))?;
        Ok(Box::new(FailingDatabase { database, steps: Rc::clone(&self.steps) }))
    }
}

struct FailingFile {
    file: Option<Box<dyn NewFile>>,
    steps: Rc<Steps>,
}

impl NewFile for FailingFile {
    fn write(&mut self, content: &[u8]) -> Result<(), DriverError> {
        let Some(file) = &mut self.file else { return Err(gone()) };
        self.steps.step(Needs::Room, || file.write(content))
    }

    fn commit(mut self: Box<Self>, expect: Option<u64>) -> Result<(), DriverError> {
        let Some(file) = self.file.take() else { return Err(gone()) };
        let mut file = Some(file);
        let done = self.steps.step(Needs::Room, || file.take().map_or(Err(gone()), |file| file.commit(expect)));
        self.file = file;
        done
    }
}

impl Drop for FailingFile {
    fn drop(&mut self) {
        if self.steps.is_dead() {
            // The unseen file of a process that died stays where it is.
            std::mem::forget(self.file.take());
        }
    }
}

struct FailingDatabase {
    database: Box<dyn WritableDatabase>,
    steps: Rc<Steps>,
}

impl Database for FailingDatabase {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Box<dyn Query>, DriverError> {
        self.database.query(sql, parameters)
    }
}

impl WritableDatabase for FailingDatabase {
    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, DriverError> {
        self.steps.step(Needs::Room, || self.database.execute(sql, parameters))
    }

    fn begin(&self) -> Result<(), DriverError> {
        self.steps.step(Needs::Nothing, || self.database.begin())
    }

    fn commit(&self) -> Result<(), DriverError> {
        self.steps.step(Needs::Room, || self.database.commit())
    }

    fn rollback(&self) -> Result<(), DriverError> {
        self.steps.step(Needs::Nothing, || self.database.rollback())
    }
}
