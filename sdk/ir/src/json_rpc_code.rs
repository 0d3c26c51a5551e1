//! Codes that JSON-RPC 2.0 itself defines, on every wire that speaks it.

/// Not JSON.
pub const PARSE: i64 = -32700;
/// Not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// Unknown method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Wrong parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// A fault of the answering side.
pub const INTERNAL: i64 = -32603;
