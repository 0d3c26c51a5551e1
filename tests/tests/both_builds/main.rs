//! Every driver as a component in its sandbox and as a program: both keep every law, and both
//! answer the same. One of them, the Claude driver, of stores of every kind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]
#![allow(unreachable_pub, clippy::print_stderr, reason = "the modules of a test are all of one program")]

mod agents;
mod both;
mod check_command;
mod claude_cases_changes;
mod claude_cases_lines;
mod claude_cases_places;
mod claude_cases_size;
mod laws;
mod manifests;
mod new_command;
mod program;
mod store;
