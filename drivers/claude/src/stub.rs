//! What can be told of a line that is too long to be read: the small members near its start
//! and its end.

use crate::index::LinePlan;
use crate::place::STORE;
use crate::time;
use sepia_ir::DriverError;
use sepia_sdk::Host;

/// Bytes of either end that are looked at.
const END: u32 = 8 << 10;

/// Members of such a line, as far as they were found.
#[derive(Debug, Default)]
pub(crate) struct Stub {
    pub(crate) uuid: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) time: Option<f64>,
}

/// Looks at the ends of a line.
pub(crate) fn look(host: &Host, path: &str, line: &LinePlan) -> Result<Stub, DriverError> {
    let head = host.read(STORE, path, line.offset, END)?;
    let tail = host.read(STORE, path, line.offset + u64::from(line.length.saturating_sub(END)), END)?;
    let found = |name: &str| member(&head, name).or_else(|| member(&tail, name)).map(str::to_owned);
    Ok(Stub {
        uuid: found("uuid"),
        tool_use_id: found("tool_use_id"),
        time: found("timestamp").and_then(|text| time::of_json(&format!("\"{text}\""))),
    })
}

/// The value of a member that is a string without escapes. Inside of strings quotes are
/// escaped, so such a pattern is never part of one.
fn member<'a>(bytes: &'a [u8], name: &str) -> Option<&'a str> {
    let pattern = format!("\"{name}\":\"");
    let from = memchr::memmem::find(bytes, pattern.as_bytes())? + pattern.len();
    let length = memchr::memchr2(b'"', b'\\', &bytes[from..])?;
    (bytes[from + length] == b'"').then(|| std::str::from_utf8(&bytes[from..from + length]).ok())?
}
