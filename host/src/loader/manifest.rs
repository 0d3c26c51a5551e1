//! What a driver says of itself, checked and cleaned before anybody acts on it.

use crate::loader::{LoadError, LoadErrorKind};
use crate::text::{clean_line, is_plain};
use sepia_ir::{Manifest, StoreRequest};
use std::collections::HashSet;

const MOST_STORES: usize = 16;
const MOST_VARIABLES: usize = 8;
const MOST_LINK_PLACES: usize = 8;
const MOST_WORDS: usize = 64;
const MOST_PATH: usize = 1 << 10;
const MOST_SCHEMA: usize = 256 << 10;

/// Refuses what can't be a manifest; the label, which is for people only, is cleaned.
pub(crate) fn check(mut manifest: Manifest) -> Result<Manifest, LoadError> {
    if !is_name(&manifest.id) {
        return wrong(format!(
            "its id `{}` is none: an id has 1 to 32 of a-z, 0-9 and -, and begins with a letter",
            clean_line(&manifest.id, 80)
        ));
    }
    if let Err(error) = semver::Version::parse(&manifest.version) {
        return wrong(format!("its version `{}` is no semantic version: {error}", clean_line(&manifest.version, 80)));
    }
    if manifest.backend_type.is_empty() || manifest.backend_type.len() > 64 || !is_plain(&manifest.backend_type) {
        return wrong("its backend-type is empty, longer than 64 bytes, or has control characters in it");
    }
    manifest.label = clean_line(manifest.label.trim(), 80);
    if manifest.label.is_empty() {
        manifest.label.clone_from(&manifest.id);
    }
    if manifest.stores.len() > MOST_STORES {
        return wrong(format!("it asks for {} stores; {MOST_STORES} is the most", manifest.stores.len()));
    }
    let mut names = HashSet::new();
    for store in &manifest.stores {
        check_store(store)?;
        if !names.insert(&store.name) {
            return wrong(format!("it declares the store `{}` twice", store.name));
        }
    }
    let words = &manifest.agent_command;
    if words.len() > MOST_WORDS || words.iter().any(|word| word.len() > MOST_PATH || !is_plain(word)) {
        return wrong("its agent-command is longer than can be, or has control characters in it");
    }
    if words.first().is_some_and(String::is_empty) {
        return wrong("its agent-command begins with an empty word");
    }
    let schema = &manifest.config_schema;
    if schema.len() > MOST_SCHEMA || serde_json::from_str::<serde::de::IgnoredAny>(schema).is_err() {
        return wrong(format!("its config-schema is no JSON value of at most {} KiB", MOST_SCHEMA >> 10));
    }
    Ok(manifest)
}

fn check_store(store: &StoreRequest) -> Result<(), LoadError> {
    if !is_name(&store.name) {
        return wrong(format!(
            "the store name `{}` is none: a name has 1 to 32 of a-z, 0-9 and -, and begins with a letter",
            clean_line(&store.name, 80)
        ));
    }
    let name = &store.name;
    if store.env.len() > MOST_VARIABLES || !store.env.iter().all(|variable| is_variable(variable)) {
        return wrong(format!("an environment variable of store `{name}` has a name that none can have"));
    }
    let path = &store.default_path;
    if path.is_empty() || path.len() > MOST_PATH || !is_plain(path) || path.split('/').any(|part| part == "..") {
        return wrong(format!(
            "the default path of store `{name}` is empty, too long, or has `..` or control characters in it"
        ));
    }
    let places = &store.follow_links_in;
    if places.len() > MOST_LINK_PLACES || !places.iter().all(|place| is_beneath(place)) {
        return wrong(format!(
            "a follow-links-in path of store `{name}` leads out of it; each is relative, with `/` between its parts"
        ));
    }
    Ok(())
}

fn wrong<T>(message: impl Into<String>) -> Result<T, LoadError> {
    Err(LoadError::new(LoadErrorKind::Manifest, format!("the manifest is wrong: {}", message.into())))
}

