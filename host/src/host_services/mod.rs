//! The host side of `wit/host.wit`: what a component may ask of the host, one file an
//! interface. The work itself is in `sepia-services`, shared with the drivers that are
//! programs; here is what the sandbox adds: whose call it is, in which stores, until when.

mod bulk_files;
mod closing;
mod digest;
mod durable_files;
mod log;
mod processes;
mod sqlite;
mod stores;
mod text_search;

pub use closing::Closing;
pub use durable_files::UnseenFile;
pub use sqlite::Connection;

use crate::loader::{Question, Trace};
use sepia_services::{ServiceError, Store};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Handle, RuntimeFlavor};
use wasmtime::component::{HasData, Linker, ResourceTable};

use crate::loader::component::bindings::sepia::driver as contract;

/// Databases, queries and new files that one guest holds open at a time: each is an open file or more.
const OPEN_HANDLES: usize = 64;

/// What one instance of a driver reaches: the stores that it was granted, and the log.
#[derive(Debug)]
pub struct Reach {
    driver: Arc<str>,
    stores: Vec<Store>,
    log_lines: u32,
    /// Databases, queries and new files that the guest holds.
    held: ResourceTable,
    /// What the guest asks of its stores, while it scans.
    trace: Option<Trace>,
    closing: Closing,
}

impl Reach {
    /// Of this driver, these stores. Databases that were written to are closed with `closing`.
    pub fn new(driver: Arc<str>, stores: Vec<Store>, closing: Closing) -> Self {
        let mut held = ResourceTable::new();
        held.set_max_capacity(OPEN_HANDLES);
        Self { driver, stores, log_lines: 0, held, trace: None, closing }
    }

    /// Writes down what the guest asks of its stores from now on.
    pub(crate) fn trace(&mut self, trace: Trace) {
        self.trace = Some(trace);
    }

    /// What it asked.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    /// It asked something whose answer can't be told to be the same another time.
    pub(crate) fn asked_something_else(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.is_opaque();
        }
    }

    /// It is about to read this.
    fn asked(&mut self, question: Question) {
        let Self { stores, trace: Some(trace), .. } = self else { return };
        if let Some(store) = stores.iter().find(|known| known.name() == question.store()) {
            trace.read(question, store);
        }
    }

    /// The granted stores.
    pub fn stores(&self) -> &[Store] {
        &self.stores
    }

    /// Has long work stop at `deadline`; called before each call of the guest.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.stores = std::mem::take(&mut self.stores).into_iter().map(|store| store.with_deadline(deadline)).collect();
    }

    fn store(&self, name: &str) -> Result<&Store, ServiceError> {
        let named = self.stores.iter().find(|store| store.name() == name);
        named.ok_or_else(|| ServiceError::NotGranted(crate::text::clean_line(name, 64)))
    }
}

/// Runs work that may take long without keeping other tasks of this thread waiting. Where the
/// executor has one thread there is nowhere for them to go.
fn apart<R>(work: impl FnOnce() -> R) -> R {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// How the linker gets at the [`Reach`] in its store.
struct HasReach;

impl HasData for HasReach {
    type Data<'a> = &'a mut Reach;
}

/// Links every interface that this build offers.
pub fn link<T: Send + 'static>(linker: &mut Linker<T>, reach: fn(&mut T) -> &mut Reach) -> wasmtime::Result<()> {
    contract::log::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::stores::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::bulk_files::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::text_search::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::digest::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::sqlite::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::durable_files::add_to_linker::<T, HasReach>(linker, reach)?;
    contract::processes::add_to_linker::<T, HasReach>(linker, reach)
}
