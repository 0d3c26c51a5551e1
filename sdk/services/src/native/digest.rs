//! Checksums.

use sha2::{Digest, Sha256};

/// SHA-256, with the instructions that this machine has for it.
pub fn sha256(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn it_is_the_sum_of_the_standard() {
        // FIPS 180-2, appendix B.1: "abc".
        let sum: [u32; 8] =
            [0xba78_16bf, 0x8f01_cfea, 0x4141_40de, 0x5dae_2223, 0xb003_61a3, 0x9617_7a9c, 0xb410_ff61, 0xf200_15ad];
        assert_eq!(sha256(b"abc").as_chunks::<4>().0, sum.map(u32::to_be_bytes));
    }
}
