//! `digest`: checksums.

use super::{Reach, contract::digest::Host};
use wasmtime::Result;

impl Host for Reach {
    async fn sha256(&mut self, content: Vec<u8>) -> Result<(u64, u64, u64, u64)> {
        let sum = sepia_services::sha256(&content);
        let [a, b, c, d] = *sum.as_chunks::<8>().0 else {
            return Err(wasmtime::Error::msg("a SHA-256 has four parts of eight bytes"));
        };
        let [a, b, c, d] = [a, b, c, d].map(u64::from_be_bytes);
        Ok((a, b, c, d))
    }
}