/// Whether this can be the id of a driver, or the name of a store.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 32
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// The name of an environment variable; behind it may stand a path below what it holds, or `/..`
/// for the directory that its place is in.
fn is_variable(entry: &str) -> bool {
    let (name, below) = entry.split_once('/').map_or((entry, None), |(name, below)| (name, Some(below)));
    below.is_none_or(|below| below == ".." || (!below.is_empty() && is_beneath(below)))
        && name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A directory beneath the store, `""` for the store itself.
fn is_beneath(path: &str) -> bool {
    path.is_empty()
        || (path.len() <= MOST_PATH && is_plain(path) && path.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::check;
    use sepia_ir::{Manifest, StoreAccess, StoreKind, StoreRequest};

    fn good() -> Manifest {
        Manifest {
            id: "example-1".into(),
            label: "Example".into(),
            version: "1.2.3-rc.1".into(),
            backend_type: "example".into(),
            stores: vec![StoreRequest {
                name: "sessions".into(),
                env: vec!["EXAMPLE_HOME".into()],
                default_path: "~/.example".into(),
                kind: StoreKind::Directory,
                access: StoreAccess::Read,
                follow_links_in: vec![String::new(), "projects/all".into()],
            }],
            agent_command: vec!["example".into(), "--acp".into()],
            config_schema: r#"{"type":"object"}"#.into(),
        }
    }

    #[test]
    fn a_good_manifest_passes_as_it_is() {
        assert_eq!(check(good()).unwrap(), good());
    }

    #[test]
    fn the_label_is_cleaned_and_never_empty() {
        let labelled = |label: &str| check(Manifest { label: label.into(), ..good() }).unwrap().label;
        assert_eq!(labelled("\x1b[2JEx\nample\u{202e}"), "Ex\\nample");
        assert_eq!(labelled("\x07"), "example-1");
    }

    #[test]
    fn each_wrong_part_is_named() {
        let said = |change: &dyn Fn(&mut Manifest)| {
            let mut manifest = good();
            change(&mut manifest);
            check(manifest).unwrap_err().message
        };
        for id in ["", "Example", "1st", "a/b", "../x", "a\0", "abcdefghijklmnopqrstuvwxyz0123456"] {
            assert!(said(&|m| m.id = id.into()).contains("its id"), "{id:?}");
        }
        for version in ["", "1.2", "v1.2.3", "latest"] {
            assert!(said(&|m| m.version = version.into()).contains("version"), "{version:?}");
        }
        for place in ["/etc", "..", "a/../b", "a//b", "a/", "./a", "a\nb"] {
            assert!(
                said(&|m| m.stores[0].follow_links_in = vec![place.into()]).contains("follow-links-in"),
                "{place:?}"
            );
        }
        for variable in
            ["", "A B", "1A", "A=B", "PATH\0", "/..", "A/../..", "A/", "A/../B", "A//b", "/A", "A/./b", "A/b/.."]
        {
            assert!(
                said(&|m| m.stores[0].env = vec![variable.into()]).contains("environment variable"),
                "{variable:?}"
            );
        }
        for path in ["", "~/../x", "a\x1b[2J"] {
            assert!(said(&|m| m.stores[0].default_path = path.into()).contains("default path"), "{path:?}");
        }
        assert!(said(&|m| m.stores[0].name = "A".into()).contains("store name"));
        assert!(said(&|m| m.stores.push(m.stores[0].clone())).contains("twice"));
        assert!(said(&|m| m.stores = vec![m.stores[0].clone(); 17]).contains("17 stores"));
        assert!(said(&|m| m.config_schema = "{".into()).contains("config-schema"));
        assert!(said(&|m| m.agent_command = vec!["a\nb".into()]).contains("agent-command"));
        assert!(said(&|m| m.backend_type = String::new()).contains("backend-type"));
    }
}
