//! The configuration of the engine. It is derived from the options of the session and the
//! interfaces of this host, so users do not need to write a configuration. The user's own
//! configuration (`CYCLONEDDS_URI`) is appended, and overrides ours.
//!
//! Sizes: the loopback interface loses no packets, so fragments and datagrams on it are as large as
//! UDP allows. On a real network, both fit into an Ethernet MTU, because the loss of one IP
//! fragment of a 64 KB datagram would lose the whole datagram. Even on a real network, datagrams to
//! an address of this host are large and carry many fragments each
//! (`crates/engines/cyclonedds-sys/patches/large_packets.patch`).

use std::fmt::Write;

use feros_engine::{DiscoveryRange, SessionOptions};

pub use crate::circumstances::Circumstances;
pub use crate::interface::{Interface, interfaces};

/// The sizes of packets and buffers for one kind of network, in bytes.
struct Tuning {
    datagram: u32,
    fragment: u32,
    retransmitted_datagram: u32,
    send_buffer: Option<&'static str>,
}

/// A UDP datagram carries at most 65507 bytes. A fragment leaves room for the RTPS headers.
const LOOPBACK: Tuning = Tuning {
    datagram: 65_500,
    fragment: 65_000,
    retransmitted_datagram: 65_500,
    send_buffer: None,
};
/// An Ethernet packet has 1500 bytes, including the IP and UDP headers. A fragment leaves room for
/// the RTPS headers.
///
/// The send buffer is small because retransmitted fragments wait in it after new fragments. The
/// usual buffer of 208 KiB takes 4 ms to send at 300 Mbit/s. In that time, the reader would request
/// the same fragments repeatedly.
const NETWORK: Tuning = Tuning {
    datagram: 1_456,
    fragment: 1_344,
    retransmitted_datagram: 1_456,
    send_buffer: Some("16KiB"),
};

/// The largest participant index that fits into a domain. By the port mapping of RTPS (DDSI-RTPS
/// 2.5, 9.6.2.3), the next index would use ports of the next domain.
const LARGEST_PARTICIPANT_INDEX: u32 = 119;

/// Returns the largest participant index whose ports exist. By the port mapping of RTPS (DDSI-RTPS
/// 2.5, 9.6.2.3), the participant with index `p` in domain `d` listens on port 7410 + 250 d + 2 p
/// and on the port after it. Returns `None` if the ports of index 0 do not exist.
pub(crate) fn largest_participant_index(domain_id: u32) -> Option<u32> {
    let first = domain_id.checked_mul(250)?.checked_add(7411)?;
    let room = u32::from(u16::MAX).checked_sub(first)?;
    Some(LARGEST_PARTICIPANT_INDEX.min(room / 2))
}

/// Returns the engine's configuration for these inputs, in the format of Cyclone DDS.
pub fn configuration(of: &Circumstances<'_>) -> String {
    // Static peers are on other hosts.
    let local_only = (of.options.discovery_range == DiscoveryRange::Localhost
        && of.options.peers().next().is_none())
        || !of.interfaces.iter().any(|interface| interface.up && !interface.loopback);
    let tuning = if local_only { LOOPBACK } else { NETWORK };
    let user = of.user_configuration.unwrap_or("").trim();
    let mut xml = String::from("<CycloneDDS><Domain id=\"any\">");
    general(&mut xml, of, local_only, user, &tuning);
    discovery(&mut xml, of, local_only);
    internal(&mut xml, user, &tuning);
    xml.push_str("</Domain></CycloneDDS>");
    if !user.is_empty() {
        xml.push(',');
        xml.push_str(user);
    }
    xml
}

/// Returns a configuration for a domain that has another id in the engine than on the network. A
/// part of the user's configuration that names a domain (`<Domain id="7">`) does not apply to such
/// a domain, because Cyclone DDS compares the name with the id in the engine.
pub(crate) fn with_domain_id_on_the_network(domain_id: u32, configuration: &str) -> String {
    format!(
        "<CycloneDDS><Domain id=\"any\"><Discovery><ExternalDomainId>{domain_id}\
         </ExternalDomainId></Discovery></Domain></CycloneDDS>,{configuration}"
    )
}

/// Returns a configuration for a process that finds all ports of participant indices in use. It
/// calls the others at these ports, and gives its own port in its announcement.
pub(crate) fn without_participant_index(configuration: &str) -> String {
    format!(
        "{configuration},<CycloneDDS><Domain id=\"any\"><Discovery><ParticipantIndex>none\
         </ParticipantIndex></Discovery></Domain></CycloneDDS>"
    )
}

