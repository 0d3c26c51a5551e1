//! The exports `identity`, `session-read` and `session-search`, answered by the traits.

use super::bindings::exports::sepia::driver::{identity, session_read, session_search};
use super::services::Imports;
use crate::driver::Driver;
use crate::host::Host;
use crate::session_read::{NativeCopy, SessionRead, Transcript};
use sepia_ir::{
    DriverError, HistoryPage, HistoryQuery, LockState, Manifest, MessageNode, ScanReport, SearchQuery, SearchReport,
    Session, SessionRef, Summary, SummaryDetail,
};
use std::cell::RefCell;
use std::marker::PhantomData;

/// A driver type as the bindings want it.
pub struct Exported<D>(PhantomData<D>);

pub(super) fn host() -> Host {
    Host::new(Imports)
}

impl<D: Driver> identity::Guest for Exported<D> {
    fn describe() -> Manifest {
        D::manifest()
    }
}

/// A resource whose methods take `&self` on the boundary and `&mut self` in the trait.
pub struct Shared<T>(RefCell<T>);

impl<D: SessionRead> session_read::Guest for Exported<D> {
    type Transcript = Shared<D::Transcript>;
    type NativeCopy = Shared<Box<dyn NativeCopy>>;

    fn scan() -> Result<ScanReport, DriverError> {
        D::scan(&host())
    }

    fn summaries(keys: Vec<String>, detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        D::summaries(&host(), &keys, detail)
    }

    fn summary_of(session: SessionRef) -> Result<Session, DriverError> {
        D::summary_of(&host(), &session)
    }

    fn open(session: SessionRef) -> Result<session_read::Transcript, DriverError> {
        let transcript = D::open(&host(), &session)?;
        Ok(session_read::Transcript::new(Shared(RefCell::new(transcript))))
    }

    fn history(session: SessionRef, query: HistoryQuery) -> Result<HistoryPage, DriverError> {
        D::history(&host(), &session, &query)
    }

    fn native(session: SessionRef) -> Result<session_read::NativeCopy, DriverError> {
        let copy = D::native(&host(), &session)?;
        Ok(session_read::NativeCopy::new(Shared(RefCell::new(copy))))
    }

    fn locks() -> Result<Vec<LockState>, DriverError> {
        D::locks(&host())
    }
}

impl<D: SessionRead> session_search::Guest for Exported<D> {
    fn search(keys: Vec<String>, query: SearchQuery) -> Result<Vec<SearchReport>, DriverError> {
        D::search(&host(), &keys, &query)
    }
}

impl<T: Transcript> session_read::GuestTranscript for Shared<T> {
    fn header(&self) -> Session {
        self.0.borrow().header()
    }

    fn next(&self, max: u32) -> Result<Vec<MessageNode>, DriverError> {
        self.0.borrow_mut().next(max as usize)
    }
}

impl session_read::GuestNativeCopy for Shared<Box<dyn NativeCopy>> {
    fn name(&self) -> String {
        self.0.borrow().name()
    }

    fn next(&self, max: u32) -> Result<Vec<u8>, DriverError> {
        self.0.borrow_mut().next(max as usize)
    }
}
