//! The methods of reading.

use super::reply::{Reply, written};
use super::request::Request;
use crate::host::Host;
use crate::session_read::{SessionRead, Transcript};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sepia_ir::driver_wire::{
    HistoryParams, HistoryResult, ListParams, PROTOCOL, SearchParams, SessionParams, SummariesParams, WireManifest,
    code,
};
use sepia_ir::single_line::serializer;
use sepia_ir::{Branch, DriverError, ErrorCode, HistoryQuery, Session, SessionRef, SummaryDetail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{self, Write};

/// Nodes taken from a transcript at once.
const BATCH: usize = 256;
/// Bytes of a native copy in one piece; divisible by three, so that the pieces of base64 are
/// that of the whole when joined.
const PIECE: usize = 768 << 10;
/// Keys asked for at once when everything is listed.
const KEYS: usize = 256;

/// Methods of wire version 1 that need a capability which a reading driver lacks.
const NOT_READING: [&str; 7] = [
    "session.save",
    "session.rename",
    "session.delete",
    "session.rewind",
    "file.restore",
    "config.read",
    "config.write",
];

/// Why a request has no result.
pub(super) enum Failure {
    /// It is answered with an error.
    Answer {
        /// Code of the wire.
        code: i64,
        /// One sentence.
        message: String,
    },
    /// It can't be answered at all.
    Connection(io::Error),
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        let code = match error.code {
            ErrorCode::NotFound => code::NOT_FOUND,
            ErrorCode::Busy => code::BUSY,
            ErrorCode::Locked => code::LOCKED,
            ErrorCode::Unsupported => code::UNSUPPORTED,
            ErrorCode::Store => code::STORE,
            ErrorCode::Invalid => code::INVALID,
            ErrorCode::Conflict => code::CONFLICT,
        };
        Self::Answer { code, message: error.message }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

/// Answers a request: writes the result, or says why there is none.
pub(super) fn call<D: SessionRead>(
    host: &dyn Fn() -> Result<Host, DriverError>,
    request: &Request,
    reply: &mut Reply<'_>,
) -> Result<(), Failure> {
    match request.method.as_str() {
        "driver.manifest" => Ok(reply.write_all(&manifest::<D>()?)?),
        "session.list" => list::<D>(&host()?, request, reply),
        "session.scan" => reply.value(&D::scan(&host()?)?).map_err(written),
        "session.summaries" => {
            let params: SummariesParams = params(request)?;
            reply.value(&D::summaries(&host()?, &params.keys, params.detail)?).map_err(written)
        }
        "session.search" => {
            let params: SearchParams = params(request)?;
            reply.value(&D::search(&host()?, &params.keys, &params.query)?).map_err(written)
        }
        "session.get" => get::<D>(&host()?, &session(request)?, reply),
        "session.summary" => {
            let session = session(request)?;
            reply.value(&D::summary_of(&host()?, &session)?).map_err(written)
        }
        "session.history" => history::<D>(&host()?, request, reply),
        "session.checkpoints" => {
            let row = D::summary_of(&host()?, &session(request)?)?;
            reply.value(&json!({ "checkpoints": row.checkpoints })).map_err(written)
        }
        "session.native" => native::<D>(&host()?, &session(request)?, reply),
        "session.locks" => reply.value(&D::locks(&host()?)?).map_err(written),
        method if NOT_READING.contains(&method) => Err(Failure::Answer {
            code: code::UNSUPPORTED,
            message: format!("{method} is not supported: this driver reads sessions and writes nothing"),
        }),
        method => {
            let shown: String = method.chars().filter(|c| !c.is_control()).take(80).collect();
            Err(Failure::Answer { code: code::METHOD_NOT_FOUND, message: format!("there is no method `{shown}`") })
        }
    }
}

/// The manifest as the wire has it, JSON on one line.
pub(super) fn manifest<D: SessionRead>() -> io::Result<Vec<u8>> {
    manifest_with::<D>(&["sessionStore", "checkpoints"], &["scan", "native", "locks", "search"])
}

/// The same of a driver that can do this.
pub(super) fn manifest_with<D: SessionRead>(capabilities: &[&str], extensions: &[&str]) -> io::Result<Vec<u8>> {
    let own = D::manifest();
    let wire = WireManifest {
        id: own.id,
        label: own.label,
        version: own.version,
        protocol: PROTOCOL,
        capabilities: capabilities.iter().map(|capability| json!(capability)).collect(),
        extensions: extensions.iter().map(|extension| (*extension).to_owned()).collect(),
        agent_command: (!own.agent_command.is_empty()).then(|| own.agent_command.join(" ")),
        config_schema: own.config_schema,
        backend_type: (!own.backend_type.is_empty()).then_some(own.backend_type),
        stores: own.stores,
    };
    let mut line = Vec::new();
    wire.serialize(&mut serializer(&mut line))?;
    Ok(line)
}

pub(super) fn params<'a, T: Deserialize<'a>>(request: &'a Request) -> Result<T, Failure> {
    serde_json::from_str(&request.params).map_err(|e| Failure::Answer {
        code: code::INVALID_PARAMS,
        message: format!("the params of {} are wrong: {e}", request.method),
    })
}

pub(super) fn session(request: &Request) -> Result<SessionRef, Failure> {
    let SessionParams { id, agent_id } = params(request)?;
    Ok(SessionRef { id, agent_id })
}

/// Newest first.
fn list<D: SessionRead>(host: &Host, request: &Request, reply: &mut Reply<'_>) -> Result<(), Failure> {
    let asked: Option<ListParams> = params(request)?;
    let detail = asked.and_then(|list| list.detail).unwrap_or(SummaryDetail::Row);
    let keys: Vec<String> = D::scan(host)?.entries.into_iter().map(|entry| entry.key).collect();
    let mut rows: Vec<Session> = Vec::new();
    for keys in keys.chunks(KEYS) {
        rows.extend(D::summaries(host, keys, detail)?.into_iter().flat_map(|summary| summary.sessions));
    }
    rows.sort_by(|a, b| b.last_activity_at.total_cmp(&a.last_activity_at).then_with(|| a.id.cmp(&b.id)));
    reply.value(&rows).map_err(written)
}

/// Writes the nodes as they come, so that a session of any size costs a batch of memory.
fn get<D: SessionRead>(host: &Host, session: &SessionRef, reply: &mut Reply<'_>) -> Result<(), Failure> {
    /// How a session without nodes and prompts ends: its last two members.
    const END: &[u8] = b"\"nodes\":[],\"promptHistory\":[]}";
    let mut transcript = D::open(host, session)?;
    let mut header = transcript.header();
    let prompts = std::mem::take(&mut header.prompt_history);
    header.nodes = Vec::new();
    let mut start = Vec::new();
    header.serialize(&mut serializer(&mut start)).map_err(written)?;
    let Some(start) = start.strip_suffix(END) else {
        return Err(Failure::Answer {
            code: code::INTERNAL,
            message: "a session no longer ends with its nodes".into(),
        });
    };
    reply.write_all(start)?;
    reply.write_all(b"\"nodes\":[")?;
    let mut first = true;
    loop {
        let batch = transcript.next(BATCH)?;
        if batch.is_empty() {
            break;
        }
        for node in &batch {
            if !std::mem::take(&mut first) {
                reply.write_all(b",")?;
            }
            reply.value(node).map_err(written)?;
        }
    }
    reply.write_all(b"],\"promptHistory\":")?;
    reply.value(&prompts).map_err(written)?;
    Ok(reply.write_all(b"}")?)
}

fn history<D: SessionRead>(host: &Host, request: &Request, reply: &mut Reply<'_>) -> Result<(), Failure> {
    let asked: HistoryParams = params(request)?;
    let session = SessionRef { id: asked.id, agent_id: asked.agent_id };
    let query = HistoryQuery {
        limit: asked.limit.unwrap_or(u32::MAX),
        before: asked.before,
        branch: asked.branch.unwrap_or(Branch::Live),
        index: None,
    };
    let page = D::history(host, &session, &query)?;
    let result = HistoryResult {
        nodes: page.nodes,
        tool_call_nodes: page.tool_call_nodes,
        total: page.total,
        start: page.start,
        backend_type: Some(D::manifest().backend_type),
    };
    reply.value(&result).map_err(written)
}

/// `{name, data: [base64, …]}`
fn native<D: SessionRead>(host: &Host, session: &SessionRef, reply: &mut Reply<'_>) -> Result<(), Failure> {
    let mut copy = D::native(host, session)?;
    reply.write_all(b"{\"name\":")?;
    reply.value(&copy.name()).map_err(written)?;
    reply.write_all(b",\"data\":[")?;
    let mut first = true;
    loop {
        let bytes = copy.next(PIECE)?;
        if bytes.is_empty() {
            break;
        }
        if !std::mem::take(&mut first) {
            reply.write_all(b",")?;
        }
        reply.value(&BASE64.encode(&bytes)).map_err(written)?;
    }
    Ok(reply.write_all(b"]}")?)
}
