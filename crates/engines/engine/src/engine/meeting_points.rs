//! Meeting points: hosts at which others meet, so that each host of a network without multicast
//! needs the same short list. How they meet is up to the engine.

use std::net::{ToSocketAddrs as _, UdpSocket};

/// The variable with the meeting points.
pub const VARIABLE: &str = "FEROS_MEETING_POINTS";

/// The hosts of a list that has semicolons between them, as those of the variables have.
pub fn hosts(list: &str) -> Vec<String> {
    list.split(';').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect()
}

/// Whether an address or a name is that of this host. Asks the system for the addresses of a name,
/// which may take as long as the network needs.
pub fn is_this_host(host: &str) -> bool {
    // The system lets a socket have an address of this host alone.
    let mut addresses = (host, 0).to_socket_addrs().into_iter().flatten();
    addresses.any(|address| UdpSocket::bind(address).is_ok())
}

#[cfg(test)]
mod tests {
    use super::is_this_host;

    #[test]
    fn only_addresses_of_this_host_are_of_this_host() {
        for (host, expected) in [
            ("127.0.0.1", true),
            ("localhost", true),
            ("203.0.113.1", false), // an address for documentation
            ("no such host", false),
            ("", false),
        ] {
            assert_eq!(is_this_host(host), expected, "{host:?}");
        }
    }
}
