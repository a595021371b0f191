//! The options of a link: the numbers that a scenario gives, and the check that a link can have
//! them.

use std::time::Duration;

/// The highest rate that can be requested. At a higher rate, the emulator's own cost would
/// determine the actual rate. For the fastest link that the machine can carry, request no rate.
pub const RATE_CEILING_BITS_PER_SECOND: u64 = 1_000_000_000;

/// One direction of a link.
///
/// The default is a cable without limits: no delay, no loss, as fast as this machine carries
/// packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOptions {
    /// The rate of the line in bits per second; `None` for as fast as the machine can carry
    /// packets. As on Ethernet, a packet occupies the line for its frame (at least 60 bytes, with
    /// the 14 bytes of header) and 24 bytes more: preamble, checksum and gap.
    pub rate_bits_per_second: Option<u64>,
    /// The travel time of a packet after it has left its sender.
    pub delay: Duration,
    /// The largest deviation of a packet's delay to either side; deviations are evenly distributed.
    /// At most `delay`. Packets stay in order: a packet that would overtake another packet arrives
    /// together with it, so close packets share the larger delay.
    pub jitter: Duration,
    /// The share of packets that are lost on the line, 0 to 1. A lost packet still occupies the
    /// line.
    pub loss: f64,
    /// The mean number of packets lost in a row (Gilbert-Elliott: in one state all packets are
    /// lost, in the other state no packet is); `None` for losses that are independent of each
    /// other. `loss` is still the share of all packets that are lost. At least 1, and at least
    /// `loss / (1 - loss)`.
    pub burst: Option<f64>,
    /// The share of packets that are held back by `reorder_by`, 0 to 1, so that later packets
    /// overtake them.
    pub reorder: f64,
    /// The extra travel time of a packet that is held back. It may be zero only if `reorder` is
    /// zero.
    pub reorder_by: Duration,
    /// The limit on bytes that wait while the line is busy, not counting the packet on the line.
    /// Packets that do not fit are dropped (tail drop).
    pub queue_bytes: Option<u64>,
    /// The limit on packets that wait while the line is busy. If both limits are set, the tighter
    /// limit applies; if neither is set, the limit is 256 MiB.
    pub queue_packets: Option<u64>,
    /// Whether senders wait for the line, as if it began at their own network card. Packets that
    /// the line cannot take yet then stay in the sender's kernel, charged to the sending socket, so
    /// a program whose send buffer is full has to wait, and nothing is dropped. Without
    /// backpressure, the line begins behind the card, at a switch or an access point: senders do
    /// not notice that it is busy, and the queue drops packets. Backpressure needs the program `tc`
    /// and the kernel's token bucket filter (sch_tbf); without a rate, it has no effect.
    pub backpressure: bool,
    /// The largest IP packet in bytes that the sender's device takes, 576 to 65,521.
    pub mtu: u16,
    /// The seed of the random numbers. The n-th packet's fate depends on the seed and n alone, not
    /// on time.
    pub seed: u64,
}

impl Default for LinkOptions {
    fn default() -> Self {
        LinkOptions {
            rate_bits_per_second: None,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: 0.0,
            burst: None,
            reorder: 0.0,
            reorder_by: Duration::ZERO,
            queue_bytes: None,
            queue_packets: Some(1000), // the default of Linux for a network device
            backpressure: false,
            mtu: 1500,
            seed: 0,
        }
    }
}

/// The reason why no link can have the requested options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinkOptionsError {
    /// The rate is zero or above the ceiling.
    #[error(
        "a rate of {asked} bit/s: give 1 to {RATE_CEILING_BITS_PER_SECOND}, or no rate for the \
         highest speed of this machine"
    )]
    Rate {
        /// The requested value.
        asked: u64,
    },
    /// A share is not a number from 0 to 1.
    #[error("{name} = {asked}: give a share from 0 to 1")]
    Share {
        /// `loss` or `reorder`.
        name: &'static str,
        /// The requested value.
        asked: f64,
    },
    /// The mean burst length is impossible.
    #[error(
        "bursts of {asked} lost packets on average are not possible at a loss of {loss}: give at \
         least {least}"
    )]
    Burst {
        /// The requested value.
        asked: f64,
        /// The share of packets to be lost.
        loss: f64,
        /// The shortest mean length at this share.
        least: f64,
    },
    /// The jitter is above the delay.
    #[error("a jitter of {jitter:?} around a delay of {delay:?}: give at most the delay")]
    Jitter {
        /// The requested value.
        jitter: Duration,
        /// The delay that the jitter varies.
        delay: Duration,
    },
    /// A time is longer than any experiment needs, and could overflow the arithmetic.
    #[error("{name} = {asked:?}: give at most {most:?}")]
    TooLong {
        /// `delay` or `reorder_by`.
        name: &'static str,
        /// The requested value.
        asked: Duration,
        /// The longest time allowed.
        most: Duration,
    },
    /// Packets are to be held back, but `reorder_by` is zero.
    #[error("a share of {reorder} is to be held back, but for no time: give reorder_by")]
    ReorderBy {
        /// The share of packets to be held back.
        reorder: f64,
    },
    /// No device can have this MTU.
    #[error("an MTU of {asked} bytes: give {LEAST_MTU} to {LARGEST_MTU}")]
    Mtu {
        /// The requested value.
        asked: u16,
    },
}

