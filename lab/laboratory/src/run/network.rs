//! Two hosts for a remote cell: network namespaces joined by the emulated link.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use feros_link::{Counters, Link, LinkOptions, Namespace};

use super::traffic::Traffic;
use crate::scenario::LinkConditions;

/// The address of the talker and of servers on a link.
const TALKER_ADDRESS: &str = "10.77.0.1";
/// The address of listeners on a link.
const LISTENER_ADDRESS: &str = "10.77.0.2";
/// The address of all programs without a link.
const LOCAL_ADDRESS: &str = "127.0.0.1";

/// The hosts on which the programs of a cell run.
pub(super) enum Network {
    /// All programs run on this host.
    Local,
    /// Programs run on two hosts.
    Remote {
        /// The link is the first field, so that it is removed before the hosts.
        link: Link,
        talker: Namespace,
        listener: Namespace,
    },
}

/// One of the two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Talker,
    Listener,
}

impl Network {
    /// Creates two hosts on a link.
    pub(super) fn remote(conditions: &LinkConditions, seed: u64) -> Result<Self, String> {
        let talker = Namespace::new().map_err(|error| error.to_string())?;
        let listener = Namespace::new().map_err(|error| error.to_string())?;
        let options = options(conditions, seed);
        let link = Link::between(&talker, &listener, options).map_err(|error| error.to_string())?;
        Ok(Self::Remote { link, talker, listener })
    }

    pub(super) fn namespace(&self, host: Host) -> Option<&Namespace> {
        match self {
            Self::Local => None,
            Self::Remote { talker, listener, .. } => Some(match host {
                Host::Talker => talker,
                Host::Listener => listener,
            }),
        }
    }

    pub(super) fn address(&self, host: Host) -> &'static str {
        match (self, host) {
            (Self::Local, _) => LOCAL_ADDRESS,
            (Self::Remote { .. }, Host::Talker) => TALKER_ADDRESS,
            (Self::Remote { .. }, Host::Listener) => LISTENER_ADDRESS,
        }
    }

    /// Whether a port of the talker's host accepts connections.
    pub(super) fn answers(&self, port: u16) -> bool {
        let connect = || {
            [LOCAL_ADDRESS, TALKER_ADDRESS].iter().any(|address| {
                let address = address.parse().map(|address| SocketAddr::new(address, port));
                address.is_ok_and(|address| {
                    TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok()
                })
            })
        };
        match self {
            Self::Local => {
                let address = SocketAddr::from(([127, 0, 0, 1], port));
                TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok()
            }
            Self::Remote { talker, .. } => talker.run(connect).unwrap_or(false),
        }
    }

    /// The traffic within the hosts, in sum. Without hosts of its own, a cell shares the loopback
    /// device with all other programs of this machine.
    pub(super) fn traffic(&self) -> Traffic {
        match self {
            Self::Local => Traffic::here(),
            Self::Remote { talker, listener, .. } => [talker, listener]
                .into_iter()
                .filter_map(|host| host.run(Traffic::here).ok())
                .fold(Traffic::default(), Traffic::plus),
        }
    }

    /// The counters of the link.
    pub(super) fn counters(&self) -> Option<Counters> {
        match self {
            Self::Local => None,
            Self::Remote { link, .. } => Some(link.counters()),
        }
    }
}

fn options(conditions: &LinkConditions, seed: u64) -> LinkOptions {
    let defaults = LinkOptions::default();
    LinkOptions {
        rate_bits_per_second: conditions.rate_mbit.map(|rate| (rate * 1e6) as u64),
        delay: Duration::from_micros(conditions.delay_micros),
        jitter: Duration::from_micros(conditions.jitter_micros),
        loss: conditions.loss_percent / 100.0,
        burst: conditions.burst_packets,
        reorder: conditions.reorder_percent / 100.0,
        reorder_by: if conditions.reorder_percent > 0.0 {
            Duration::from_millis(1)
        } else {
            Duration::ZERO
        },
        queue_bytes: conditions.queue_bytes,
        queue_packets: match (conditions.queue_packets, conditions.queue_bytes) {
            (None, None) => defaults.queue_packets,
            (packets, _) => packets.map(u64::from),
        },
        // A scenario without a queue means that the host's own network card is the slow part: its
        // senders wait.
        backpressure: conditions.queue_packets.is_none() && conditions.queue_bytes.is_none(),
        mtu: conditions.mtu.and_then(|mtu| u16::try_from(mtu).ok()).unwrap_or(defaults.mtu),
        seed,
    }
}
