//! `cargo xtask schema`: writes the checked-in description of the wire anew, from the program.

use crate::Context;
use crate::build;
use crate::failure::Failure;
use std::fs;
use std::process::{Command, Stdio};

/// Where it is kept, relative to the root. A test compares it to what the program prints.
const FILE: &str = "host/schema/serve.json";

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let program = build::program(context)?;
    let output = Command::new(program)
        .arg("schema")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("`sepia schema` could not be run ({error})")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::new("`sepia schema` failed: see what it says above").with_details(said));
    }
    if serde_json::from_slice::<serde_json::Value>(&output.stdout).is_err() {
        return Err(Failure::new("`sepia schema` printed something that is no JSON; the file was left as it is"));
    }
    let path = context.root.join(FILE);
    if fs::read(&path).is_ok_and(|old| old == output.stdout) {
        context.console.say(&format!("{FILE} is up to date."));
        return Ok(());
    }
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&path, &output.stdout))
        .map_err(|error| Failure::new(format!("{FILE} can't be written ({error}): check its permissions")))?;
    context.console.say(&format!("{FILE} is written; look at the difference before you commit it."));
    Ok(())
}
