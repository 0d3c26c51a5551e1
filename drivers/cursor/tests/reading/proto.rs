//! The Rust of the protobuf messages is that of the .proto file.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

fn digest(bytes: &[u8]) -> String {
    crate::build::hex(&Sha256::digest(bytes))
}

#[test]
fn the_generated_code_is_current() {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR"));
    let proto = fs::read(driver.join("proto/agent.proto")).unwrap();
    let generated = fs::read_to_string(driver.join("src/proto.rs")).unwrap();
    let lines: Vec<&str> = generated.split_inclusive('\n').collect();
    let (head, body) = lines.split_at(3);
    let digests: Vec<&str> = head[2].trim_end().rsplit(' ').take(2).collect();
    let stale = "run `cargo run --manifest-path drivers/cursor/proto/generate/Cargo.toml`";
    assert_eq!(digests, [digest(body.concat().as_bytes()), digest(&proto)], "{stale}");
}
