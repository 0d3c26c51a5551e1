//! What components are linked against: WASI 0.2 whole, and the interfaces of the contract.

use super::state::State;
use crate::host_services;
use wasmtime::Engine;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::preopens;

/// The one linker. WASI is linked whole, for a guest's standard library imports it whole; what
/// is behind it is empty but for the granted stores. An import that nobody defines fails when
/// the component is brought in: it is never replaced by a trap, which would hide the interface
/// of a compatible version.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    // The one way to a directory: who goes it reads by means that the host does not see.
    linker.allow_shadowing(true);
    preopens::add_to_linker::<State, HasPreopens>(&mut linker, |state| Preopens(state))?;
    linker.allow_shadowing(false);
    host_services::link(&mut linker, |state: &mut State| &mut state.reach)?;
    Ok(linker)
}

/// The granted directories, and a note of it when a guest takes them.
struct Preopens<'a>(&'a mut State);

struct HasPreopens;

impl HasData for HasPreopens {
    type Data<'a> = Preopens<'a>;
}

impl preopens::Host for Preopens<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        self.0.reach.asked_something_else();
        preopens::Host::get_directories(&mut self.0.filesystem())
    }
}
