//! `sepia driver check`

use super::args::CheckArgs;
use super::exit::Failure;
use super::table::{self, Column};
use super::{driver, output, setup};
use crate::conformance::{DriverSubject, Places, Trial, copy_store};
use crate::home::Home;
use crate::loader::{Driver, Form, Origin};
use crate::registry::{Registry, Setup, State};
use crate::text::clean_line;
use sepia_conformance::{Outcome, Report, Suite};
use sepia_ir::{StoreAccess, StoreKind};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Handle;

/// `NAME=DIR`
pub(super) fn store(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, place)) if !name.is_empty() && !place.is_empty() => Ok((name.to_owned(), PathBuf::from(place))),
        _ => Err("write it as NAME=DIR".to_owned()),
    }
}

pub(super) async fn run(args: CheckArgs, home: &Home) -> Result<(), Failure> {
    let setup = setup::sources(home);
    let trial = bring_in(&args.driver, &setup).await?;
    let scratch = tempfile::Builder::new().prefix("sepia-check-").tempdir();
    let scratch = scratch.map_err(|e| Failure::said(format!("there is no room for copies of the stores: {e}")))?;
    let mut shown = Shown::of(&trial);
    let places = prepare(&trial, &args.stores, &scratch, &mut shown.notes)?;
    let driver = trial.over(&places).map_err(Failure::said)?;
    if driver.session_read().is_none() {
        return Err(Failure::said("it reads no sessions, and there are no laws for what else a driver does yet"));
    }
    let report = tried(&driver, &places).await;
    driver.shutdown().await;
    let report = report?;
    if report.sessions() == 0 {
        shown.notes.push("no session was read; give it stores with sessions by --store NAME=DIR".to_owned());
    }
    if args.json { output::json(&shown.as_json(&report)) } else { shown.print(&report) }?;
    let broken = report.failures().len();
    if broken == 0 {
        Ok(())
    } else {
        Err(Failure::said(format!("{broken} outcomes break a law; each names its session")))
    }
}

/// A file that is a driver, or the driver of that id.
async fn bring_in(driver: &str, setup: &Setup) -> Result<Trial, Failure> {
    let path = Path::new(driver);
    if path.is_file() {
        let is_component = path.extension().is_some_and(|ending| ending == "wasm");
        let form = if is_component { Form::Component } else { Form::Process };
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        return from(driver, &Origin::File(path), form, setup).await;
    }
    let registry = Registry::load(setup).await;
    registry.shutdown().await;
    let of_id = registry.found().iter().filter(|found| found.about.as_ref().is_some_and(|a| a.manifest.id == driver));
    let found = of_id.min_by_key(|found| !matches!(found.state, State::InUse));
    let Some(found) = found else {
        let shown = clean_line(driver, 200);
        let message = format!("`{shown}` is no file and no driver of that id was found; `sepia driver list` shows all");
        return Err(Failure::said(message));
    };
    from(driver, &found.origin, found.form, setup).await
}

/// `id` names a component that is built in: there the folder, which names it, is the id.
async fn from(id: &str, origin: &Origin, form: Form, setup: &Setup) -> Result<Trial, Failure> {
    let limits = setup.limits.clone();
    let refused = |error| Failure::said(format!("{} can't be used: {error}", driver::origin(origin)));
    match (origin, form) {
        (Origin::File(path), Form::Process) => Trial::program(path, limits).await.map_err(refused),
        (Origin::File(path), Form::Component) => {
            let unreadable = |e| Failure::said(format!("{} can't be read: {e}", driver::origin(origin)));
            let length = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
            if length > limits.component_file {
                let (has, may) = (length >> 20, limits.component_file >> 20);
                let message =
                    format!("the file has {has} MiB and a driver may have {may} MiB; SEPIA_DRIVER_FILE_MB raises that");
                return Err(Failure::said(message));
            }
            let wasm = tokio::fs::read(path).await.map_err(unreadable)?;
            Trial::component(&wasm, origin.clone(), limits, None).await.map_err(refused)
        }
        (Origin::File(_), Form::Library) => {
            Err(Failure::said("native libraries are not brought in by this build; check the component or the program"))
        }
        (Origin::Embedded, _) => {
            let bytes = setup.embedded.iter().find(|built_in| built_in.name == id).map(|built_in| built_in.wasm);
            let bytes = bytes.ok_or_else(|| Failure::said("it is not built into this program"))?;
            let cache = Some(setup.home.component_cache());
            Trial::component(bytes, Origin::Embedded, limits, cache).await.map_err(refused)
        }
    }
}

/// Copies of the stores that were given, and empty folders for the others.
fn prepare(
    trial: &Trial,
    given: &[(String, PathBuf)],
    scratch: &TempDir,
    notes: &mut Vec<String>,
) -> Result<Places, Failure> {
    let mut places = Places { stores: Vec::new(), home: Some(scratch.path().join("home")) };
    let failed = |place: &Path, e: std::io::Error| Failure::said(format!("{} can't be copied: {e}", place.display()));
    let folder = scratch.path().join("stores");
    for place in [&folder, &scratch.path().join("home")] {
        std::fs::create_dir(place).map_err(|e| failed(place, e))?;
    }
    for (at, (name, place)) in given.iter().enumerate() {
        trial.check_name(name).map_err(Failure::said)?;
        if given[..at].iter().any(|(other, _)| other == name) {
            return Err(Failure::said(format!("the store `{name}` is given twice")));
        }
        let to = folder.join(name);
        let left_out = copy_store(place, &to).map_err(|e| failed(place, e))?;
        let told = left_out.iter().take(10).map(|path| clean_line(&path.to_string_lossy(), 200));
        notes.extend(
            told.map(|path| format!("`{path}` of the store `{name}` is no file or leads out of it; it was not copied")),
        );
        if left_out.len() > 10 {
            notes.push(format!("{} more places of the store `{name}` were not copied", left_out.len() - 10));
        }
        places.stores.push((name.clone(), to));
    }
    for request in trial.stores() {
        let to = folder.join(&request.name);
        // A program without a variable for it finds nothing below the home that it is given.
        let movable = trial.about().form == Form::Component || !request.env.is_empty();
        if movable && places.stores.iter().all(|(name, _)| *name != request.name) {
            if request.kind == StoreKind::Directory {
                std::fs::create_dir(&to).map_err(|e| failed(&to, e))?;
            }
            places.stores.push((request.name.clone(), to));
        }
    }
    Ok(places)
}

