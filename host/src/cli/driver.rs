//! `sepia driver`

use super::args::DriverCommand;
use super::exit::Failure;
use super::table::{self, Column};
use super::{output, setup};
use crate::loader::{LoadErrorKind, Origin};
use crate::registry::{Found, Grant, Grants, Registry, State};
use crate::text::clean_line;
use serde_json::{Value, json};
use std::io::Write;

pub(super) async fn run(command: DriverCommand) -> Result<(), Failure> {
    let home = setup::home()?;
    match command {
        DriverCommand::List { json } => {
            let registry = Registry::load(&setup::sources(&home)).await;
            if json { output::json(&as_json(&registry)) } else { print(&registry) }
        }
        DriverCommand::New(args) => super::new::run(&args),
        DriverCommand::Check(args) => super::check::run(args, &home).await,
        DriverCommand::Allow { id } => {
            let registry = Registry::load(&setup::sources(&home)).await;
            let mut grants = Grants::read(&home, &setup::env_text);
            allow(&registry, &mut grants, &id)
        }
        DriverCommand::Revoke { id } => {
            let mut grants = Grants::read(&home, &setup::env_text);
            let had = grants.revoke(&id).map_err(Failure::said)?;
            let shown = clean_line(&id, 80);
            if had {
                output::line(&format!("{shown} is no longer allowed"))
            } else {
                Err(Failure::said(format!("`{shown}` was not allowed")))
            }
        }
    }
}

fn print(registry: &Registry) -> Result<(), Failure> {
    let columns = [
        Column::fixed("ID"),
        Column::fixed("VERSION"),
        Column::fixed("FORM"),
        Column::fixed("STATE"),
        Column::shrinking("CAN", 10),
        Column::shrinking("FROM", 20),
    ];
    let row = |found: &Found| {
        let manifest = found.about.as_ref().map(|about| &about.manifest);
        let text =
            |of: fn(&sepia_ir::Manifest) -> &str| manifest.map_or_else(|| "?".to_owned(), |m| clean_line(of(m), 80));
        let can = found.about.iter().flat_map(|about| &about.capabilities).map(|c| c.name());
        vec![
            text(|m| &m.id),
            text(|m| &m.version),
            found.form.name().to_owned(),
            state(&found.state).to_owned(),
            can.collect::<Vec<_>>().join(","),
            origin(&found.origin),
        ]
    };
    let rows: Vec<_> = registry.found().iter().map(row).collect();
    let mut out = output::stdout();
    let write = || {
        table::print(&mut out, &columns, rows)?;
        for found in registry.found() {
            match &found.state {
                State::InUse => {}
                State::Shadowed { by } => {
                    writeln!(out, "\n{}: {} was found before it", origin(&found.origin), origin(by))?;
                }
                State::Unusable(error) => {
                    writeln!(out, "\n{}: {}", origin(&found.origin), clean_line(&error.message, 1000))?;
                }
            }
            if matches!(&found.state, State::Unusable(error) if error.kind == LoadErrorKind::Blocked) {
                for line in request_lines(found) {
                    writeln!(out, "  it asks for {line}")?;
                }
            }
        }
        out.flush()
    };
    write().map_err(|e| Failure::output(&e))
}

fn allow(registry: &Registry, grants: &mut Grants, id: &str) -> Result<(), Failure> {
    let shown = clean_line(id, 80);
    let of_id = |found: &&Found| found.about.as_ref().is_some_and(|about| about.manifest.id == id);
    let blocked =
        |found: &&Found| matches!(&found.state, State::Unusable(error) if error.kind == LoadErrorKind::Blocked);
    let Some(found) = registry.found().iter().filter(of_id).find(blocked) else {
        let known = registry.found().iter().any(|found| of_id(&found));
        let why = if known { "needs no permission, or is not blocked for lack of it" } else { "was not found" };
        return Err(Failure::said(format!("driver `{shown}` {why}; `sepia driver list` shows all")));
    };
    let Some(sha256) = found.sha256.clone() else {
        return Err(Failure::said(format!("driver `{shown}` is no component; programs need no permission")));
    };
    let stores = request_lines(found);
    let allowed_at = jiff::Timestamp::now().to_string();
    grants.allow(id, Grant { sha256: sha256.clone(), stores: stores.clone(), allowed_at }).map_err(Failure::said)?;
    let mut text =
        format!("{shown} ({}, sha256 {}…) is allowed:", origin(&found.origin), &sha256[..12.min(sha256.len())]);
    for line in stores {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text.push_str("\nA changed file asks again. `sepia driver revoke` takes it back.");
    output::line(&text)
}

/// What a driver asks for, one line a store.
fn request_lines(found: &Found) -> Vec<String> {
    let line = |store: &crate::registry::StorePlace| {
        let place = store.place.as_ref().map_or_else(ToString::to_string, |place| place.path.display().to_string());
        let access = match store.request.access {
            sepia_ir::StoreAccess::Read => "reading",
            sepia_ir::StoreAccess::ReadWrite => "reading and writing",
        };
        format!("{access} {}", clean_line(&place, 4096))
    };
    if found.stores.is_empty() { vec!["no place on disk".to_owned()] } else { found.stores.iter().map(line).collect() }
}

fn as_json(registry: &Registry) -> Value {
    let one = |found: &Found| {
        let (reason, shadowed_by) = match &found.state {
            State::InUse => (None, None),
            State::Shadowed { by } => (None, Some(origin(by))),
            State::Unusable(error) => (Some(json!({ "kind": error.kind.name(), "message": error.message })), None),
        };
        json!({
            "id": found.about.as_ref().map(|about| &about.manifest.id),
            "version": found.about.as_ref().map(|about| &about.manifest.version),
            "form": found.form.name(),
            "origin": origin(&found.origin),
            "sha256": found.sha256,
            "state": state(&found.state),
            "reason": reason,
            "shadowedBy": shadowed_by,
            "capabilities": found.about.iter().flat_map(|about| &about.capabilities).map(|c| c.name()).collect::<Vec<_>>(),
            "asksFor": request_lines(found),
        })
    };
    registry.found().iter().map(one).collect()
}

pub(super) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Embedded => "built in".to_owned(),
        Origin::File(path) => clean_line(&path.to_string_lossy(), 4096),
    }
}

pub(super) fn state(state: &State) -> &'static str {
    match state {
        State::InUse => "in use",
        State::Shadowed { .. } => "shadowed",
        State::Unusable(error) if error.kind == LoadErrorKind::Blocked => "blocked",
        State::Unusable(_) => "unusable",
    }
}
