//! Answers on their way out: kept in memory while they are small, in an unnamed file when they
//! are not, and handed over only when they are whole. So a large session takes no memory,
//! and an answer that fails half-way was never begun.

use super::error;
use crate::jsonrpc::{ErrorObject, Id, Outgoing, line, serializer};
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use tempfile::SpooledTempFile;

/// An answer that is whole.
pub(super) fn result<R: Serialize + ?Sized>(id: &Id, value: &R, in_memory: usize) -> Outgoing {
    let written = spooled(in_memory, |out| line::result(out, id, value));
    written.unwrap_or_else(|e| failure(id, &error::internal(e.to_string())))
}

/// An error.
pub(super) fn failure(id: &Id, error: &ErrorObject) -> Outgoing {
    let mut out = Vec::new();
    if let Err(e) = line::error(&mut out, id, error) {
        tracing::error!("an error could not be written out: {e}");
        out = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}"#.to_vec();
    }
    Outgoing::Memory(out)
}

/// An answer whose value is written piece by piece, between `before` and `after`.
pub(super) fn streamed<E: From<io::Error>>(
    id: &Id,
    in_memory: usize,
    before: &[u8],
    after: &[u8],
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<Outgoing, E> {
    let mut spool = BufWriter::with_capacity(256 << 10, SpooledTempFile::new(in_memory));
    line::result_start(&mut spool, id)?;
    spool.write_all(before)?;
    write(&mut serializer(&mut spool))?;
    spool.write_all(after)?;
    spool.write_all(line::RESULT_END)?;
    let spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(Outgoing::try_from(spool)?)
}

/// Where a streamed value is written.
pub(super) type Writer<'a> = serde_json::Serializer<&'a mut BufWriter<SpooledTempFile>, crate::jsonrpc::SingleLine>;

fn spooled(
    in_memory: usize,
    write: impl FnOnce(&mut BufWriter<SpooledTempFile>) -> io::Result<()>,
) -> io::Result<Outgoing> {
    let mut spool = BufWriter::with_capacity(64 << 10, SpooledTempFile::new(in_memory));
    write(&mut spool)?;
    Outgoing::try_from(spool.into_inner().map_err(io::IntoInnerError::into_error)?)
}
