//! Links: a cable between two hosts, or a switch with any number of them.

use crate::counters::{Counters, DirectionCounters};
use crate::error::{LinkError, MOST_HOSTS};
use crate::forward::{Forwarder, Topology};
use crate::namespace::Namespace;
use crate::options::LinkOptions;
use crate::tap::{Tap, address};

/// A cable between two namespaces: the first has the address 10.77.0.1/24, the second 10.77.0.2/24,
/// multicast goes over it.
///
/// Dropping it removes the devices from the namespaces.
#[derive(Debug)]
pub struct Link {
    forwarder: Forwarder,
}

/// A switch with a cable to each of several namespaces, which have the addresses 10.77.0.1/24,
/// 10.77.0.2/24, ...
///
/// What a host sends takes its own line to the switch, as its options say, and from there the line
/// of the receiver (of each receiver, for multicast), which has the receiver's rate and queue, but
/// no delay and no loss of its own. So two senders share the rate of one receiver, a packet is on
/// the line twice, and a lost one is lost for all receivers.
///
/// Dropping it removes the devices from the namespaces.
#[derive(Debug)]
pub struct Switch {
    forwarder: Forwarder,
    hosts: usize,
}

impl Link {
    /// Joins two namespaces; both directions are as `options` say, with random numbers of their
    /// own.
    ///
    /// # Errors
    ///
    /// [`LinkError`]: options that cannot be, what is missing or not permitted, or a namespace that
    /// has a link already.
    pub fn between(
        first: &Namespace,
        second: &Namespace,
        options: LinkOptions,
    ) -> Result<Link, LinkError> {
        Self::between_unlike(first, second, options.clone(), backward(options))
    }

    /// Joins two namespaces; what the first sends is carried as `forward` says, what the second
    /// sends as `backward` says.
    ///
    /// # Errors
    ///
    /// As [`Link::between`].
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

    /// Changes both directions while packets are under way. Those that travel arrive as they would
    /// have; those that wait for the line have the new rate and delay. Random numbers go on where
    /// they are, unless the seed is another one.
    ///
    /// # Errors
    ///
    /// [`LinkError::Options`], and when the sender's device cannot be changed (MTU, backpressure).
    pub fn set(&self, options: LinkOptions) -> Result<(), LinkError> {
        self.set_unlike(options.clone(), backward(options))
    }

    /// Changes each direction, otherwise as [`Link::set`].
    ///
    /// # Errors
    ///
    /// As [`Link::set`].
    pub fn set_unlike(&self, forward: LinkOptions, backward: LinkOptions) -> Result<(), LinkError> {
        forward.validate()?;
        backward.validate()?;
        for (host, options) in [forward, backward].into_iter().enumerate() {
            self.forwarder.set(host, options, None)?;
        }
        Ok(())
    }

    /// What happened since the link was made.
    pub fn counters(&self) -> Counters {
        Counters { forward: self.forwarder.counters(0).0, backward: self.forwarder.counters(1).0 }
    }
}

/// The same line the other way, with other random numbers.
fn backward(mut options: LinkOptions) -> LinkOptions {
    options.seed = seed_of(options.seed, 1);
    options
}

/// The seed of the `host`-th host's line: the first has the seed itself.
fn seed_of(seed: u64, host: usize) -> u64 {
    seed.wrapping_add((host as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)) // the golden ratio: far from each other
}

impl Switch {
    /// Joins several namespaces, each by a cable that is as `options` say.
    ///
    /// # Errors
    ///
    /// [`LinkError`]: options that cannot be, fewer than 2 or more than 250 hosts, what is missing
    /// or not permitted, or a namespace that has a link already.
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

    /// How many hosts it joins.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// Changes the cable of one host, the first is 0, while packets are under way, as [`Link::set`]
    /// does.
    ///
    /// # Errors
    ///
    /// As [`Link::set`], and [`LinkError::Hosts`] when there is no such host.
    pub fn set(&self, host: usize, options: LinkOptions) -> Result<(), LinkError> {
        options.validate()?;
        if host >= self.hosts {
            return Err(LinkError::Hosts { asked: host + 1 });
        }
        let down = from_switch(&options);
        let up = LinkOptions { seed: seed_of(options.seed, host), ..options };
        self.forwarder.set(host, up, Some(down))
    }

    /// What happened to what a host sent (from the host to the switch) and to what was sent to it
    /// (from the switch to the host), for each host in the order given.
    pub fn counters(&self) -> Vec<(DirectionCounters, DirectionCounters)> {
        (0..self.hosts).map(|host| self.forwarder.counters(host)).collect()
    }
}

/// The line from the switch to a host with these options.
fn from_switch(options: &LinkOptions) -> LinkOptions {
    LinkOptions {
        rate_bits_per_second: options.rate_bits_per_second,
        queue_bytes: options.queue_bytes,
        queue_packets: options.queue_packets,
        mtu: options.mtu,
        ..LinkOptions::default()
    }
}

/// The address of the `host`-th namespace of a link or switch, the first is 0: 10.77.0.1,
/// 10.77.0.2, ...
pub fn host_address(host: usize) -> std::net::Ipv4Addr {
    address(host)
}
