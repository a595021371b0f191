//! The command and a stock node on two hosts that no multicast connects: which of them find each
//! other by `ROS_STATIC_PEERS`, by range. The hosts are network namespaces, which need root.

use std::process::Command;

use feros_interop::{Domain, Peer};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::skip;
use serde_json::json;

use super::TEXT;
use crate::process::{Finished, Running, eventually, has_line};

/// The addresses of the two hosts, as `feros_link` gives them.
const PEERS: &str = "10.77.0.1;10.77.0.2";

/// Makes a command run on a host, in a range and with the peers.
fn place(command: &mut Command, host: &Namespace, range: &str) {
    host.place(command);
    command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", range).env("ROS_STATIC_PEERS", PEERS);
}

/// Two hosts with a link between them.
struct Hosts {
    near: Namespace,
    far: Namespace,
    _link: Link,
    domain: Domain,
}

impl Hosts {
    /// Returns `None` if the interop tests are skipped, or the user may not make namespaces.
    fn new() -> Option<Self> {
        let domain = Domain::reserve()?;
        let namespaces = Namespace::new().and_then(|near| Ok((near, Namespace::new()?)));
        let (near, far) = match namespaces {
            Ok(namespaces) => namespaces,
            Err(error @ NamespaceError::NotPermitted { .. }) => {
                skip(error);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let link = Link::between(&near, &far, LinkOptions::default()).unwrap();
        Some(Self { near, far, _link: link, domain })
    }

    fn stock(&self, name: &str, range: &str) -> Peer {
        Peer::start_prepared(&self.domain, "/theirs", name, |command| {
            place(command, &self.far, range);
            command.stdin(std::process::Stdio::piped());
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        })
    }

    fn feros(&self, range: &str, arguments: &[&str]) -> Finished {
        let placed = |command: &mut Command| place(command, &self.near, range);
        Running::start_with_in(&self.domain, arguments, placed).finish()
    }

    fn nodes(&self, range: &str) -> String {
        self.feros(range, &["node", "list"]).success()
    }
}

#[test]
fn localhost_reaches_static_peers_and_off_ignores_them() {
    let Some(hosts) = Hosts::new() else { return };
    let mut stock = hosts.stock("local", "LOCALHOST");
    stock.ask("subscription", json!({"topic": "/text", "type": TEXT}));
    let sees_stock = |nodes: &String| has_line(nodes, "/theirs/local");
    eventually(|| hosts.nodes("LOCALHOST"), sees_stock);
    let publish = ["topic", "pub", "--once", "-w", "1", "/text", TEXT, "data: over there"];
    hosts.feros("LOCALHOST", &publish).success();
    assert_eq!(
        stock.ask("take", json!({"topic": "/text", "count": 1})),
        json!([{"data": "over there"}])
    );

    let alone = hosts.feros("OFF", &["node", "list"]);
    assert!(alone.err.contains("ROS_STATIC_PEERS is ignored"), "{alone:?}");
    assert_eq!(alone.success(), "");
    // A stock node with the range OFF stays alone, too. The other stock node is there meanwhile.
    let _off = hosts.stock("off", "OFF");
    let nodes = eventually(|| hosts.nodes("SUBNET"), sees_stock);
    assert!(!has_line(&nodes, "/theirs/off"), "{nodes}");
}
