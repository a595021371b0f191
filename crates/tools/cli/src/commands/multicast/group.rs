//! A multicast group, and sockets for it that also reach `ros2`.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// The group that `ros2 multicast` and `ros2 doctor hello` use.
const GROUP: Ipv4Addr = Ipv4Addr::new(225, 0, 0, 1);
const PORT: u16 = 49150;

/// The group, and the network interface to reach it.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(in crate::commands) struct GroupArgs {
    /// Address of the group
    #[arg(long, value_name = "ADDRESS", default_value_t = GROUP, value_parser = multicast_address)]
    group: Ipv4Addr,
    /// Port of the group
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Address of the network interface to use; by default, the system chooses
    #[arg(long, value_name = "ADDRESS")]
    interface: Option<Ipv4Addr>,
}

fn multicast_address(text: &str) -> Result<Ipv4Addr, String> {
    match text.parse::<Ipv4Addr>() {
        Ok(address) if address.is_multicast() => Ok(address),
        _ => {
            Err("expected an address of a multicast group, from 224.0.0.0 to 239.255.255.255"
                .into())
        }
    }
}

impl GroupArgs {
    /// The group on the loopback interface, unless the user named another interface.
    pub(in crate::commands) fn or_on_loopback(self) -> Self {
        Self { interface: self.interface.or(Some(Ipv4Addr::LOCALHOST)), ..self }
    }

    /// A socket that sends to the group.
    pub(in crate::commands) fn sender(&self, ttl: Option<u32>) -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        if let Some(address) = self.interface {
            socket.set_multicast_if_v4(&address)?;
        }
        if let Some(ttl) = ttl {
            socket.set_multicast_ttl_v4(ttl)?;
        }
        // The socket is bound now, so that its port is known and its own datagrams can be
        // recognized.
        socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
        let socket = UdpSocket::from(socket);
        socket.connect((self.group, self.port))?;
        Ok(socket)
    }

    /// A socket that receives datagrams to the group, even if other sockets receive them too.
    pub(in crate::commands) fn receiver(&self) -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_address(true)?;
        // The socket is bound to the group, so that the port receives nothing else.
        socket.bind(&SocketAddr::from((self.group, self.port)).into())?;
        let interface = self.interface.unwrap_or(Ipv4Addr::UNSPECIFIED);
        socket.join_multicast_v4(&self.group, &interface)?;
        Ok(socket.into())
    }
}

impl Display for GroupArgs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.port)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn datagrams_to_a_group_are_received() {
        // A port of this test's own.
        let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        let group = GroupArgs { group: GROUP, port, interface: None }.or_on_loopback();
        let receiver = group.receiver().unwrap();
        let beside = group.receiver().unwrap();
        let sender = group.sender(Some(0)).unwrap();
        sender.send(b"hello").unwrap();
        let mut buffer = [0; 16];
        for socket in [receiver, beside] {
            let (size, from) = socket.recv_from(&mut buffer).unwrap();
            assert_eq!(&buffer[..size], b"hello");
            assert_eq!(from.port(), sender.local_addr().unwrap().port());
        }
    }

    #[test]
    fn only_groups_are_groups() {
        assert_eq!(multicast_address("239.255.0.1"), Ok(Ipv4Addr::new(239, 255, 0, 1)));
        for wrong in ["10.0.0.1", "localhost", ""] {
            assert!(multicast_address(wrong).is_err(), "{wrong}");
        }
    }
}
