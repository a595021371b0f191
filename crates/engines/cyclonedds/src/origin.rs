//! Decides by the source address of its datagrams whether a sample was sent from this host.
//!
//! A sender can choose the content of a datagram but not its source address: the kernel drops
//! datagrams from other hosts that have an address of this host as their source (unless
//! `accept_local` is set), and accepts 127.0.0.0/8 only from this host. A container with its own
//! network counts as another host.

use std::net::{Ipv4Addr, Ipv6Addr};

use feros_cyclonedds_sys as sys;
use feros_dds::library::Origin;

use crate::interface::interfaces;

pub(crate) fn origin(info: &sys::feros_sample_info) -> Origin {
    if is_of_this_host(info) { Origin::ThisHost } else { Origin::Elsewhere(source(info)) }
}

fn is_of_this_host(info: &sys::feros_sample_info) -> bool {
    match info.source_kind {
        sys::FEROS_SOURCE_THIS_PROCESS => true,
        sys::FEROS_SOURCE_IPV4 => is_own(ipv4(&info.source)),
        sys::FEROS_SOURCE_IPV6 => Ipv6Addr::from(info.source).is_loopback(),
        _ => false,
    }
}

/// Formats the source address for messages.
fn source(info: &sys::feros_sample_info) -> String {
    match info.source_kind {
        sys::FEROS_SOURCE_THIS_PROCESS => "this process".to_owned(),
        sys::FEROS_SOURCE_IPV4 => ipv4(&info.source).to_string(),
        sys::FEROS_SOURCE_IPV6 => Ipv6Addr::from(info.source).to_string(),
        _ => "several addresses".to_owned(),
    }
}

fn ipv4(source: &[u8; 16]) -> Ipv4Addr {
    let [.., a, b, c, d] = *source;
    Ipv4Addr::new(a, b, c, d)
}

fn is_own(address: Ipv4Addr) -> bool {
    // The interfaces are listed each time because they may change. Such requests are rare.
    let is_it = |own: &str| own.parse() == Ok(address);
    address.is_loopback() || interfaces().iter().any(|interface| is_it(&interface.address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(source_kind: u8, address: [u8; 4]) -> sys::feros_sample_info {
        let mut source = [0; 16];
        source[12..].copy_from_slice(&address);
        sys::feros_sample_info { source_kind, source, ..Default::default() }
    }

    #[test]
    fn only_addresses_of_this_host_are_of_this_host() {
        let ipv4 = |address| is_of_this_host(&info(sys::FEROS_SOURCE_IPV4, address));
        assert!(ipv4([127, 0, 0, 1]) && ipv4([127, 9, 9, 9]));
        for own in interfaces() {
            assert!(ipv4(own.address.parse::<Ipv4Addr>().unwrap().octets()), "{own:?}");
        }
        assert!(!ipv4([192, 0, 2, 1]) && !ipv4([0, 0, 0, 0]), "an address for documentation");
        assert!(is_of_this_host(&info(sys::FEROS_SOURCE_THIS_PROCESS, [0; 4])));
        // The loopback address of one fragment proves nothing about the other fragments.
        assert!(!is_of_this_host(&info(sys::FEROS_SOURCE_UNKNOWN, [127, 0, 0, 1])));
        assert!(!is_of_this_host(&info(sys::FEROS_SOURCE_IPV6, [127, 0, 0, 1])));
    }
}
