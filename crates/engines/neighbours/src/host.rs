//! Tells which processes can be neighbours: those of the same host and the same network, in which
//! the same settings choose whom they discover. Others must not even see each other's files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::JoinError;

/// Names the network namespace. Processes in different ones cannot reach each other by the network.
const NETWORK: &str = "/proc/self/ns/net";
/// Differs between hosts, and between two starts of one host.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A number that is the same for all processes that can be neighbours under these `circumstances`.
pub(crate) fn number(circumstances: &str) -> Result<u64, JoinError> {
    let failed = |path: &str, cause: io::Error| JoinError::Host {
        path: path.into(),
        cause: cause.to_string(),
    };
    let network = fs::read_link(NETWORK).map_err(|cause| failed(NETWORK, cause))?;
    let boot =
        feros_files::read_to_string(Path::new(BOOT), 100).map_err(|cause| failed(BOOT, cause))?;
    let parts = [circumstances.as_bytes(), network.as_os_str().as_encoded_bytes(), boot.as_bytes()];
    // The separator is no byte of UTF-8, so no two lists of parts are the same bytes.
    Ok(fnv_1a(&parts.join(&0xff)))
}

/// FNV-1a. The hasher of the standard library may differ between the compilers of two processes.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A name that no other neighbourhood has.
pub(crate) fn random_name() -> Result<u64, JoinError> {
    const RANDOM: &str = "/dev/urandom";
    let mut bytes = [0; 8];
    match File::open(RANDOM).and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(u64::from_le_bytes(bytes)),
        Err(cause) => Err(JoinError::Host { path: RANDOM.into(), cause: cause.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn only_the_same_circumstances_have_the_same_number() {
        assert_eq!(number("one").unwrap(), number("one").unwrap());
        assert_ne!(number("one").unwrap(), number("two").unwrap());
        assert_ne!(random_name().unwrap(), random_name().unwrap());
    }
}
