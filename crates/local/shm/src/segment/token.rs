//! Random numbers that distinguish processes and publishers. The numbers are announced, so they are
//! not secret.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU64;
use std::sync::OnceLock;

/// Returns a random number for a new publisher.
pub fn random_id() -> NonZeroU64 {
    loop {
        // The hash is random, because its key is random: the standard library takes the keys of its
        // maps from the random numbers of the system.
        if let Some(id) = NonZeroU64::new(RandomState::new().hash_one("feros")) {
            return id;
        }
    }
}

/// Returns the random number of this process, which never changes. It prevents a later process with
/// the same process id from being mistaken for this process.
pub fn process_token() -> NonZeroU64 {
    static TOKEN: OnceLock<NonZeroU64> = OnceLock::new();
    *TOKEN.get_or_init(random_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_the_process_keeps_its_own() {
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| random_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert_eq!(process_token(), process_token());
    }
}
