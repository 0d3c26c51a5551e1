//! One answer, written while it is made.

use sepia_ir::driver_wire::code;
use sepia_ir::single_line::serializer;
use serde::Serialize;
use std::io::{self, Write};

/// What of an answer is held back, so that a failure can still take its place.
const HELD_BACK: usize = 1 << 20;

/// The answer to one request. Its result is written in pieces of one JSON value.
///
/// Small answers go out whole. Of a large one the beginning is out already when the driver
/// fails in its midst: then the line is ended where it is, which is no JSON and settles
/// nothing, and the error follows on a line of its own.
pub(super) struct Reply<'a> {
    output: &'a mut dyn Write,
    id: u64,
    held: Vec<u8>,
    begun: bool,
}

impl<'a> Reply<'a> {
    /// The answer to this request.
    pub(super) fn new(output: &'a mut dyn Write, id: u64) -> Self {
        let held = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").into_bytes();
        Self { output, id, held, begun: false }
    }

    /// A whole value at this place of the result.
    pub(super) fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> serde_json::Result<()> {
        value.serialize(&mut serializer(self))
    }

    /// The result is complete.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.held.extend_from_slice(b"}\n");
        self.output.write_all(&self.held)?;
        self.output.flush()
    }

    /// There is no result.
    pub(super) fn fail(mut self, code: i64, message: &str) -> io::Result<()> {
        #[derive(Serialize)]
        struct Failure<'a> {
            jsonrpc: &'a str,
            id: u64,
            error: Error<'a>,
        }
        #[derive(Serialize)]
        struct Error<'a> {
            code: i64,
            message: &'a str,
        }
        self.held.clear();
        if self.begun {
            self.held.push(b'\n');
        }
        let failure = Failure { jsonrpc: "2.0", id: self.id, error: Error { code, message } };
        failure.serialize(&mut serializer(&mut self.held))?;
        self.held.push(b'\n');
        self.output.write_all(&self.held)?;
        self.output.flush()
    }
}

impl Write for Reply<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() > HELD_BACK {
            self.output.write_all(&self.held)?;
            self.held.clear();
            self.begun = true;
        }
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failure to write the answer: the connection's, or that of a value that can't be JSON.
pub(super) fn written(e: serde_json::Error) -> super::Failure {
    if e.is_io() {
        return super::Failure::Connection(e.into());
    }
    let message = format!("the driver made a result that is no JSON: {e}");
    super::Failure::Answer { code: code::INTERNAL, message }
}
