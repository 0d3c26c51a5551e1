//! What components are linked against: WASI 0.2 whole, and the interfaces of the contract.

use super::state::State;
use crate::host_services;
use wasmtime::Engine;
use wasmtime::component::Linker;

/// The one linker. WASI is linked whole, for a guest's standard library imports it whole; what
/// is behind it is empty but for the granted stores. An import that nobody defines fails when
/// the component is brought in: it is never replaced by a trap, which would hide the interface
/// of a compatible version.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    host_services::link(&mut linker, |state: &mut State| &mut state.reach)?;
    Ok(linker)
}
