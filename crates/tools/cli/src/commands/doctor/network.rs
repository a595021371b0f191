//! Checks of the network interfaces and socket buffers, and a real test of multicast.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use feros_engine::{DiscoveryRange, SessionOptions};
use feros_monitor::ports_of_domain;
use socket2::{Domain, Protocol, Socket, Type};

use super::finding::Finding;

const AREA: &str = "network";
/// The group on which DDS participants find each other.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// The longest wait for a datagram to come back.
const PATIENCE: Duration = Duration::from_millis(300);
/// The receive buffer that the engine is configured to ask for.
const WANTED_BUFFER_BYTES: u64 = 8 << 20;

pub(super) fn examine() -> Vec<Finding> {
    let interfaces = match if_addrs::get_if_addrs() {
        Ok(interfaces) => interfaces,
        Err(error) => {
            let cure = "run it in an environment where it may examine the network";
            return vec![Finding::error(
                AREA,
                format!("the network interfaces cannot be listed: {error}"),
                cure,
            )];
        }
    };
    let addresses: Vec<(String, Ipv4Addr)> = interfaces
        .iter()
        .filter_map(|interface| match interface.ip() {
            IpAddr::V4(address) => Some((interface.name.clone(), address)),
            IpAddr::V6(_) => None,
        })
        .collect();
    // A variable that cannot be read is a finding of another check.
    let options = SessionOptions::from_variables(|name| std::env::var_os(name)).unwrap_or_default();
    let localhost_only = options.discovery_range == DiscoveryRange::Localhost;
    let mut findings = Vec::new();
    for (name, address) in &addresses {
        findings.push(Finding::ok(AREA, format!("{name} has address {address}{}", link(name))));
    }
    let outward = addresses.iter().filter(|(_, address)| !address.is_loopback());
    if addresses.is_empty() {
        findings.push(Finding::error(
            AREA,
            "no interface has an IPv4 address",
            "bring one up; for this machine alone: ip link set lo up",
        ));
    } else if outward.clone().next().is_none() && !localhost_only {
        findings.push(Finding::warning(
            AREA,
            "only the loopback interface is up: other machines cannot be reached",
            "connect to a network, or declare this intended: export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
        ));
    }
    findings.extend(outward.map(|(name, address)| multicast(name, *address, &options)));
    findings.push(receive_buffer());
    findings
}

/// The MTU and the speed of an interface, as far as the kernel reports them.
fn link(name: &str) -> String {
    let read = |file: &str| std::fs::read_to_string(format!("/sys/class/net/{name}/{file}")).ok();
    let mtu = read("mtu").map(|mtu| format!(", MTU {}", mtu.trim())).unwrap_or_default();
    let speed =
        read("speed").and_then(|speed| speed.trim().parse::<i64>().ok()).filter(|speed| *speed > 0);
    mtu + &speed.map(|speed| format!(", {speed} Mbit/s")).unwrap_or_default()
}

/// Tests whether a datagram to the discovery group comes back through an interface. The datagram
/// does not leave the machine.
fn multicast(name: &str, address: Ipv4Addr, options: &SessionOptions) -> Finding {
    const AREA: &str = "multicast";
    let localhost_only = options.discovery_range == DiscoveryRange::Localhost;
    match send_and_receive(address) {
        Ok(()) => {
            Finding::ok(AREA, format!("works on {name} (group {GROUP}, tried on this machine)"))
        }
        Err(error) if localhost_only => Finding::ok(
            AREA,
            format!("fails on {name} ({error}), which the range LOCALHOST does not need"),
        ),
        Err(error) => Finding::warning(
            AREA,
            format!(
                "fails on {name}: {error}; nodes on other machines are not discovered automatically"
            ),
            cure_of_multicast(name, options.domain_id),
        ),
    }
}

