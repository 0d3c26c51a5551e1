//! What a program says of itself, as the manifest that every driver has.

use crate::loader::{LoadError, manifest};
use sepia_ir::Manifest;
use sepia_ir::driver_wire::WireManifest;

/// Fails when something in it is what none may have.
pub(super) fn manifest(said: WireManifest) -> Result<Manifest, LoadError> {
    let backend_type = said.backend_type.filter(|name| !name.is_empty());
    let words = said.agent_command.unwrap_or_default();
    manifest::check(Manifest {
        backend_type: backend_type.unwrap_or_else(|| said.id.clone()),
        id: said.id,
        label: said.label,
        version: version(&said.version),
        stores: said.stores,
        agent_command: words.split_whitespace().map(str::to_owned).collect(),
        config_schema: said.config_schema,
    })
}

/// The wire asks for no form of a version: what is short is filled up, what is none at all
/// becomes the lowest.
fn version(said: &str) -> String {
    let said = said.trim();
    let forms = [said.to_owned(), format!("{said}.0"), format!("{said}.0.0")];
    let fits = |form: &String| semver::Version::parse(form).is_ok();
    forms.into_iter().find(fits).unwrap_or_else(|| "0.0.0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_of_any_form_pass() {
        for (said, expected) in
            [("1.2.3-rc.1", "1.2.3-rc.1"), (" 1.2 ", "1.2.0"), ("7", "7.0.0"), ("", "0.0.0"), ("nightly", "0.0.0")]
        {
            assert_eq!(version(said), expected);
        }
    }
}