fn general(
    xml: &mut String,
    of: &Circumstances<'_>,
    local_only: bool,
    user: &str,
    tuning: &Tuning,
) {
    xml.push_str("<General>");
    // Cyclone DDS would use the interfaces of both configurations, so our configuration names no
    // interfaces if the user's configuration names some.
    if local_only && !user.contains("NetworkInterface") {
        xml.push_str("<Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces>");
    }
    match of.options.discovery_range {
        DiscoveryRange::Localhost | DiscoveryRange::Off => {
            xml.push_str("<AllowMulticast>false</AllowMulticast>");
        }
        DiscoveryRange::Subnet | DiscoveryRange::SystemDefault => {}
    }
    write_all(
        xml,
        format_args!(
            "<MaxMessageSize>{}B</MaxMessageSize><MaxRexmitMessageSize>{}B</MaxRexmitMessageSize>\
             <FragmentSize>{}B</FragmentSize></General>",
            tuning.datagram, tuning.retransmitted_datagram, tuning.fragment
        ),
    );
}

fn discovery(xml: &mut String, of: &Circumstances<'_>, local_only: bool) {
    let SessionOptions { discovery_range, .. } = of.options;
    let static_peers = crate::peers::addresses(of.options);
    xml.push_str("<Discovery>");
    let no_multicast = crate::multicast::is_impossible(of.interfaces);
    // Without multicast, other sessions can find this session only at the ports that are computed
    // from its participant index.
    if local_only || no_multicast || !static_peers.is_empty() {
        xml.push_str("<ParticipantIndex>auto</ParticipantIndex>");
    }
    write_all(
        xml,
        format_args!(
            "<MaxAutoParticipantIndex>{}</MaxAutoParticipantIndex>",
            largest_participant_index(of.options.domain_id).unwrap_or(0)
        ),
    );
    let is_off = *discovery_range == DiscoveryRange::Off;
    if is_off {
        // Participants with different tags do not discover each other.
        write_all(xml, format_args!("<Tag>feros_off_{}</Tag>", of.process_id));
    }
    let by_address = no_multicast || *discovery_range == DiscoveryRange::Localhost;
    let localhost = (local_only || by_address) && !is_off;
    write_all(xml, format_args!("<Peers AddLocalhost=\"{localhost}\">"));
    for peer in static_peers {
        write_all(xml, format_args!("<Peer Address=\"{peer}\"/>"));
    }
    xml.push_str("</Peers></Discovery>");
}

fn internal(xml: &mut String, user: &str, tuning: &Tuning) {
    // Fast DDS notices that a participant or endpoint leaves only if the message about this
    // contains the hash of the key. Without the hash, Fast DDS keeps the participant or endpoint
    // until the lease of ten seconds ends, and until then does not answer the next process on the
    // same ports properly.
    //
    // A message with many fragments needs several rounds of heartbeat, request and retransmission,
    // and a lossy network loses these packets as often as data. So the intervals between these
    // steps are short, and the reader repeats its request without waiting for a heartbeat.
    // Discovery has longer times of its own
    // (`crates/engines/cyclonedds-sys/patches/discovery_times.patch`).
    xml.push_str(
        "<Internal>\
         <GenerateKeyhash>true</GenerateKeyhash>\
         <SocketReceiveBufferSize min=\"default\" max=\"8MiB\"/>\
         <NackDelay>1ms</NackDelay>\
         <AutoReschedNackDelay>5ms</AutoReschedNackDelay>\
         <HeartbeatInterval min=\"1ms\" minsched=\"1ms\" max=\"8s\">1ms</HeartbeatInterval>",
    );
    // A user may configure larger datagrams, which would not fit into a small buffer.
    if let Some(most) = tuning.send_buffer.filter(|_| !user.contains("MessageSize")) {
        write_all(xml, format_args!("<SocketSendBufferSize min=\"default\" max=\"{most}\"/>"));
    }
    xml.push_str("</Internal>");
}

