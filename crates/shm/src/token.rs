//! Random numbers that distinguish processes and publishers. They are announced to everybody, so
//! they are not secret.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU64;
use std::sync::OnceLock;

/// A random number for a new publisher.
pub fn random_id() -> NonZeroU64 {
    loop {
        // The keys of the standard library's maps come from the system's randomness; this is a
        // keyed hash.
        if let Some(id) = NonZeroU64::new(RandomState::new().hash_one("feros")) {
            return id;
        }
    }
}

/// A random number that this process keeps, so that another process that gets the same id later is
/// not mistaken for it.
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
