//! What a file is, told from its bytes before anything of it runs: whether it is a component,
//! what it asks for and what it can do. Imports and exports can't lie.

use crate::loader::{Capability, LoadError, LoadErrorKind};
use crate::text::clean_line;
use semver::Version;
use wasmparser::{Encoding, Parser, Payload};

/// What a component imports and exports, checked against what this host offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Names of its imports, as they stand in the file.
    pub imports: Vec<String>,
    /// Capabilities by the interfaces that it exports.
    pub capabilities: Vec<Capability>,
    /// Whether it searches its sessions itself.
    pub searches: bool,
    /// Whether it tells what its agent's tools are in common terms.
    pub translates: bool,
    /// Version of the contract that it was built for.
    pub contract: Version,
}

/// The contract that this host speaks, as a version of the package.
pub const CONTRACT: Version = Version::new(1, 0, 0);

const PACKAGE: &str = "sepia:driver";
/// Interfaces of the contract that a component of this build may import.
const OFFERED: [&str; 9] =
    ["types", "log", "stores", "bulk-files", "text-search", "digest", "sqlite", "durable-files", "processes"];
/// Packages of WASI 0.2 that are linked. All of them are: Rust's standard library imports
/// sockets even when nobody calls them. What a grant does not open, refuses when it is used.
const WASI: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

const IDENTITY: &str = "identity";
/// What a driver that reads may export besides.
const SEARCH: &str = "session-search";
/// What a driver that writes may export besides.
const VOCABULARY: &str = "tool-vocabulary";
const CAPABILITIES: [(&str, Capability); 3] = [
    ("session-read", Capability::SessionRead),
    ("session-write", Capability::SessionWrite),
    ("agent-config", Capability::AgentConfig),
];

/// Looks at a file that is said to be a driver.
pub fn inspect(wasm: &[u8], most: u64) -> Result<Inspection, LoadError> {
    size(wasm, most)?;
    is_component(wasm)?;
    let (imports, exports) = outer_names(wasm)?;
    for import in &imports {
        check_import(import)?;
    }
    let (capabilities, contract) = capabilities(&exports)?;
    let has = |interface: &str| {
        let is_it = |n: Name<'_>| n.package == PACKAGE && n.interface == interface;
        exports.iter().any(|export| Name::of(export).is_some_and(is_it))
    };
    let (searches, translates) = (has(SEARCH), has(VOCABULARY));
    Ok(Inspection { imports, capabilities, searches, translates, contract })
}

/// Refuses a file that is larger than a driver may be.
pub(super) fn size(wasm: &[u8], most: u64) -> Result<(), LoadError> {
    if wasm.len() as u64 > most {
        return Err(LoadError::new(
            LoadErrorKind::File,
            format!(
                "the file has {} MiB and a driver may have {} MiB; make it smaller or set SEPIA_DRIVER_FILE_MB",
                wasm.len() as u64 >> 20,
                most >> 20
            ),
        ));
    }
    Ok(())
}

/// Tells a component from what people take for one.
fn is_component(wasm: &[u8]) -> Result<(), LoadError> {
    let not = |message: &str| Err(LoadError::new(LoadErrorKind::NotComponent, message));
    // Magic number, then version and layer: 1 0 of a core module, 13 1 of a component.
    match (wasm.get(..4), wasm.get(4..8)) {
        (Some(b"\0asm"), Some([_, _, 1, 0])) => Ok(()),
        (Some(b"\0asm"), Some([1, 0, 0, 0])) => not(
            "the file is a core WebAssembly module, built for wasip1 or the bare target; build it for wasm32-wasip2",
        ),
        (Some(b"\0asm"), Some(_)) => not("the file is WebAssembly of a version that does not exist; build it again"),
        (Some(b"\0asm"), None) => not("the file ends inside its header; copy it again"),
        _ if wasm.is_empty() => not("the file is empty; copy it again"),
        _ if wasm.trim_ascii_start().starts_with(b"(") => {
            not("the file is WebAssembly text; a driver is a binary component, built for wasm32-wasip2")
        }
        _ => not("the file is not WebAssembly; a driver is a component built for wasm32-wasip2"),
    }
}