const LONGEST: Duration = Duration::from_secs(60);
const LEAST_MTU: u16 = 576; // every IPv4 host must accept this
const LARGEST_MTU: u16 = 65_521; // the limit of a TAP device: 65,535 with the header

impl LinkOptions {
    /// The rate that senders wait for.
    pub(crate) fn waiting_rate(&self) -> Option<u64> {
        self.rate_bits_per_second.filter(|_| self.backpressure)
    }

    /// Checks whether a link can have these options.
    ///
    /// # Errors
    ///
    /// [`LinkOptionsError`], for the first impossible option.
    pub fn validate(&self) -> Result<(), LinkOptionsError> {
        if let Some(asked) = self.rate_bits_per_second
            && !(1..=RATE_CEILING_BITS_PER_SECOND).contains(&asked)
        {
            return Err(LinkOptionsError::Rate { asked });
        }
        for (name, asked) in [("loss", self.loss), ("reorder", self.reorder)] {
            if !(0.0..=1.0).contains(&asked) {
                return Err(LinkOptionsError::Share { name, asked });
            }
        }
        for (name, asked) in [("delay", self.delay), ("reorder_by", self.reorder_by)] {
            if asked > LONGEST {
                return Err(LinkOptionsError::TooLong { name, asked, most: LONGEST });
            }
        }
        if self.jitter > self.delay {
            return Err(LinkOptionsError::Jitter { jitter: self.jitter, delay: self.delay });
        }
        if self.reorder > 0.0 && self.reorder_by.is_zero() {
            return Err(LinkOptionsError::ReorderBy { reorder: self.reorder });
        }
        if let Some(asked) = self.burst {
            let least =
                if self.loss < 1.0 { (self.loss / (1.0 - self.loss)).max(1.0) } else { 1.0 };
            if !(asked >= least && asked.is_finite()) {
                return Err(LinkOptionsError::Burst { asked, loss: self.loss, least });
            }
        }
        if !(LEAST_MTU..=LARGEST_MTU).contains(&self.mtu) {
            return Err(LinkOptionsError::Mtu { asked: self.mtu });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_a_link() {
        assert_eq!(LinkOptions::default().validate(), Ok(()));
    }

    #[test]
    fn impossible_options_are_refused_with_their_numbers() {
        let refused = |options: LinkOptions, text: &str| {
            let said = options.validate().map_err(|error| error.to_string());
            assert!(
                said.as_ref().is_err_and(|said| said.contains(text)),
                "{said:?} for {options:?}"
            );
        };
        let with = LinkOptions::default;
        refused(LinkOptions { rate_bits_per_second: Some(0), ..with() }, "a rate of 0 bit/s");
        refused(
            LinkOptions { rate_bits_per_second: Some(u64::MAX), ..with() },
            "no rate for the highest speed",
        );
        refused(LinkOptions { loss: 1.5, ..with() }, "loss = 1.5");
        refused(LinkOptions { loss: f64::NAN, ..with() }, "loss = NaN");
        refused(LinkOptions { loss: -0.1, ..with() }, "loss = -0.1");
        refused(
            LinkOptions { reorder: f64::INFINITY, reorder_by: LONGEST, ..with() },
            "reorder = inf",
        );
        refused(LinkOptions { reorder: 0.1, ..with() }, "give reorder_by");
        refused(
            LinkOptions { jitter: Duration::from_millis(2), ..with() },
            "around a delay of 0ns",
        );
        refused(LinkOptions { delay: Duration::MAX, ..with() }, "delay =");
        refused(LinkOptions { loss: 0.1, burst: Some(0.5), ..with() }, "give at least 1");
        refused(LinkOptions { loss: 0.8, burst: Some(2.0), ..with() }, "give at least 4");
        refused(
            LinkOptions { loss: 0.1, burst: Some(f64::NAN), ..with() },
            "bursts of NaN lost packets",
        );
        refused(LinkOptions { mtu: 68, ..with() }, "an MTU of 68");
        refused(LinkOptions { mtu: 65_522, ..with() }, "an MTU of 65522");
    }
}
