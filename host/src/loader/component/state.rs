//! What one store holds: the guest's directories, its bounds, and what it wrote.

use super::limiter::Limiter;
use super::output::Output;
use crate::host_services::Reach;
use crate::limits::Limits;
use sepia_services::Store;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::time::Instant;
use wasmtime_wasi::{FsPerms, ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// Data of one store, made for one call and dropped with it.
pub(crate) struct State {
    table: ResourceTable,
    wasi: WasiCtx,
    pub(super) limiter: Limiter,
    pub(super) stderr: Output,
    /// When the call that runs has to be over.
    pub(super) deadline: Instant,
    /// Set by the clock when it interrupted the guest.
    pub(super) out_of_time: bool,
    /// What the host does for the guest, and in which stores.
    pub(crate) reach: Reach,
}

impl State {
    /// A state over these stores, each shown read-only as `/<name>`.
    pub(super) fn new(limits: &Limits, reach: Reach) -> wasmtime::Result<Self> {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        let stderr = Output::keeping(limits.guest_output);
        let mut wasi = WasiCtxBuilder::new();
        // Nothing is inherited: no environment, no arguments, no network. What the guest
        // prints is caught, for stdout carries our own frames.
        wasi.stderr(stderr.clone()).stdout(Output::keeping(0));
        for store in reach.stores() {
            show(&mut wasi, store)?;
        }
        Ok(Self {
            table,
            wasi: wasi.build(),
            limiter: Limiter::new(limits),
            stderr,
            deadline: Instant::now(),
            out_of_time: false,
            reach,
        })
    }
}

/// Shows a store and the links in it that the host followed.
fn show(wasi: &mut WasiCtxBuilder, store: &Store) -> wasmtime::Result<()> {
    let Some(root) = store.root() else { return Ok(()) };
    let place = opened(root).unwrap_or_else(|| store.place().to_owned());
    wasi.preopened_dir(place, format!("/{}", store.name()), FsPerms::ReadOnly)?;
    for link in store.links() {
        let place = opened(&link.dir).unwrap_or_else(|| link.target.clone());
        wasi.preopened_dir(place, format!("/{}/{}", store.name(), link.path), FsPerms::ReadOnly)?;
    }
    Ok(())
}

/// A path to the very directory that was checked, where the system has one: between check and
/// use, nobody can put another in its place.
fn opened(dir: &impl AsFd) -> Option<PathBuf> {
    cfg!(target_os = "linux").then(|| PathBuf::from(format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd())))
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
