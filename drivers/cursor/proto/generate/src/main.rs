//! Makes `src/proto.rs` of `proto/agent.proto`:
//! `cargo run --manifest-path drivers/cursor/proto/generate/Cargo.toml`.

use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const HEAD: &str = "\
//! Cursor's protobuf messages; made by `proto/generate` of `proto/agent.proto`, not by hand.
";
const ALLOWED: &str = "\
#![allow(clippy::pedantic, missing_docs, unreachable_pub, unused_qualifications, reason = \"generated\")]

";

fn main() -> Result<(), Box<dyn Error>> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let proto = driver.join("proto/agent.proto");
    let set = protox::compile([&proto], [driver.join("proto")])?;
    let out = env::temp_dir().join(format!("generate-proto-{}", std::process::id()));
    fs::create_dir_all(&out)?;
    prost_build::Config::new().btree_map(["."]).out_dir(&out).compile_fds(set)?;
    let body = ALLOWED.to_owned() + &fs::read_to_string(out.join("agent.v1.rs"))?;
    fs::remove_dir_all(&out)?;
    let digests = format!("//!\n//! Digests of that file and of what follows: {} {}\n", hex(&fs::read(&proto)?), hex(body.as_bytes()));
    fs::write(driver.join("src/proto.rs"), [HEAD, &digests, &body].concat())?;
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
