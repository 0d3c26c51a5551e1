//! The driver as the conformance suite sees it.

use sepia_conformance::{Copy, Failure, Opened, Subject};
use sepia_driver_cursor::Cursor;
use sepia_ir::{
    DriverError, ErrorCode, HistoryPage, HistoryQuery, LockState, ScanReport, Session, SessionRef, Summary,
    SummaryDetail,
};
use sepia_sdk::{Host, SessionRead, Transcript};

/// See the module.
pub struct Native(pub Host);

fn told<T>(outcome: Result<T, DriverError>) -> Result<T, Failure> {
    outcome.map_err(|error| {
        let code = match error.code {
            ErrorCode::NotFound => "not_found",
            ErrorCode::Unsupported => "unsupported",
            _ => "store",
        };
        Failure::new(code, error.message)
    })
}

impl Subject for Native {
    fn scan(&self) -> Result<ScanReport, Failure> {
        told(Cursor::scan(&self.0))
    }

    fn summaries(&self, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, Failure> {
        told(Cursor::summaries(&self.0, keys, detail))
    }

    fn summary_of(&self, session: &SessionRef) -> Result<Session, Failure> {
        told(Cursor::summary_of(&self.0, session))
    }

    fn open(&self, session: &SessionRef, max: usize) -> Result<Opened, Failure> {
        let mut transcript = told(Cursor::open(&self.0, session))?;
        let mut opened = Opened { header: transcript.header(), batches: Vec::new() };
        loop {
            let nodes = told(transcript.next(max))?;
            if nodes.is_empty() {
                return Ok(opened);
            }
            opened.batches.push(nodes);
        }
    }

    fn history(&self, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure> {
        told(Cursor::history(&self.0, session, query))
    }

    fn native(&self, session: &SessionRef) -> Result<Copy, Failure> {
        let mut copy = told(Cursor::native(&self.0, session))?;
        let mut bytes = Vec::new();
        loop {
            let more = told(copy.next(1000))?;
            if more.is_empty() {
                return Ok(Copy { name: copy.name(), bytes });
            }
            bytes.extend(more);
        }
    }

    fn locks(&self) -> Result<Vec<LockState>, Failure> {
        told(Cursor::locks(&self.0))
    }
}
