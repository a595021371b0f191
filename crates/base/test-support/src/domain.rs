//! DDS domains that are each used by only one test or one process, so that tests in parallel
//! threads and processes do not affect each other.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The domains that tests choose from, unless `FEROS_TEST_DOMAINS=FIRST-LAST` specifies others. The
/// ports of domains up to 101 are below the range from which Linux assigns ports to sockets that do
/// not ask for a certain port, such as the sending sockets of Fast DDS.
const DOMAINS: RangeInclusive<u16> = 20..=100;

/// To lock domain `n`, a test takes TCP port `LOCK_PORT + n`. The system frees the port no matter
/// how the process ends.
const LOCK_PORT: u16 = 28_500;

/// How long a test waits for a free domain. If more tests than domains exist, tests wait for each
/// other.
const LONGEST_TURN: Duration = Duration::from_secs(600);

/// A DDS domain that no other test on this host uses while this value exists.
#[derive(Debug)]
pub struct ReservedDomain {
    id: u16,
    _lock: TcpListener,
}

impl ReservedDomain {
    /// Reserves a free domain. Waits while all domains are in use.
    ///
    /// # Panics
    /// Panics if no domain becomes free.
    pub fn new() -> Self {
        let domains = chosen_domains();
        // Different processes begin with different domains. This saves attempts, and avoids domains
        // that an earlier test has used.
        let first = std::process::id() as usize % domains.len();
        let began = Instant::now();
        loop {
            for id in all_from(domains.clone(), first) {
                if let Ok(lock) = TcpListener::bind((Ipv4Addr::LOCALHOST, LOCK_PORT + id)) {
                    return Self { id, _lock: lock };
                }
            }
            let (first, last) = domains.clone().into_inner();
            assert!(
                began.elapsed() < LONGEST_TURN,
                "DDS domains {first} to {last} stay in use by other tests"
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The domain id, for `ROS_DOMAIN_ID`.
    pub fn id(&self) -> u16 {
        self.id
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

/// All domains, beginning at position `first`.
fn all_from(domains: RangeInclusive<u16>, first: usize) -> impl Iterator<Item = u16> {
    let count = domains.len();
    domains.cycle().skip(first).take(count)
}

fn chosen_domains() -> RangeInclusive<u16> {
    let Ok(text) = std::env::var("FEROS_TEST_DOMAINS") else { return DOMAINS };
    let range = text
        .split_once('-')
        .and_then(|(first, last)| Some(first.parse().ok()?..=last.parse().ok()?));
    match range {
        Some(range) if !range.is_empty() && *range.end() <= 232 => range,
        _ => panic!("FEROS_TEST_DOMAINS={text:?} is not FIRST-LAST with numbers up to 232"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_is_tried_once_whatever_the_beginning() {
        assert_eq!(all_from(3..=5, 2).collect::<Vec<_>>(), [5, 3, 4]);
    }

    #[test]
    fn domains_are_different_while_they_are_held() {
        let held = [(); 5].map(|()| ReservedDomain::new());
        let mut ids = held.each_ref().map(ReservedDomain::id);
        ids.sort_unstable();
        assert!(ids.iter().all(|id| chosen_domains().contains(id)), "{ids:?}");
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        assert!(!ids.map(u32::from).contains(&own_domain()));
    }
}
