//! `sepia doctor`: what was looked for where, what is missing, and what to do.

use super::driver::{origin, state};
use super::exit::Failure;
use super::{output, setup};
use crate::plane::{Plane, PlaneConfig};
use crate::registry::{Found, Registry, Setup, State};
use crate::text::clean_line;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) async fn run() -> Result<(), Failure> {
    let home = setup::home()?;
    let sources = setup::sources(&home);
    let plane = Plane::new(sources.clone(), home, PlaneConfig::from_env(&setup::env_text), sources.limits.clone());
    let mut out = output::stdout();
    let mut advice = Vec::new();
    write_places(&mut out, &sources, &mut advice).map_err(|e| Failure::output(&e))?;
    write_drivers(&mut out, plane.registry().await, &mut advice).map_err(|e| Failure::output(&e))?;
    write_stores(&mut out, &plane, &mut advice).await?;
    write_advice(&mut out, &advice).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

fn write_places(out: &mut impl Write, sources: &Setup, advice: &mut Vec<String>) -> io::Result<()> {
    writeln!(out, "sepia {}", env!("CARGO_PKG_VERSION"))?;
    let own = sources.home.root();
    writeln!(out, "  own files  {}{}", own.display(), if own.exists() { "" } else { " (made when needed)" })?;
    if own.exists() && !own.is_dir() {
        advice.push(format!("{} is no folder: move it away, or set SEPIA_HOME to another folder.", own.display()));
    } else if own.exists() && !is_writable(own) {
        advice.push(format!(
            "{} can't be written to: give yourself access, or set SEPIA_HOME to another folder.",
            own.display()
        ));
    }
    let overlay = sources.home.meta();
    if !overlay.starts_with(own) {
        writeln!(
            out,
            "  overlay    {}{}",
            overlay.display(),
            if overlay.exists() { "" } else { " (made when needed)" }
        )?;
    }
    for aside in kept_aside(overlay) {
        advice.push(format!(
            "{} is what a damaged file of titles, pins and projects held: take out of it what you miss, then delete it.",
            clean_line(&aside.to_string_lossy(), 4096)
        ));
    }
    for folder in &sources.sources.folders {
        writeln!(out, "  drivers    {}{}", folder.display(), if folder.exists() { "" } else { " (not there)" })?;
    }
    writeln!(out, "  drivers    built in\n  drivers    sepia-driver-* on PATH, {} folders", sources.sources.path.len())
}

/// Damaged files that were kept beside the overlay.
fn kept_aside(overlay: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (overlay.parent(), overlay.file_name()) else { return Vec::new() };
    // A folder that can't be read is told of by whoever needs the file itself.
    let Ok(files) = folder.read_dir() else { return Vec::new() };
    let begins = format!("{}.corrupt-", name.to_string_lossy());
    let mut found: Vec<PathBuf> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begins)))
        .collect();
    found.sort_unstable();
    found
}

fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

fn write_drivers(out: &mut impl Write, registry: &Registry, advice: &mut Vec<String>) -> io::Result<()> {
    writeln!(out, "\ndrivers")?;
    for found in registry.found() {
        let name = found.about.as_ref().map_or("?", |about| &about.manifest.id);
        writeln!(
            out,
            "  {:<12} {:<10} {:<9} {}",
            clean_line(name, 32),
            state(&found.state),
            found.form.name(),
            origin(&found.origin)
        )?;
        if let State::Unusable(error) = &found.state {
            writeln!(out, "  {:<12} {}", "", clean_line(&error.message, 1000))?;
            advice.push(format!("Driver {}: {}.", origin(&found.origin), clean_line(&error.message, 1000)));
        }
    }
    Ok(())
}

async fn write_stores(out: &mut impl Write, plane: &Plane, advice: &mut Vec<String>) -> Result<(), Failure> {
    let sink = |e: io::Error| Failure::output(&e);
    writeln!(out, "\nstores").map_err(sink)?;
    let in_use = |found: &&Found| matches!(found.state, State::InUse);
    let registry = plane.registry().await;
    let agents = plane.agents().await;
    for found in registry.found().iter().filter(in_use) {
        let Some(about) = &found.about else { continue };
        let id = &about.manifest.id;
        for store in &found.stores {
            let (place, moved) = match &store.place {
                Ok(place) => (place.path.display().to_string(), place.moved_by.as_ref()),
                Err(error) => (error.to_string(), None),
            };
            let there = if store.exists { "" } else { " (not there)" };
            let moved = moved.map(|name| format!(" (moved by {name})")).unwrap_or_default();
            writeln!(out, "  {id:<12} {}{there}{moved}", clean_line(&place, 4096)).map_err(sink)?;
            if !store.exists {
                let variables = store.request.env.join(" or ");
                advice.push(format!(
                    "{}: nothing at {}. If its sessions are elsewhere, set {variables}.",
                    about.manifest.label,
                    clean_line(&place, 4096)
                ));
            }
        }
        let Some(reader) = registry.driver(id).and_then(|driver| driver.session_read()) else { continue };
        match reader.scan().await {
            Ok(report) => {
                let bytes: u64 = report.entries.iter().map(|entry| entry.bytes).sum();
                writeln!(out, "  {:<12} {} transcripts, {} MB", "", report.entries.len(), bytes.div_ceil(1_000_000))
                    .map_err(sink)?;
                for warning in report.warnings {
                    writeln!(out, "  {:<12} ! {}", "", clean_line(&warning.message, 400)).map_err(sink)?;
                }
            }
            Err(fault) => {
                let said = clean_line(&fault.to_string(), 1000);
                writeln!(out, "  {:<12} ! {said}", "").map_err(sink)?;
                advice.push(format!("The store of {} could not be read: {said}.", about.manifest.label));
            }
        }
        let runtime = agents.iter().find(|agent| agent.id == *id).and_then(|agent| agent.runtime.as_ref());
        if let Some(runtime) = runtime {
            let word = clean_line(&runtime.command.join(" "), 200);
            let found = if runtime.installed { "found" } else { "not found: its sessions can't go live" };
            let named = runtime.variable.as_ref().map(|name| format!(" (named by {name})")).unwrap_or_default();
            writeln!(out, "  {:<12} agent program {word}: {found}{named}", "").map_err(sink)?;
        }
    }
    Ok(())
}

fn write_advice(out: &mut impl Write, advice: &[String]) -> io::Result<()> {
    if advice.is_empty() {
        return writeln!(out, "\nNothing is missing.");
    }
    writeln!(out, "\nwhat to do")?;
    advice.iter().try_for_each(|line| writeln!(out, "  - {line}"))
}
