//! Plane errors and faults of the frame itself, as JSON-RPC errors.

use crate::jsonrpc::{ErrorObject, code};
use crate::plane::{ErrorKind, PlaneError};
use serde_json::json;

/// The number of each plane error.
fn number(kind: ErrorKind) -> i64 {
    match kind {
        ErrorKind::NotFound => -32001,
        ErrorKind::Busy => -32002,
        ErrorKind::Locked => -32003,
        ErrorKind::Unsupported => -32004,
        ErrorKind::Internal => -32005,
        ErrorKind::Invalid => -32006,
        ErrorKind::Conflict => -32007,
        ErrorKind::UnknownAgent => -32008,
    }
}

/// A plane error on the wire: `data.code` is the stable kind, `data.cause` what lies
/// underneath, or `null`.
pub(super) fn of_plane(error: &PlaneError) -> ErrorObject {
    let data = json!({ "code": error.kind.code(), "cause": error.cause });
    ErrorObject::new(number(error.kind), error.message.clone()).with_data(data)
}

/// Parameters of the wrong shape.
pub(super) fn invalid_params(method: &str, cause: &serde_json::Error) -> ErrorObject {
    coded(code::INVALID_PARAMS, "invalid_params", format!("the parameters of `{method}` are wrong: {cause}"))
}

/// A method that nobody knows.
pub(super) fn unknown_method(method: &str) -> ErrorObject {
    let shown = crate::text::clean_line(method, 80);
    let message = format!("there is no method `{shown}`; `manifest` lists those that there are");
    coded(code::METHOD_NOT_FOUND, "method_not_found", message)
}

/// A method of the wire document that this build does not have.
pub(super) fn not_in_this_build(method: &str) -> ErrorObject {
    let message = format!("`{method}` is not available in this build; `manifest` lists the methods that are");
    coded(code::METHOD_NOT_FOUND, "unsupported", message)
}

/// A line that is no request.
pub(super) fn bad_frame(number: i64, message: impl Into<String>) -> ErrorObject {
    let name = if number == code::PARSE { "parse_error" } else { "invalid_request" };
    coded(number, name, message)
}

/// The process ends before the request could be answered.
pub(super) fn shutting_down() -> ErrorObject {
    of_plane(&PlaneError::new(ErrorKind::Internal, "sepia is shutting down; ask again when it runs"))
}

/// A fault of our own.
pub(super) fn internal(cause: impl Into<String>) -> ErrorObject {
    of_plane(&PlaneError::new(ErrorKind::Internal, "sepia itself failed at this request").because(cause))
}

fn coded(number: i64, name: &str, message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(number, message).with_data(json!({ "code": name, "cause": null }))
}
