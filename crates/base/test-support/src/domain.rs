//! DDS domains, each reserved for one test, or for all tests of one process. A test fails if no
//! domain becomes free for it.

use std::sync::OnceLock;

/// A DDS domain that no other test on this host uses while this value exists.
#[derive(Debug)]
pub struct ReservedDomain(feros_test_domain::ReservedDomain);

impl ReservedDomain {
    /// Reserves a free domain. Waits while all domains are in use.
    ///
    /// # Panics
    /// Panics if no domain becomes free.
    pub fn new() -> Self {
        match feros_test_domain::ReservedDomain::new() {
            Ok(domain) => Self(domain),
            Err(error) => panic!("{error}"),
        }
    }

    /// The domain id, for `ROS_DOMAIN_ID`.
    pub fn id(&self) -> u16 {
        self.0.id()
    }
}

impl Default for ReservedDomain {
    fn default() -> Self {
        Self::new()
    }
}

/// The domain that all tests of this process share and that no other process uses.
///
/// # Panics
/// Panics if no domain becomes free.
pub fn own_domain() -> u32 {
    static OWN: OnceLock<ReservedDomain> = OnceLock::new();
    OWN.get_or_init(ReservedDomain::new).id().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_the_process_is_not_given_away() {
        let own = own_domain();
        assert_eq!(own, own_domain());
        assert_ne!(own, u32::from(ReservedDomain::new().id()));
    }
}