fn cure_of_multicast(name: &str, domain_id: u32) -> String {
    let ports = ports_of_domain(domain_id)
        .map(|ports| format!("UDP {}-{} and ", ports.start(), ports.end()))
        .unwrap_or_default();
    format!(
        "ip link set {name} multicast on; allow {ports}group {GROUP} in the firewall; if the network \
         forbids multicast, name the other machines: export ROS_STATIC_PEERS='10.0.0.2;10.0.0.3'"
    )
}

fn send_and_receive(address: Ipv4Addr) -> std::io::Result<()> {
    let receiver = UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0))?;
    receiver.join_multicast_v4(&GROUP, &address)?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    let port = receiver.local_addr()?.port();
    let sender = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    sender.set_multicast_if_v4(&address)?;
    sender.set_multicast_loop_v4(true)?;
    // The datagram stays on this machine.
    sender.set_multicast_ttl_v4(0)?;
    let token = format!("feros doctor {} {address}", std::process::id());
    sender.send_to(token.as_bytes(), &SocketAddr::from((GROUP, port)).into())?;
    let started = Instant::now();
    let mut buffer = [0; 128];
    loop {
        match receiver.recv_from(&mut buffer) {
            Ok((size, _)) if &buffer[..size] == token.as_bytes() => return Ok(()),
            // A datagram of another process.
            Ok(_) if started.elapsed() < PATIENCE => {}
            Ok(_) => return Err(ErrorKind::TimedOut.into()),
            // The command was suspended; the time limit of the socket begins again.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(std::io::Error::new(
                    ErrorKind::TimedOut,
                    "the datagram did not come back",
                ));
            }
            Err(error) => return Err(error),
        }
    }
}

fn receive_buffer() -> Finding {
    const FILE: &str = "/proc/sys/net/core/rmem_max";
    match std::fs::read_to_string(FILE).map(|text| text.trim().parse::<u64>()) {
        Ok(Ok(limit)) => judge_receive_buffer(limit),
        Ok(Err(_)) | Err(_) => {
            Finding::ok("buffers", "this system does not say how large receive buffers may be")
        }
    }
}

fn judge_receive_buffer(limit_bytes: u64) -> Finding {
    const AREA: &str = "buffers";
    let text = format!("receive buffers may have {} KB (net.core.rmem_max)", limit_bytes / 1024);
    if limit_bytes >= WANTED_BUFFER_BYTES {
        return Finding::ok(AREA, text);
    }
    Finding::warning(
        AREA,
        format!(
            "{text}, {} KB are requested: large messages at a high rate lose datagrams",
            WANTED_BUFFER_BYTES / 1024
        ),
        format!(
            "sudo sysctl -w net.core.rmem_max={WANTED_BUFFER_BYTES}; to keep it: echo net.core.rmem_max={WANTED_BUFFER_BYTES} \
             | sudo tee /etc/sysctl.d/60-feros.conf"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Status;

    #[test]
    fn the_firewall_is_opened_for_the_ports_of_the_domain() {
        let ports = [(0, "7400-7649"), (7, "9150-9399"), (232, "65400-65535")];
        for (domain_id, ports) in ports {
            let cure = cure_of_multicast("eth0", domain_id);
            assert!(
                cure.contains(&format!("allow UDP {ports} and group 239.255.0.1 in")),
                "{cure}"
            );
        }
        let cure = cure_of_multicast("eth0", 233);
        assert!(cure.contains("allow group 239.255.0.1 in the firewall"), "{cure}");
    }

    #[test]
    fn small_buffers_are_a_warning_with_the_cure() {
        assert_eq!(judge_receive_buffer(WANTED_BUFFER_BYTES).status, Status::Ok);
        let finding = judge_receive_buffer(212_992);
        assert_eq!(finding.status, Status::Warning);
        assert!(finding.text.contains("208 KB"), "{}", finding.text);
        assert!(finding.cure.is_some_and(|cure| cure.contains("8388608")));
    }
}
