//! The UDP ports that programs of this host use, and the domains to which DDS gives them.

use std::fs;

/// The kernel's tables of UDP sockets.
const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];

/// The first port of domain 0, and the number of ports of each domain.
const FIRST_PORT: u16 = 7400;
const PORTS_PER_DOMAIN: u16 = 250;

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
