//! Free numbers for a cell: a ROS domain without participants, and a TCP port.

use std::collections::BTreeSet;
use std::net::TcpListener;

/// The number of domains whose ports are below the ports that the system assigns.
const DOMAINS: u32 = 102;

/// Finds a ROS domain without participants, starting at `first`, which differs from cell to cell.
pub(super) fn free_domain(first: u32) -> u32 {
    let taken: BTreeSet<u16> =
        ["/proc/net/udp", "/proc/net/udp6"].iter().flat_map(|file| udp_ports(file)).collect();
    let is_free = |domain: &u32| {
        let base = 7400 + 250 * domain;
        (base..base + 250).all(|port| !taken.contains(&u16::try_from(port).unwrap_or(0)))
    };
    (0..DOMAINS).map(|step| (first + step) % DOMAINS).find(is_free).unwrap_or(first % DOMAINS)
}

fn udp_ports(file: &str) -> Vec<u16> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let address = line.split_ascii_whitespace().nth(1)?;
            u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
        })
        .collect()
}

/// Finds a TCP port that no process listens on.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    listener.map_or(17_411, |address| address.port())
}
