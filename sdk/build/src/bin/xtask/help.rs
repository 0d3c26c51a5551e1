//! `cargo xtask help`.

use crate::console::Console;

const COMMANDS: &[(&str, &str)] = &[
    ("demo", "build, then show a session with `sepia serve` on sample stores, and your own sessions"),
    ("test", "format check, clippy, build, all tests, and a summary: what CI runs"),
    ("build", "add the wasm target when it is missing, build everything in release"),
    ("bench", "time the release program beside bare native ones (--quick, --store DIR, --rounds N)"),
    ("agents", "resume converted sessions with Claude Code and Cline (--only claude|cline, --keep, --self-check)"),
    ("guests", "build the guests that misbehave, for the tests of the loader"),
    ("fmt", "format all code"),
    ("schema", "write the checked-in JSON Schema of the wire anew"),
    ("help", "this list"),
];

pub(crate) fn print(console: &Console) {
    console.say(&format!("{}  cargo xtask <command>", console.bold("Usage:")));
    console.say("");
    for (name, what) in COMMANDS {
        console.say(&format!("  {name:<8}{what}"));
    }
}