/// Runs the suite on a thread that may wait.
async fn tried(driver: &Arc<dyn Driver>, places: &Places) -> Result<Report, Failure> {
    let (driver, places, runtime) = (Arc::clone(driver), places.clone(), Handle::current());
    let suite = tokio::task::spawn_blocking(move || {
        let subject = DriverSubject::new(driver.session_read()?, runtime);
        let suite = places.stores.iter().fold(Suite::new(&subject), |suite, (_, place)| suite.on_store(place));
        Some(suite.run())
    });
    match suite.await {
        Ok(Some(report)) => Ok(report),
        Ok(None) => Err(Failure::said("it reads no sessions any more")),
        Err(e) => Err(Failure::said(format!("the suite broke off, which is a fault of sepia's own: {e}"))),
    }
}

/// What people are told of the driver, beside the report.
struct Shown {
    id: String,
    label: String,
    version: String,
    form: Form,
    origin: Origin,
    capabilities: Vec<&'static str>,
    imports: Vec<String>,
    asks_for: Vec<String>,
    notes: Vec<String>,
}

impl Shown {
    fn of(trial: &Trial) -> Self {
        let about = trial.about();
        let manifest = &about.manifest;
        let asks_for = manifest.stores.iter().map(|store| {
            let access = match store.access {
                StoreAccess::Read => "reading",
                StoreAccess::ReadWrite => "reading and writing",
            };
            let moved =
                if store.env.is_empty() { String::new() } else { format!(", moved by {}", store.env.join(", ")) };
            format!("{access} `{}`: {}{moved}", store.name, clean_line(&store.default_path, 1000))
        });
        Self {
            id: manifest.id.clone(),
            label: manifest.label.clone(),
            version: manifest.version.clone(),
            form: about.form,
            origin: about.origin.clone(),
            capabilities: about.capabilities.iter().map(|capability| capability.name()).collect(),
            imports: trial.imports().iter().map(|import| clean_line(import, 200)).collect(),
            asks_for: asks_for.collect(),
            notes: Vec::new(),
        }
    }

    fn as_json(&self, report: &Report) -> Value {
        let laws: Vec<Value> = by_law(report)
            .into_iter()
            .map(|law| json!({ "law": law.name, "tried": law.tried, "broken": law.broken }))
            .collect();
        let failure =
            |outcome: &&Outcome| json!({ "law": outcome.law, "session": outcome.session, "message": outcome.message });
        json!({
            "id": self.id,
            "label": self.label,
            "version": self.version,
            "form": self.form.name(),
            "origin": driver::origin(&self.origin),
            "capabilities": self.capabilities,
            "imports": self.imports,
            "asksFor": self.asks_for,
            "notes": self.notes,
            "sessions": report.sessions(),
            "laws": laws,
            "failures": report.failures().iter().map(failure).collect::<Vec<_>>(),
        })
    }

    fn print(&self, report: &Report) -> Result<(), Failure> {
        let mut out = output::stdout();
        let rows = by_law(report).into_iter().map(|law| {
            let verdict = if law.broken == 0 { "holds".to_owned() } else { format!("broken {} times", law.broken) };
            vec![law.name.to_owned(), law.tried.to_string(), verdict]
        });
        let rows: Vec<_> = rows.collect();
        let columns = [Column::fixed("LAW"), Column::fixed("TRIED"), Column::fixed("VERDICT")];
        let write = || {
            writeln!(
                out,
                "{} ({}) {}, {} from {}",
                self.id,
                self.label,
                self.version,
                self.form.name(),
                driver::origin(&self.origin)
            )?;
            writeln!(out, "can: {}", self.capabilities.join(", "))?;
            for line in &self.asks_for {
                writeln!(out, "asks for {line}")?;
            }
            for import in &self.imports {
                writeln!(out, "imports {import}")?;
            }
            for note in &self.notes {
                writeln!(out, "note: {note}")?;
            }
            writeln!(out, "sessions read: {}\n", report.sessions())?;
            table::print(&mut out, &columns, rows)?;
            for outcome in report.failures() {
                writeln!(out, "\n{}", clean_line(&outcome.to_string(), 2000))?;
            }
            out.flush()
        };
        write().map_err(|e| Failure::output(&e))
    }
}

struct Law {
    name: &'static str,
    tried: usize,
    broken: usize,
}

/// Each law once, in the order in which they were tried first.
fn by_law(report: &Report) -> Vec<Law> {
    let mut laws: Vec<Law> = Vec::new();
    for outcome in report.outcomes() {
        let broken = usize::from(!outcome.ok);
        match laws.iter_mut().find(|law| law.name == outcome.law) {
            Some(law) => {
                law.tried += 1;
                law.broken += broken;
            }
            None => laws.push(Law { name: outcome.law, tried: 1, broken }),
        }
    }
    laws
}
