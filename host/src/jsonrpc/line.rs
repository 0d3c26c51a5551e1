//! The lines that are sent: each function writes one message, without its line feed.

use super::error_object::ErrorObject;
use super::id::Id;
use sepia_ir::single_line::serializer;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Call<'a, P: ?Sized> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    method: &'a str,
    params: &'a P,
}

#[derive(Serialize)]
struct Success<'a, R: ?Sized> {
    jsonrpc: &'static str,
    id: &'a Id,
    result: &'a R,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: &'a Id,
    error: &'a ErrorObject,
}

const VERSION: &str = "2.0";

/// A request.
pub fn request<P: Serialize + ?Sized>(out: impl Write, id: &Id, method: &str, params: &P) -> io::Result<()> {
    write(out, &Call { jsonrpc: VERSION, id: Some(id), method, params })
}

/// A notification.
pub fn notification<P: Serialize + ?Sized>(out: impl Write, method: &str, params: &P) -> io::Result<()> {
    write(out, &Call { jsonrpc: VERSION, id: None, method, params })
}

/// A result. Fails when the value can't be serialised; what was written then is to be thrown
/// away.
pub fn result<R: Serialize + ?Sized>(out: impl Write, id: &Id, result: &R) -> io::Result<()> {
    write(out, &Success { jsonrpc: VERSION, id, result })
}

/// The beginning of a result that is written piece by piece; the caller writes one JSON value
/// with [`serializer`] and then [`RESULT_END`].
pub fn result_start(mut out: impl Write, id: &Id) -> io::Result<()> {
    out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":")?;
    write(&mut out, id)?;
    out.write_all(b",\"result\":")
}

/// What ends a line begun with [`result_start`].
pub const RESULT_END: &[u8] = b"}";

/// An error.
pub fn error(out: impl Write, id: &Id, error: &ErrorObject) -> io::Result<()> {
    write(out, &Failure { jsonrpc: VERSION, id, error })
}

fn write<T: Serialize + ?Sized>(out: impl Write, value: &T) -> io::Result<()> {
    value.serialize(&mut serializer(out)).map_err(io::Error::from)
}
