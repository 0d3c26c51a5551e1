//! What a program answers, as results and faults of the contract.

use crate::jsonrpc::{ErrorObject, Fragment};
use crate::loader::{Fault, FaultKind};
use crate::text::clean_text;
use sepia_ir::driver_wire::code;
use sepia_ir::{DriverError, ErrorCode};
use serde::de::DeserializeOwned;

/// What is kept of a message, bytes.
const MESSAGE: usize = 2 << 10;

/// The fault that an error of the wire is.
pub(super) fn fault(driver: &str, call: &'static str, error: &ErrorObject) -> Fault {
    let message = clean_text(&error.message, MESSAGE);
    let said = |code| Fault::said(driver, call, DriverError::new(code, message.clone()));
    match error.code {
        // Some programs say nothing but the id.
        code::NOT_FOUND if !message.contains(' ') => Fault::said(driver, call, DriverError::unknown_session(&message)),
        code::NOT_FOUND => said(ErrorCode::NotFound),
        code::BUSY => said(ErrorCode::Busy),
        code::LOCKED => said(ErrorCode::Locked),
        code::UNSUPPORTED | code::METHOD_NOT_FOUND => said(ErrorCode::Unsupported),
        code::STORE => said(ErrorCode::Store),
        code::INVALID | code::INVALID_PARAMS => said(ErrorCode::Invalid),
        code::CONFLICT => said(ErrorCode::Conflict),
        code::INTERNAL => Fault::new(driver, call, FaultKind::Trap, message),
        code::PARSE | code::INVALID_REQUEST => {
            Fault::new(driver, call, FaultKind::Contract, format!("it did not understand the request: {message}"))
        }
        other => Fault::new(
            driver,
            call,
            FaultKind::Contract,
            format!("it answered with the unknown code {other}: {message}"),
        ),
    }
}

/// A result as a type.
pub(super) fn parse<T: DeserializeOwned>(driver: &str, call: &'static str, result: &Fragment) -> Result<T, Fault> {
    result.parse().map_err(|e| wrong(driver, call, &e))
}

/// A result of another shape than the wire has.
pub(super) fn wrong(driver: &str, call: &'static str, e: &serde_json::Error) -> Fault {
    Fault::new(driver, call, FaultKind::Contract, format!("its result has not the shape of the wire: {e}"))
}
