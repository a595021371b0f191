//! Links: a cable between two hosts, or a switch with any number of them.

use crate::counters::{Counters, DirectionCounters};
use crate::error::{LinkError, MOST_HOSTS};
use crate::forward::{Forwarder, Topology};
use crate::namespace::Namespace;
use crate::options::LinkOptions;
use crate::tap::{Tap, address};

/// A cable between two namespaces: the first has the address 10.77.0.1/24, the second 10.77.0.2/24.
/// The cable also carries multicast.
///
/// Dropping this value removes the devices from the namespaces.
#[derive(Debug)]
pub struct Link {
    forwarder: Forwarder,
}

/// A switch with a cable to each of several namespaces, which have the addresses 10.77.0.1/24,
/// 10.77.0.2/24, ...
///
/// A packet takes the sender's line to the switch, with the sender's options, and from there the
/// receiver's line (for multicast, the line of each receiver), which has the receiver's rate and
/// queue, but no delay and no loss. So two senders share the rate of one receiver, a packet
/// occupies two lines, and a lost packet is lost for all receivers.
///
/// Dropping this value removes the devices from the namespaces.
#[derive(Debug)]
pub struct Switch {
    forwarder: Forwarder,
    hosts: usize,
}

impl Link {
    /// Joins two namespaces; both directions have these `options`, with separate random numbers.
    ///
    /// # Errors
    ///
    /// [`LinkError`]: impossible options, a missing requirement or permission, or a namespace that
    /// already has a link.
    pub fn between(
        first: &Namespace,
        second: &Namespace,
        options: LinkOptions,
    ) -> Result<Link, LinkError> {
        Self::between_unlike(first, second, options.clone(), backward(options))
    }

    /// Joins two namespaces; `forward` applies to packets from the first to the second, `backward`
    /// to the other direction.
    ///
    /// # Errors
    ///
    /// See [`Link::between`].
    pub fn between_unlike(
        first: &Namespace,
        second: &Namespace,
        forward: LinkOptions,
        backward: LinkOptions,
    ) -> Result<Link, LinkError> {
        forward.validate()?;
        backward.validate()?;
        let taps = vec![Tap::new(first, 0, &forward)?, Tap::new(second, 1, &backward)?];
        let up = vec![forward, backward];
        let unused = vec![LinkOptions::default(); 2];
        let forwarder =
            Forwarder::start(Topology::Cable, taps, up, unused).map_err(LinkError::Thread)?;
        Ok(Link { forwarder })
    }

    /// Changes both directions while packets are on their way. Packets that have left the line
    /// arrive as they would have without the change; packets that wait for the line get the new
    /// rate and delay. The random numbers continue, unless the seed changes.
    ///
    /// # Errors
    ///
    /// [`LinkError::Options`], or the error of changing the sender's device (MTU, backpressure).
    pub fn set(&self, options: LinkOptions) -> Result<(), LinkError> {
        self.set_unlike(options.clone(), backward(options))
    }

    /// Like [`Link::set`], but changes each direction separately.
    ///
    /// # Errors
    ///
    /// See [`Link::set`].
    pub fn set_unlike(&self, forward: LinkOptions, backward: LinkOptions) -> Result<(), LinkError> {
        forward.validate()?;
        backward.validate()?;
        for (host, options) in [forward, backward].into_iter().enumerate() {
            self.forwarder.set(host, options, None)?;
        }
        Ok(())
    }

    /// The counters since the link was created.
    pub fn counters(&self) -> Counters {
        Counters { forward: self.forwarder.counters(0).0, backward: self.forwarder.counters(1).0 }
    }
}

/// The options of the opposite direction: the same, with other random numbers.
fn backward(mut options: LinkOptions) -> LinkOptions {
    options.seed = seed_of(options.seed, 1);
    options
}

/// The seed of the `host`-th host's line; the first host has the given seed.
fn seed_of(seed: u64, host: usize) -> u64 {
    seed.wrapping_add((host as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)) // the golden ratio, so that seeds are far apart
}

impl Switch {
    /// Joins several namespaces, each by a cable with these `options`.
    ///
    /// # Errors
    ///
    /// [`LinkError`]: impossible options, fewer than 2 or more than 250 hosts, a missing
    /// requirement or permission, or a namespace that already has a link.
    pub fn among(namespaces: &[&Namespace], options: LinkOptions) -> Result<Switch, LinkError> {
        options.validate()?;
        let hosts = namespaces.len();
        if !(2..=MOST_HOSTS).contains(&hosts) {
            return Err(LinkError::Hosts { asked: hosts });
        }
        let taps = namespaces
            .iter()
            .enumerate()
            .map(|(host, namespace)| Tap::new(namespace, host, &options));
        let taps = taps.collect::<Result<Vec<_>, _>>()?;
        let up = (0..hosts)
            .map(|host| LinkOptions { seed: seed_of(options.seed, host), ..options.clone() });
        let down = vec![from_switch(&options); hosts];
        let forwarder = Forwarder::start(Topology::Switch, taps, up.collect(), down)
            .map_err(LinkError::Thread)?;
        Ok(Switch { forwarder, hosts })
    }

    /// The number of hosts that the switch joins.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Changes the cable of one host (the first is 0) while packets are on their way, like
    /// [`Link::set`].
    ///
    /// # Errors
    ///
    /// See [`Link::set`]; also [`LinkError::Hosts`] if there is no such host.
    pub fn set(&self, host: usize, options: LinkOptions) -> Result<(), LinkError> {
        options.validate()?;
        if host >= self.hosts {
            return Err(LinkError::Hosts { asked: host + 1 });
        }
        let down = from_switch(&options);
        let up = LinkOptions { seed: seed_of(options.seed, host), ..options };
        self.forwarder.set(host, up, Some(down))
    }

    /// The counters of each host, in the order of the hosts: from the host to the switch, and from
    /// the switch to the host.
    pub fn counters(&self) -> Vec<(DirectionCounters, DirectionCounters)> {
        (0..self.hosts).map(|host| self.forwarder.counters(host)).collect()
    }
}

/// The options of the line from the switch to a host whose cable has these options.
fn from_switch(options: &LinkOptions) -> LinkOptions {
    LinkOptions {
        rate_bits_per_second: options.rate_bits_per_second,
        queue_bytes: options.queue_bytes,
        queue_packets: options.queue_packets,
        mtu: options.mtu,
        ..LinkOptions::default()
    }
}

/// The address of the `host`-th namespace of a link or switch, counted from 0: 10.77.0.1,
/// 10.77.0.2, ...
pub fn host_address(host: usize) -> std::net::Ipv4Addr {
    address(host)
}
