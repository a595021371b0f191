//! A link: a cable between two hosts.

use crate::counters::Counters;
use crate::error::LinkError;
use crate::forward::Forwarder;
use crate::namespace::Namespace;
use crate::options::LinkOptions;
use crate::tap::Tap;

/// A cable between two namespaces: the first has the address 10.77.0.1/24, the second 10.77.0.2/24.
/// The cable also carries multicast.
///
/// Dropping this value removes the devices from the namespaces.
#[derive(Debug)]
pub struct Link {
    forwarder: Forwarder,
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
        options.validate()?;
        let taps = [Tap::new(first, 0, &options)?, Tap::new(second, 1, &options)?];
        let forwarder = Forwarder::start(taps, both_ways(options)).map_err(LinkError::Thread)?;
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
        options.validate()?;
        for (host, options) in both_ways(options).into_iter().enumerate() {
            self.forwarder.set(host, options)?;
        }
        Ok(())
    }

    /// The counters since the link was created.
    pub fn counters(&self) -> Counters {
        Counters { forward: self.forwarder.counters(0), backward: self.forwarder.counters(1) }
    }
}

/// The options of both directions: the same, with different random numbers.
fn both_ways(options: LinkOptions) -> [LinkOptions; 2] {
    // The golden ratio, so that the seeds are far apart.
    let seed = options.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    [options.clone(), LinkOptions { seed, ..options }]
}
