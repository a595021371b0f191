//! Free numbers for a cell: a ROS domain without participants, and a TCP port.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::ops::Range;

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

/// The ports that servers get. They are below the ports that Linux assigns, by default from 32768,
/// to sockets that do not ask for a certain port: such a socket cannot take the port before the
/// server does.
const TCP_PORTS: Range<u16> = 20_000..28_000;

/// Finds a TCP port that no process listens on, starting at a port that differs from cell to cell.
pub(super) fn free_port(cell: usize) -> u16 {
    let first = (std::process::id() as usize).wrapping_add(cell) % TCP_PORTS.len();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut ports = TCP_PORTS.cycle().skip(first).take(TCP_PORTS.len());
    ports.find(is_free).unwrap_or(TCP_PORTS.start)
}