fn write_all(xml: &mut String, text: std::fmt::Arguments<'_>) {
    xml.write_fmt(text).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, loopback: bool) -> Interface {
        let address = if loopback { "127.0.0.1" } else { "10.0.0.7" };
        Interface {
            name: name.into(),
            address: address.into(),
            up: true,
            loopback,
            multicast: !loopback,
        }
    }

    fn made(options: &SessionOptions, interfaces: &[Interface], user: Option<&str>) -> String {
        configuration(&Circumstances {
            options,
            interfaces,
            user_configuration: user,
            process_id: 7,
        })
    }

    fn with_range(discovery_range: DiscoveryRange) -> SessionOptions {
        SessionOptions { discovery_range, ..SessionOptions::default() }
    }

    #[test]
    fn sizes_follow_the_kind_of_network() {
        let both = [interface("lo", true), interface("eth0", false)];
        let subnet = made(&with_range(DiscoveryRange::Subnet), &both, None);
        assert!(
            subnet.contains("<FragmentSize>1344B<") && subnet.contains("<MaxMessageSize>1456B<"),
            "{subnet}"
        );
        assert!(
            !subnet.contains("NetworkInterface") && !subnet.contains("ParticipantIndex>auto"),
            "{subnet}"
        );
        // Many VPN interfaces cannot multicast. Such an interface must not prevent this session
        // from seeing the other nodes of this host.
        let tunnel =
            [interface("lo", true), Interface { multicast: false, ..interface("tun0", false) }];
        let without = made(&with_range(DiscoveryRange::Subnet), &tunnel, None);
        assert!(
            without.contains("AddLocalhost=\"true\"") && without.contains("FragmentSize>1344B"),
            "{without}"
        );
        let down = [interface("lo", true), Interface { up: false, ..interface("eth0", false) }];
        for (range, interfaces) in
            [(DiscoveryRange::Localhost, &both), (DiscoveryRange::Subnet, &down)]
        {
            let local = made(&with_range(range), interfaces, None);
            assert!(
                local.contains("<FragmentSize>65000B<") && local.contains("127.0.0.1"),
                "{local}"
            );
            assert!(
                local.contains("ParticipantIndex>auto") && local.contains("AddLocalhost=\"true\""),
                "{local}"
            );
        }
    }

    #[test]
    fn no_participant_is_given_ports_that_do_not_exist() {
        let largest = [0, 231, 232, 233, u32::MAX].map(largest_participant_index);
        assert_eq!(largest, [Some(119), Some(119), Some(62), None, None]);
        let last = SessionOptions { domain_id: 232, ..with_range(DiscoveryRange::Localhost) };
        let xml = made(&last, &[interface("lo", true)], None);
        assert!(xml.contains("<MaxAutoParticipantIndex>62<"), "{xml}");
    }

    #[test]
    fn ranges_and_peers() {
        let both = [interface("lo", true), interface("eth0", false)];
        let off = made(&with_range(DiscoveryRange::Off), &both, None);
        assert!(
            off.contains("<Tag>feros_off_7</Tag>") && off.contains("<AllowMulticast>false"),
            "{off}"
        );
        let with_peers = |range| {
            let peers = vec!["10.0.0.1".into(), "a\"/><Tag>x,${HOME}".into()];
            made(&SessionOptions { static_peers: peers, ..with_range(range) }, &both, None)
        };
        for range in [DiscoveryRange::Localhost, DiscoveryRange::Subnet] {
            let xml = with_peers(range);
            assert!(xml.contains("<Peer Address=\"10.0.0.1\"/>"), "{xml}");
            assert!(!xml.contains("<Tag>") && !xml.contains("NetworkInterface"), "{xml}");
            assert_eq!(xml.matches("<Peer ").count(), 1, "{xml}");
            let is_local = range == DiscoveryRange::Localhost;
            assert_eq!(xml.contains("<AllowMulticast>false"), is_local, "{xml}");
            assert_eq!(xml.contains("AddLocalhost=\"true\""), is_local, "{xml}");
        }
        assert_eq!(with_peers(DiscoveryRange::Off), off);
    }

    #[test]
    fn the_users_configuration_comes_last_and_its_interfaces_replace_ours() {
        let lo = [interface("lo", true)];
        let options = with_range(DiscoveryRange::Localhost);
        let user = "<General><Interfaces><NetworkInterface name=\"eth1\"/></Interfaces></General>";
        let xml = made(&options, &lo, Some(user));
        assert!(xml.ends_with(&format!(",{user}")), "{xml}");
        assert_eq!(xml.matches("NetworkInterface").count(), 1, "{xml}");
        assert!(!made(&options, &lo, Some("  ")).contains(",<"));
    }

    #[test]
    fn the_small_send_buffer_is_for_small_datagrams_on_a_network() {
        let (lo, eth) = (interface("lo", true), interface("eth0", false));
        let subnet = with_range(DiscoveryRange::Subnet);
        let small = |xml: &str| xml.contains("<SocketSendBufferSize");
        assert!(small(&made(&subnet, &[lo.clone(), eth.clone()], None)));
        assert!(!small(&made(&subnet, std::slice::from_ref(&lo), None)));
        let user = "<General><MaxMessageSize>65500B</MaxMessageSize></General>";
        assert!(!small(&made(&subnet, &[lo, eth], Some(user))));
    }

    #[test]
    fn interfaces_of_this_host_include_loopback() {
        let list = interfaces();
        assert!(
            list.iter().any(|interface| interface.loopback && interface.address == "127.0.0.1"),
            "{list:?}"
        );
    }
}
