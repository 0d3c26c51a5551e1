//! `sepia driver new`: a driver to start from, which compiles and keeps every law.

use super::args::NewArgs;
use super::exit::Failure;
use super::output;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files of the crate, each with its template.
const FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("Cargo.toml.in")),
    ("README.md", include_str!("README.md.in")),
    (".gitignore", include_str!("gitignore.in")),
    ("src/lib.rs", include_str!("lib.rs.in")),
    ("src/main.rs", include_str!("main.rs.in")),
];

pub(super) fn run(args: &NewArgs) -> Result<(), Failure> {
    check(&args.name)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(format!("sepia-driver-{}", args.name)));
    let sdk = match &args.sdk {
        Some(path) => Some(sdk_at(path).ok_or_else(|| {
            Failure::said(format!("{} is neither a checkout of sepia nor its sdk/driver", path.display()))
        })?),
        None => checkout_around().and_then(|root| sdk_at(&root)),
    };
    write(&folder, &args.name, sdk.as_deref())?;
    let mut out = output::stdout();
    let told = writeln!(out, "{} is a driver that works; its README.md leads to a listed session", folder.display());
    let told = told.and_then(|()| match sdk {
        Some(_) => Ok(()),
        None => {
            writeln!(out, "Its Cargo.toml takes sepia-sdk from the repository; `--sdk PATH` takes it from a checkout")
        }
    });
    told.and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

/// A name must be an id of the contract and a part of a crate's name.
fn check(name: &str) -> Result<(), Failure> {
    let fits = name.len() <= 32
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.ends_with('-')
        && !name.contains("--");
    if fits {
        return Ok(());
    }
    let shown = crate::text::clean_line(name, 80);
    Err(Failure::said(format!(
        "`{shown}` is no name of a driver: 1 to 32 of a-z and 0-9, with single - between, beginning with a letter"
    )))
}

/// The SDK below a checkout, or the SDK itself; absolute.
fn sdk_at(path: &Path) -> Option<PathBuf> {
    let is_sdk = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line.trim() == "name = \"sepia-sdk\"")
    };
    let folders = [path.join("sdk/driver"), path.to_owned()];
    folders.into_iter().find(|folder| is_sdk(folder))?.canonicalize().ok()
}

/// The checkout of sepia that the present directory is in.
fn checkout_around() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|folder| sdk_at(&folder.join("sdk/driver")).is_some()).map(Path::to_owned)
}

fn write(folder: &Path, name: &str, sdk: Option<&Path>) -> Result<(), Failure> {
    let failed = |place: &Path, e: &io::Error| Failure::said(format!("{} can't be written: {e}", place.display()));
    std::fs::create_dir_all(folder.join("src")).map_err(|e| failed(folder, &e))?;
    if let Some((taken, _)) = FILES.iter().find(|(file, _)| folder.join(file).exists()) {
        return Err(Failure::said(format!(
            "{} exists already; name another folder by --dir",
            folder.join(taken).display()
        )));
    }
    let sdk = match sdk {
        Some(path) => format!("sepia-sdk = {{ path = {} }}", quoted(path)),
        None => format!(
            "# Or, with a checkout: sepia-sdk = {{ path = \"…/sdk/driver\" }}\nsepia-sdk = {{ git = {:?} }}",
            env!("CARGO_PKG_REPOSITORY")
        ),
    };
    let crate_name = format!("sepia_driver_{}", name.replace('-', "_"));
    let variable = format!("SEPIA_{}_DIR", name.replace('-', "_").to_ascii_uppercase());
    // With an ending, so that no name is one of the SDK's.
    let type_name = name.split('-').map(capitalised).collect::<String>() + "Driver";
    for (file, template) in FILES {
        let text = template
            .replace("{{name}}", name)
            .replace("{{crate}}", &crate_name)
            .replace("{{type}}", &type_name)
            .replace("{{variable}}", &variable)
            .replace("{{repository}}", env!("CARGO_PKG_REPOSITORY"))
            .replace("{{sdk}}", &sdk);
        let place = folder.join(file);
        std::fs::write(&place, text).map_err(|e| failed(&place, &e))?;
    }
    Ok(())
}

/// A path as a string of TOML, which escapes as JSON does.
fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}
