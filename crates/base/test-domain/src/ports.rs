//! Finds the UDP ports that programs of this host use, the DDS domains to which these ports belong,
//! and free TCP ports.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// The kernel's tables of UDP sockets.
const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];

/// The first port of domain 0, and the number of ports of each domain.
const FIRST_PORT: u16 = 7400;
const PORTS_PER_DOMAIN: u16 = 250;

/// TCP ports for servers of tests. They are below the ports that Linux assigns, by default from
/// 32768, to sockets that do not ask for a certain port: no other program gets such a port by
/// chance between [`free_tcp_port`] and the start of the server.
const FIRST_TCP_PORT: u16 = 20_000;
const TCP_PORTS: u16 = 8_000;
const LAST_TCP_PORT: u16 = FIRST_TCP_PORT + TCP_PORTS - 1;

/// The distance between the first ports of two processes with consecutive process ids. A process
/// can take this many ports before it tries the first port of the next process.
const PORTS_PER_PROCESS: u32 = 16;

/// Returns a TCP port of 127.0.0.1 that no program listens on. Each call returns another port.
///
/// # Panics
/// When all ports from 20000 to 27999 are in use.
///
/// ```
/// let port = feros_test_domain::free_tcp_port();
/// std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
/// assert_ne!(feros_test_domain::free_tcp_port(), port);
/// ```
pub fn free_tcp_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let of_process = std::process::id() * PORTS_PER_PROCESS % u32::from(TCP_PORTS);
    let first = u16::try_from(of_process).unwrap_or(0);
    let next = || TRIED.fetch_add(1, Ordering::Relaxed).wrapping_add(first) % TCP_PORTS;
    (0..TCP_PORTS)
        .map(|_| FIRST_TCP_PORT + next())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .unwrap_or_else(|| {
            panic!("all TCP ports from {FIRST_TCP_PORT} to {LAST_TCP_PORT} are in use")
        })
}

/// The domain to which a port belongs.
pub(crate) fn domain_of(port: u16) -> Option<u16> {
    port.checked_sub(FIRST_PORT).map(|offset| offset / PORTS_PER_DOMAIN)
}

/// The UDP ports in use. A table that cannot be read counts as empty.
pub(crate) fn used_udp_ports() -> impl Iterator<Item = u16> {
    TABLES.iter().flat_map(|table| ports_in(&fs::read_to_string(table).unwrap_or_default()))
}

/// The local ports in a table of sockets. In each row, the second word is the local address and the
/// port, in hexadecimal digits.
fn ports_in(table: &str) -> Vec<u16> {
    let local = |row: &str| {
        let (_, port) = row.split_whitespace().nth(1)?.rsplit_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    table.lines().filter_map(local).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn ports_belong_to_domains() {
        assert_eq!([7399, 7400, 7649, 7650].map(domain_of), [None, Some(0), Some(0), Some(1)]);
    }

    #[test]
    fn a_socket_of_each_family_is_in_the_table() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(socket) = UdpSocket::bind(address) else { continue };
            let port = socket.local_addr().unwrap().port();
            assert!(used_udp_ports().any(|used| used == port), "{address} {port}");
        }
    }

    #[test]
    fn other_text_has_no_ports() {
        let table =
            "  sl  local_address rem_address\n 1: 0100007F:1CE8 0:0\n x\n 2: 1:zz\n 3: 00:7\n";
        assert_eq!(ports_in(table), [7400, 7]);
    }
}