/// Names of the imports and exports of the component itself, not of what is nested in it.
fn outer_names(wasm: &[u8]) -> Result<(Vec<String>, Vec<String>), LoadError> {
    let broken = |e: wasmparser::BinaryReaderError| {
        LoadError::new(
            LoadErrorKind::NotComponent,
            format!(
                "the file is cut short or damaged at byte {} ({}); copy or build it again",
                e.offset(),
                e.message()
            ),
        )
    };
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(broken)? {
            Payload::Version { encoding: Encoding::Component | Encoding::Module, .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 1 => {
                for import in section {
                    imports.push(import.map_err(broken)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 1 => {
                for export in section {
                    exports.push(export.map_err(broken)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imports, exports))
}

/// `namespace:package/interface@version`, taken apart.
struct Name<'a> {
    package: &'a str,
    interface: &'a str,
    version: Option<Version>,
}

impl<'a> Name<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let (package, rest) = name.split_once('/')?;
        let (interface, version) = match rest.split_once('@') {
            Some((interface, version)) => (interface, Version::parse(version).ok()),
            None => (rest, None),
        };
        Some(Self { package, interface, version })
    }
}

fn check_import(name: &str) -> Result<(), LoadError> {
    let shown = clean_line(name, 120);
    let refuse = |message: String| Err(LoadError::new(LoadErrorKind::Import, message));
    let Some(Name { package, interface, version }) = Name::of(name) else {
        return refuse(format!(
            "it imports `{shown}`, and a driver may import interfaces of WASI 0.2 and of {PACKAGE} only"
        ));
    };
    if package == PACKAGE {
        check_contract(name, version.as_ref())?;
        return if OFFERED.contains(&interface) {
            Ok(())
        } else {
            refuse(format!("it imports `{shown}`, which contract {CONTRACT} does not have; a newer sepia may offer it"))
        };
    }
    let known_wasi = package.strip_prefix("wasi:").is_some_and(|package| WASI.contains(&package));
    match version {
        Some(version) if known_wasi && (version.major, version.minor) == (0, 2) && version.pre.is_empty() => Ok(()),
        _ if known_wasi => {
            refuse(format!("it imports `{shown}`, and this sepia offers WASI 0.2; build it for wasm32-wasip2"))
        }
        _ => refuse(format!(
            "it imports `{shown}`, which no driver is given; a driver may use the command-line part of WASI 0.2 and {PACKAGE}"
        )),
    }
}

/// Refuses another major version, saying which.
fn check_contract(name: &str, version: Option<&Version>) -> Result<(), LoadError> {
    match version {
        Some(version) if version.major == CONTRACT.major && version.pre.is_empty() => Ok(()),
        Some(version) => Err(LoadError::new(
            LoadErrorKind::Contract,
            format!(
                "it is built for version {} of the driver contract (`{}`), and this sepia speaks {}.x; {}",
                clean_line(&version.to_string(), 40),
                clean_line(name, 120),
                CONTRACT.major,
                if version.major > CONTRACT.major {
                    "use a newer sepia"
                } else {
                    "build it against the current sepia-sdk"
                }
            ),
        )),
        None => Err(LoadError::new(
            LoadErrorKind::Contract,
            format!("`{}` names no version of the driver contract; build it with sepia-sdk", clean_line(name, 120)),
        )),
    }
}

fn capabilities(exports: &[String]) -> Result<(Vec<Capability>, Version), LoadError> {
    let mut found = Vec::new();
    let mut contract = None;
    let mut identity = false;
    for export in exports {
        let Some(Name { package: PACKAGE, interface, version }) = Name::of(export) else { continue };
        check_contract(export, version.as_ref())?;
        contract = contract.max(version);
        identity |= interface == IDENTITY;
        found.extend(CAPABILITIES.iter().filter(|(name, _)| *name == interface).map(|(_, capability)| *capability));
    }
    let contract_error = |message: &str| LoadError::new(LoadErrorKind::Contract, message);
    let Some(contract) = contract else {
        return Err(contract_error("it is a component and no driver: it exports nothing of sepia:driver"));
    };
    if !identity {
        return Err(contract_error("it does not export `sepia:driver/identity`, so nothing says who it is"));
    }
    if found.is_empty() {
        return Err(contract_error(
            "it exports no capability: a driver has at least one of session-read, session-write, agent-config",
        ));
    }
    found.sort_unstable();
    found.dedup();
    Ok((found, contract))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn kind(name: &str) -> Option<LoadErrorKind> {
        check_import(name).err().map(|e| e.kind)
    }

    #[test]
    fn imports_are_refused_by_name() {
        for name in [
            "wasi:io/poll@0.2.0",
            "wasi:sockets/tcp@0.2.99",
            "sepia:driver/durable-files@1.0.0",
            "sepia:driver/types@1.7.3",
        ] {
            assert_eq!(kind(name), None, "{name}");
        }
        for name in [
            "wasi:http/types@0.2.0",
            "wasi:io/poll@0.3.0",
            "wasi:io/poll",
            "wasi:io/poll@0.2.0-rc1",
            "evil:thing/a@1.0.0",
            "plain-function",
            "sepia:driver/nuclear@1.0.0",
            "sepia:driver2/log@1.0.0",
        ] {
            assert_eq!(kind(name), Some(LoadErrorKind::Import), "{name}");
            assert!(check_import(name).unwrap_err().message.contains(name), "{name}");
        }
        for name in
            ["sepia:driver/log@2.0.0", "sepia:driver/log@0.9.0", "sepia:driver/log@1.0.0-draft", "sepia:driver/log"]
        {
            assert_eq!(kind(name), Some(LoadErrorKind::Contract), "{name}");
        }
    }

    #[test]
    fn capabilities_come_from_exports() {
        let of = |names: &[&str]| capabilities(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        let both = of(&[
            "sepia:driver/agent-config@1.2.0",
            "sepia:driver/identity@1.0.0",
            "sepia:driver/session-read@1.0.0",
            "other:x/y@9.0.0",
        ]);
        assert_eq!(both.unwrap(), (vec![Capability::SessionRead, Capability::AgentConfig], Version::new(1, 2, 0)));
        for exports in [
            &["sepia:driver/session-read@1.0.0"][..],
            &["sepia:driver/identity@1.0.0"],
            &["wasi:cli/run@0.2.0"],
            &["sepia:driver/identity@2.0.0", "sepia:driver/session-read@2.0.0"],
        ] {
            assert_eq!(of(exports).unwrap_err().kind, LoadErrorKind::Contract, "{exports:?}");
        }
    }

    #[test]
    fn what_is_no_component_is_told_apart() {
        let said = |bytes: &[u8]| inspect(bytes, 1 << 20).unwrap_err();
        assert!(said(b"\0asm\x01\0\0\0").message.contains("wasip1"));
        assert!(said(b"  (component)").message.contains("text"));
        assert!(said(b"").message.contains("empty"));
        assert!(said(b"\0asm\x0d").message.contains("header"));
        assert!(said(b"\x7fELF").message.contains("not WebAssembly"));
        assert!(said(b"\0asm\x0d\0\x01\0\x01\xff\xff\xff\x7f").message.contains("cut short"));
        assert_eq!(inspect(&vec![0; 3 << 20], 2 << 20).unwrap_err().kind, LoadErrorKind::File);
    }
}
