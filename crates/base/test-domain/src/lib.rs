//! Reserves ROS domains: only one test of this host uses a domain at a time. So tests in parallel
//! threads and processes affect neither each other nor other programs of the host. Servers of tests
//! get TCP ports from here too.
//!
//! ```
//! use feros_test_domain::ReservedDomain;
//! let (mine, other) = (ReservedDomain::new()?, ReservedDomain::new()?);
//! assert_ne!(mine.id(), other.id()); // values for ROS_DOMAIN_ID
//! # Ok::<(), feros_test_domain::ReserveError>(())
//! ```
//!
//! # Invariants
//!
//! The lock of a domain is a TCP port, which the system releases however the process ends. This
//! crate recognizes programs that do not take the lock by the UDP ports that they have open: DDS
//! computes these ports from the number of the domain.
#![forbid(unsafe_code)]

mod ports;

use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub use ports::free_tcp_port;
use ports::used_udp_ports;

/// The variable that names other domains to choose from, as `FIRST-LAST`.
pub const DOMAINS_VARIABLE: &str = "FEROS_TEST_DOMAINS";

/// The domains that tests choose from by default. The ports of domains up to 101 are below the
/// range from which Linux assigns ports to sockets that do not ask for a certain port, such as the
/// sending sockets of Fast DDS.
const DOMAINS: RangeInclusive<u16> = 20..=100;

/// The largest domain whose ports exist.
const LAST_DOMAIN: u16 = 232;

/// To lock domain `n`, a test takes TCP port `LOCK_PORT + n`.
const LOCK_PORT: u16 = 28_500;

/// How long a test waits for a free domain. If more tests than domains exist, tests wait for each
/// other.
const LONGEST_TURN: Duration = Duration::from_secs(600);

/// The pause before all domains are tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// The reason why no domain was reserved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveError {
    /// The variable `FEROS_TEST_DOMAINS` cannot be used.
    #[error(
        "{DOMAINS_VARIABLE}={} is not FIRST-LAST with numbers up to {LAST_DOMAIN}, such as 20-100",
        feros_wording::harmless(value)
    )]
    Variable {
        /// The value of the variable.
        value: String,
    },
    /// All domains stayed in use.
    #[error(
        "the domains {first} to {last} have been in use for {}: end programs that use them, or \
         name other domains in {DOMAINS_VARIABLE}, such as 20-100",
        feros_wording::duration(*waited)
    )]
    Taken {
        /// The first domain that was tried.
        first: u16,
        /// The last domain that was tried.
        last: u16,
        /// How long the domains were tried.
        waited: Duration,
    },
}

/// A domain that no other test on this host uses while this value exists.
#[derive(Debug)]
pub struct ReservedDomain {
    id: u16,
    _lock: TcpListener,
}

impl ReservedDomain {
    /// Reserves a free domain. Waits up to ten minutes while all domains are in use.
    ///
    /// # Errors
    /// When no domain becomes free, or the variable `FEROS_TEST_DOMAINS` cannot be used.
    pub fn new() -> Result<Self, ReserveError> {
        Self::within(&domains_of(std::env::var_os(DOMAINS_VARIABLE))?, LONGEST_TURN)
    }

    fn within(domains: &RangeInclusive<u16>, longest: Duration) -> Result<Self, ReserveError> {
        // Processes, and the tests of a process, begin with different domains. This saves attempts,
        // and avoids domains that an earlier test has used.
        static RESERVED: AtomicUsize = AtomicUsize::new(0);
        let earlier = RESERVED.fetch_add(1, Ordering::Relaxed);
        let first = (std::process::id() as usize).wrapping_add(earlier) % domains.len();
        let began = Instant::now();
        loop {
            let found = all_from(domains, first).find_map(Self::lock);
            let waited = began.elapsed();
            if let Some(found) = found {
                return Ok(found);
            }
            if waited >= longest {
                let (first, last) = domains.clone().into_inner();
                return Err(ReserveError::Taken { first, last, waited });
            }
            thread::sleep(PAUSE);
        }
    }

    /// Locks a domain, unless a test or another program uses it.
    fn lock(id: u16) -> Option<Self> {
        let lock = TcpListener::bind((Ipv4Addr::LOCALHOST, LOCK_PORT + id)).ok()?;
        let is_used = used_udp_ports().any(|port| ports::domain_of(port) == Some(id));
        (!is_used).then_some(Self { id, _lock: lock })
    }

    /// The domain id, for `ROS_DOMAIN_ID`.
    pub fn id(&self) -> u16 {
        self.id
    }
}

/// All domains, beginning at position `first`.
fn all_from(domains: &RangeInclusive<u16>, first: usize) -> impl Iterator<Item = u16> {
    let count = domains.len();
    domains.clone().cycle().skip(first).take(count)
}

/// The domains that the variable names.
fn domains_of(value: Option<std::ffi::OsString>) -> Result<RangeInclusive<u16>, ReserveError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(DOMAINS) };
    let range = value.to_str().and_then(|text| {
        let (first, last) = text.split_once('-')?;
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    range
        .filter(|range: &RangeInclusive<u16>| !range.is_empty() && *range.end() <= LAST_DOMAIN)
        .ok_or_else(|| ReserveError::Variable { value: value.to_string_lossy().into_owned() })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn every_domain_is_tried_once_whatever_the_beginning() {
        assert_eq!(all_from(&(3..=5), 2).collect::<Vec<_>>(), [5, 3, 4]);
    }

    #[test]
    fn domains_are_different_while_they_are_held() {
        let held = [(); 5].map(|()| ReservedDomain::new().unwrap());
        let mut ids = held.each_ref().map(ReservedDomain::id);
        ids.sort_unstable();
        let chosen = domains_of(std::env::var_os(DOMAINS_VARIABLE)).unwrap();
        assert!(ids.iter().all(|id| chosen.contains(id)), "{ids:?}");
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    }

    #[test]
    fn a_domain_that_another_program_uses_is_left_out() {
        // No other test gets this domain.
        let mut ports = 7400 + 250 * 11..7400 + 250 * 12;
        let other = ports.find_map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok());
        let refused = ReservedDomain::within(&(11..=11), Duration::ZERO).unwrap_err();
        assert!(matches!(refused, ReserveError::Taken { first: 11, last: 11, .. }), "{refused:?}");
        assert!(refused.to_string().contains("end programs that use them"), "{refused}");
        drop(other.expect("the domain has 250 ports"));
    }

    #[test]
    fn the_variable_names_other_domains() {
        let domains = |text: &str| domains_of(Some(text.into()));
        assert_eq!(domains_of(None), Ok(DOMAINS));
        assert_eq!(domains(""), Ok(DOMAINS));
        assert_eq!(domains("7-9"), Ok(7..=9));
        for wrong in ["9-7", "7", "7-x", "7-233", "-"] {
            let refused = domains(wrong).unwrap_err();
            assert_eq!(refused, ReserveError::Variable { value: wrong.to_owned() });
        }
    }
}
