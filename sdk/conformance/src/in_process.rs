//! A driver of this process as the suite calls it, for the tests of drivers.

use crate::failure::Failure;
use crate::subject::{Copy, Opened, Subject};
use sepia_ir::{
    DriverError, ErrorCode, HistoryPage, HistoryQuery, LockState, SaveOptions, SaveReport, ScanReport, Session,
    SessionRef, Summary, SummaryDetail, chain,
};
use sepia_sdk::{Checked, Host, SessionRead, SessionWrite, Transcript};
use std::marker::PhantomData;

/// Bytes of a native copy asked for at a time: few, so that copies come in pieces.
const PIECE: usize = 1000;

/// A driver on the stores of a host.
pub struct InProcess<D> {
    host: Host,
    driver: PhantomData<D>,
}

impl<D: SessionRead> InProcess<D> {
    /// On these stores.
    pub fn on(host: Host) -> Self {
        Self { host, driver: PhantomData }
    }

    /// A session and all its nodes, taken at most `max` at a time.
    pub fn read(&self, session: &SessionRef, max: usize) -> Result<Session, DriverError> {
        let mut read = self.opened(session, max)?;
        read.header.nodes = read.batches.into_iter().flatten().collect();
        Ok(read.header)
    }

    fn opened(&self, session: &SessionRef, max: usize) -> Result<Opened, DriverError> {
        let mut transcript = D::open(&self.host, session)?;
        let mut opened = Opened { header: transcript.header(), batches: Vec::new() };
        loop {
            let batch = transcript.next(max)?;
            if batch.is_empty() {
                return Ok(opened);
            }
            opened.batches.push(batch);
        }
    }

    fn copied(&self, session: &SessionRef) -> Result<Copy, DriverError> {
        let mut copy = D::native(&self.host, session)?;
        let mut bytes = Vec::new();
        loop {
            let piece = copy.next(PIECE)?;
            if piece.is_empty() {
                return Ok(Copy { name: copy.name(), bytes });
            }
            bytes.extend(piece);
        }
    }
}

/// Nodes handed over at a time: few, so that sessions come in several pieces.
const NODES: usize = 3;

impl<D: SessionWrite> InProcess<D> {
    /// Writes a session, whose nodes are in it; which of them are off its live branch is told from them.
    pub fn save(&self, session: &Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
        let header = Session { nodes: Vec::new(), ..session.clone() };
        let off_branch = chain::off_branch(&session.nodes, session.main_chain_id);
        let options = SaveOptions { off_branch, ..options.clone() };
        let mut draft = Checked::<D>::begin(self.host.clone(), header, &options)?;
        for nodes in session.nodes.chunks(NODES) {
            draft.append(nodes.to_vec())?;
        }
        draft.commit()
    }
}

fn told<T>(outcome: Result<T, DriverError>) -> Result<T, Failure> {
    outcome.map_err(|error| {
        let code = match error.code {
            ErrorCode::NotFound => "not_found",
            ErrorCode::Busy => "busy",
            ErrorCode::Locked => "locked",
            ErrorCode::Unsupported => "unsupported",
            ErrorCode::Store => "store",
            ErrorCode::Invalid => "invalid",
            ErrorCode::Conflict => "conflict",
        };
        Failure::new(code, error.message)
    })
}

impl<D: SessionRead> Subject for InProcess<D> {
    fn scan(&self) -> Result<ScanReport, Failure> {
        told(D::scan(&self.host))
    }

    fn summaries(&self, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, Failure> {
        told(D::summaries(&self.host, keys, detail))
    }

    fn summary_of(&self, session: &SessionRef) -> Result<Session, Failure> {
        told(D::summary_of(&self.host, session))
    }

    fn open(&self, session: &SessionRef, max: usize) -> Result<Opened, Failure> {
        told(self.opened(session, max))
    }

    fn history(&self, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, Failure> {
        told(D::history(&self.host, session, query))
    }

    fn native(&self, session: &SessionRef) -> Result<Copy, Failure> {
        told(self.copied(session))
    }

    fn locks(&self) -> Result<Vec<LockState>, Failure> {
        told(D::locks(&self.host))
    }
}
