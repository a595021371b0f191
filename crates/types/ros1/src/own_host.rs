//! The address at which other nodes can reach the nodes of this process.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use crate::address::Address;

/// Returns the host name that is announced to other nodes, and the address to listen on. As in
/// roscpp, the name is taken from ROS_HOSTNAME or, if that is not set, from ROS_IP. If neither
/// variable is set, the name is the address of this machine on the network route to the master.
pub(crate) fn own_host(master: &Address) -> (String, IpAddr) {
    let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let named = ["ROS_HOSTNAME", "ROS_IP"].iter().find_map(|name| std::env::var(name).ok());
    if let Some(host) = named.filter(|host| !host.is_empty()) {
        let is_loopback =
            host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        return (host, if is_loopback { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { any });
    }
    let way = || {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((&*master.host, master.port)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    match way() {
        Some(address) if !address.is_loopback() => (address.to_string(), any),
        _ => (Ipv4Addr::LOCALHOST.to_string(), IpAddr::V4(Ipv4Addr::LOCALHOST)),
    }
}
