//! The file that gets the record.

use super::{complain, lock, time};
use crate::record::{Event, Record};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

/// Exit code when the record cannot be written: a test must not go on without it.
const IO_ERROR: i32 = 74;

/// Appends to the record, if there is one.
#[derive(Debug)]
pub(crate) struct Recorder(Option<Mutex<File>>);

impl Recorder {
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self(file.map(Mutex::new)))
    }

    pub(crate) fn record(&self, event: Event) {
        let Some(file) = &self.0 else { return };
        let record = Record { at_ms: time::now_ms(), pid: std::process::id(), event };
        let written = serde_json::to_vec(&record).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            // At once: other processes may append to the same file.
            lock(file).write_all(&line)
        });
        if let Err(e) = written {
            complain(&format!("the record could not be written: {e}"));
            std::process::exit(IO_ERROR);
        }
    }
}
