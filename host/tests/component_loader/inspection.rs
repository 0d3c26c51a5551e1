//! Files that are no drivers: refused by their bytes, soon, and by name.

use crate::guests::{host, limits, still_serves, wasm};
use sepia::limits::Limits;
use sepia::loader::{LoadErrorKind, Origin};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentSection, ComponentTypeRef,
    ComponentTypeSection, CustomSection, NestedComponentSection, PrimitiveValType,
};

async fn refused(wasm: &[u8]) -> (LoadErrorKind, String) {
    let host = host(limits());
    let begun = Instant::now();
    let error = host.bring_in(wasm, Origin::Embedded).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    (error.kind, error.message)
}

/// Numbers that look random and are the same each time.
fn noise(bytes: usize, mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    for (bytes, said) in [
        (&b""[..], "empty"),
        (b"\0asm", "header"),
        (b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0", "wasm32-wasip2"),
        (b"(component)", "text"),
        (b"#!/bin/sh\n", "not WebAssembly"),
        (b"\0asm\x0d\0\x01\0", "exports nothing"),
    ] {
        let (kind, message) = refused(bytes).await;
        assert!(message.contains(said), "{bytes:?}: {message}");
        assert!(matches!(kind, LoadErrorKind::NotComponent | LoadErrorKind::Contract), "{bytes:?}");
    }
    still_serves(&host(limits())).await;
}

#[tokio::test]
async fn a_component_cut_anywhere_is_refused() {
    let whole = wasm("well_behaved");
    for cut in (8..whole.len()).step_by(whole.len() / 40) {
        let (kind, message) = refused(&whole[..cut]).await;
        assert!(matches!(kind, LoadErrorKind::NotComponent | LoadErrorKind::Contract), "{cut}: {message}");
    }
}

/// Flipped bytes give an error or a component that still is one, and never a panic.
#[tokio::test]
async fn a_damaged_component_does_no_harm() {
    let whole = wasm("well_behaved");
    let host = host(limits());
    for at in (8..whole.len()).step_by(whole.len() / 24) {
        let mut damaged = whole.to_vec();
        damaged[at] ^= 0x55;
        let _ = host.bring_in(&damaged, Origin::Embedded).await;
    }
    still_serves(&host).await;
}

#[tokio::test]
async fn noise_is_refused() {
    for seed in 0..50 {
        let noise = noise(4_000, seed);
        refused(&noise).await;
        refused(&[b"\0asm\x0d\0\x01\0", &noise[..]].concat()).await;
    }
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_unread() {
    let host = host(Limits { component_file: 1 << 20, ..limits() });
    let error = host.bring_in(&vec![0; 64 << 20], Origin::Embedded).await.unwrap_err();
    assert_eq!(error.kind, LoadErrorKind::File, "{error}");
}

fn importing(name: &str) -> Vec<u8> {
    let mut component = Component::new();
    let mut imports = ComponentImportSection::new();
    imports.import(name, ComponentTypeRef::Instance(0));
    component.section(&imports);
    component.finish()
}

#[tokio::test]
async fn imports_that_nobody_offers_are_refused_by_name() {
    for name in ["wasi:http/outgoing-handler@0.2.0", "evil:thing/door@1.0.0", "sepia:driver/time-machine@1.0.0"] {
        let (kind, message) = refused(&importing(name)).await;
        assert_eq!(kind, LoadErrorKind::Import, "{name}");
        assert!(message.contains(name), "{message}");
    }
}

#[tokio::test]
async fn another_contract_is_refused_saying_which() {
    let mut component = Component::new();
    let mut exports = ComponentExportSection::new();
    for name in ["sepia:driver/identity@2.1.0", "sepia:driver/session-read@2.1.0"] {
        exports.export(name, ComponentExportKind::Instance, 0, None);
    }
    component.section(&exports);
    let (kind, message) = refused(&component.finish()).await;
    assert_eq!(kind, LoadErrorKind::Contract);
    assert!(message.contains("2.1.0") && message.contains("1.x"), "{message}");
    let (kind, message) = refused(&importing("sepia:driver/log@3.0.0")).await;
    assert_eq!(kind, LoadErrorKind::Contract);
    assert!(message.contains("3.0.0"), "{message}");
}

/// Whatever is decided, it is decided soon.
async fn decided_soon(wasm: &[u8]) {
    let host = host(limits());
    let begun = Instant::now();
    let decided = host.bring_in(wasm, Origin::Embedded).await;
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}: {decided:?}", begun.elapsed());
    still_serves(&host).await;
}

#[tokio::test]
async fn a_hundred_thousand_types_do_no_harm() {
    let mut types = ComponentTypeSection::new();
    for _ in 0..100_000 {
        types.defined_type().list(PrimitiveValType::U8);
    }
    let mut wasm = wasm("well_behaved").to_vec();
    types.append_to_component(&mut wasm);
    decided_soon(&wasm).await;
}

#[tokio::test]
async fn a_heap_of_custom_sections_does_no_harm() {
    let mut wasm = wasm("well_behaved").to_vec();
    let large = CustomSection { name: Cow::Borrowed("large"), data: Cow::Owned(vec![7; 8 << 20]) };
    large.append_to_component(&mut wasm);
    let small = CustomSection { name: Cow::Borrowed("s"), data: Cow::Borrowed(b"") };
    for _ in 0..500_000 {
        small.append_to_component(&mut wasm);
    }
    decided_soon(&wasm).await;
}

#[tokio::test]
async fn components_in_components_do_no_harm() {
    let mut inner = Component::new();
    for _ in 0..2_000 {
        let mut outer = Component::new();
        outer.section(&NestedComponentSection(&inner));
        inner = outer;
    }
    decided_soon(&inner.finish()).await;
}
