//! Warns once in each process if multicast is impossible, because a node then finds no nodes on
//! other hosts.

use std::sync::Once;

use feros_engine::DiscoveryRange;
use feros_engine::engine::LOG_TARGET;

use crate::circumstances::Circumstances;
use crate::interface::Interface;

/// Warns, once in each process, if a session needs multicast for discovery and no interface can
/// multicast.
pub(crate) fn warn_if_impossible(of: &Circumstances<'_>) {
    static SAID: Once = Once::new();
    if let Some(warning) = warning(of) {
        SAID.call_once(|| tracing::warn!(target: LOG_TARGET, "{warning}"));
    }
}

/// The interfaces that the engine uses by default. These are all interfaces that lead to a network.
/// If there are no such interfaces, it is the loopback interface.
fn used(interfaces: &[Interface]) -> Vec<&Interface> {
    let up = |loopback| {
        interfaces.iter().filter(move |interface| interface.up && interface.loopback == loopback)
    };
    let outward: Vec<_> = up(false).collect();
    if outward.is_empty() { up(true).collect() } else { outward }
}

/// Whether none of the interfaces that the engine uses can multicast. Returns false if the
/// interfaces are unknown.
pub(crate) fn is_impossible(interfaces: &[Interface]) -> bool {
    let used = used(interfaces);
    !used.is_empty() && !used.iter().any(|interface| interface.multicast)
}

fn warning(of: &Circumstances<'_>) -> Option<String> {
    let by_multicast = matches!(
        of.options.discovery_range,
        DiscoveryRange::Subnet | DiscoveryRange::SystemDefault
    );
    // Users who configure interfaces or peers for the engine need no warning.
    let user = of.user_configuration.unwrap_or("");
    let arranged = of.options.peers().next().is_some()
        || ["NetworkInterface", "<Peer", "AllowMulticast"]
            .iter()
            .any(|element| user.contains(element));
    if !by_multicast || arranged || !is_impossible(of.interfaces) {
        return None;
    }
    let used = used(of.interfaces);
    let names: Vec<_> = used.iter().map(|interface| interface.name.as_str()).collect();
    let switch_on = match used.iter().find(|interface| !interface.loopback) {
        Some(interface) => format!("switch it on (ip link set {} multicast on)", interface.name),
        None => "connect to a network".to_owned(),
    };
    Some(format!(
        "multicast is not possible on {}: nodes on this machine are found, but nodes on other machines are not. If \
         only this machine is meant: export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST. Otherwise {switch_on}, or name \
         the other machines: export ROS_STATIC_PEERS='10.0.0.2;10.0.0.3'. `feros doctor` shows more.",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use feros_engine::SessionOptions;

    use super::*;

    fn interface(name: &str, up: bool, multicast: bool) -> Interface {
        Interface {
            name: name.into(),
            address: "10.0.0.7".into(),
            up,
            loopback: name == "lo",
            multicast,
        }
    }

    fn warned(
        options: &SessionOptions,
        interfaces: &[Interface],
        user: Option<&str>,
    ) -> Option<String> {
        warning(&Circumstances { options, interfaces, user_configuration: user, process_id: 7 })
    }

    #[test]
    fn only_interfaces_that_are_used_count() {
        let subnet = SessionOptions::default();
        let lo = interface("lo", true, false);
        let table = [
            (vec![], None),
            (vec![lo.clone()], Some("lo")),
            (vec![interface("lo", true, true)], None),
            (vec![lo.clone(), interface("eth0", true, true)], None),
            (vec![lo.clone(), interface("eth0", false, true)], Some("lo")),
            (vec![interface("lo", true, true), interface("tun0", true, false)], Some("tun0")),
        ];
        for (interfaces, named) in table {
            let warning = warned(&subnet, &interfaces, None);
            assert_eq!(warning.is_some(), named.is_some(), "{interfaces:?}");
            if let (Some(warning), Some(named)) = (warning, named) {
                let cure = if named == "lo" {
                    "connect to a network"
                } else {
                    "ip link set tun0 multicast on"
                };
                assert!(warning.contains(&format!("not possible on {named}:")), "{warning}");
                assert!(warning.contains(cure), "{warning}");
            }
        }
    }

    #[test]
    fn no_warning_is_logged_where_multicast_is_not_needed() {
        let lo = [interface("lo", true, false)];
        let range =
            |discovery_range| SessionOptions { discovery_range, ..SessionOptions::default() };
        for quiet in [DiscoveryRange::Localhost, DiscoveryRange::Off] {
            assert_eq!(warned(&range(quiet), &lo, None), None, "{quiet:?}");
        }
        assert!(warned(&range(DiscoveryRange::SystemDefault), &lo, None).is_some());
        let peers =
            SessionOptions { static_peers: vec!["10.0.0.1".into()], ..SessionOptions::default() };
        assert_eq!(warned(&peers, &lo, None), None);
        let subnet = SessionOptions::default();
        let user = "<CycloneDDS><Domain><Discovery><Peers><Peer Address=\"10.0.0.2\"/></Peers></Discovery></Domain>";
        assert_eq!(warned(&subnet, &lo, Some(user)), None);
        assert!(
            warned(&subnet, &lo, Some("<CycloneDDS><Domain><Tracing/></Domain></CycloneDDS>"))
                .is_some()
        );
    }
}
