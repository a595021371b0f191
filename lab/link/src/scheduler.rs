//! Computes when a packet arrives, or whether it is lost: one direction of a link as arithmetic,
//! without a clock, a device or a thread.
//!
//! A packet waits until the line is free (or is dropped if too many wait), occupies the line for a
//! time that follows from its size and the rate, and then is lost or travels for the delay. The
//! caller tells the scheduler the time, in nanoseconds from any point; a late call does not change
//! when a packet is due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::counters::DirectionCounters;
use crate::loss::Loss;
use crate::options::LinkOptions;

/// The limit on bytes that wait or travel on a line, regardless of the options.
const MOST_BYTES_HELD: u64 = 256 << 20;
/// The shortest Ethernet frame as a device hands it over: shorter frames are padded.
pub(crate) const LEAST_FRAME_BYTES: u64 = 60;
/// The extra bytes that a frame occupies on the line: preamble, checksum, gap.
pub(crate) const LINE_BYTES: u64 = 24;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// One direction of a link, carrying packets of type `P`.
#[derive(Debug)]
pub(crate) struct Scheduler<P> {
    options: LinkOptions,
    fate: Fates,
    /// The first packet is on the line; the others wait.
    waiting: VecDeque<Waiting<P>>,
    waiting_bytes: u64,
    on_line: Option<OnLine>,
    free_at: u64,
    /// The remainder of the last packet's time, in bits times nanoseconds per second. It keeps the
    /// rate exact if times are not whole nanoseconds.
    remainder: u128,
    travelling: BinaryHeap<Reverse<Travelling<P>>>,
    travelling_bytes: u64,
    latest_arrival: u64,
    next_number: u64,
    highest_delivered: Option<u64>,
    counters: DirectionCounters,
}

#[derive(Debug)]
struct Waiting<P> {
    packet: P,
    bytes: u64,
    number: u64,
    since: u64,
    fate: Fate,
}

#[derive(Debug)]
struct OnLine {
    from: u64,
    until: u64,
}

#[derive(Debug)]
struct Travelling<P> {
    arrival: u64,
    number: u64,
    bytes: u64,
    packet: P,
}

impl<P> PartialEq for Travelling<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.arrival, self.number) == (other.arrival, other.number)
    }
}

impl<P> Eq for Travelling<P> {}

impl<P> PartialOrd for Travelling<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Travelling<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival, self.number).cmp(&(other.arrival, other.number))
    }
}

/// The random fate of a packet. It is drawn when the packet is offered, so that it depends only on
/// the seed and the packet's number.
#[derive(Debug)]
struct Fate {
    lost: bool,
    held_back: bool,
    jitter: f64,
}

/// Loss, order and jitter have separate random numbers, so that a change of the jitter does not
/// change the losses.
#[derive(Debug)]
struct Fates {
    loss: Loss,
    loss_random: Pcg64Mcg,
    order_random: Pcg64Mcg,
    jitter_random: Pcg64Mcg,
}

impl Fates {
    fn new(seed: u64) -> Self {
        let mut of_seed = Pcg64Mcg::seed_from_u64(seed);
        let mut next = || Pcg64Mcg::seed_from_u64(of_seed.random());
        Fates {
            loss: Loss::new(),
            loss_random: next(),
            order_random: next(),
            jitter_random: next(),
        }
    }

    fn next(&mut self, options: &LinkOptions) -> Fate {
        Fate {
            lost: self.loss.next(options.loss, options.burst, self.loss_random.random()),
            held_back: self.order_random.random::<f64>() < options.reorder,
            jitter: self.jitter_random.random::<f64>() * 2.0 - 1.0,
        }
    }
}

impl<P> Scheduler<P> {
    /// Creates an empty line. The options have been validated.
    pub(crate) fn new(options: LinkOptions) -> Self {
        Scheduler {
            fate: Fates::new(options.seed),
            options,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            on_line: None,
            free_at: 0,
            remainder: 0,
            travelling: BinaryHeap::new(),
            travelling_bytes: 0,
            latest_arrival: 0,
            next_number: 0,
            highest_delivered: None,
            counters: DirectionCounters::default(),
        }
    }

    /// The options of the line.
    pub(crate) fn options(&self) -> &LinkOptions {
        &self.options
    }

    /// The counters so far.
    pub(crate) fn counters(&self) -> DirectionCounters {
        self.counters
    }

    /// Changes the line at the time `now`. Packets that have left the line arrive as they would
    /// have; packets that wait, and the rest of the packet on the line, get the new rate and delay;
    /// the new loss applies to packets offered from now on. Another seed restarts the random
    /// numbers.
    pub(crate) fn set(&mut self, now: u64, options: LinkOptions) {
        self.advance(now);
        if options.seed != self.options.seed {
            self.fate = Fates::new(options.seed);
        }
        let rate_before = self.options.rate_bits_per_second;
        self.options = options;
        self.remainder = 0;
        if rate_before == self.options.rate_bits_per_second {
            return;
        }
        if let (Some(on_line), Some(head)) = (self.on_line.as_mut(), self.waiting.front()) {
            let whole = on_line.until.saturating_sub(on_line.from).max(1);
            let left = on_line.until.saturating_sub(now).min(whole);
            let (nanos, _) = line_time(self.options.rate_bits_per_second, head.bytes, 0);
            let left = u128::from(nanos) * u128::from(left) / u128::from(whole);
            on_line.from = now;
            on_line.until = now.saturating_add(u64::try_from(left).unwrap_or(u64::MAX));
        }
    }

    /// Accepts a packet of `bytes` bytes that was sent at the time `now`.
    pub(crate) fn offer(&mut self, now: u64, bytes: usize, packet: P) {
        self.advance(now);
        let bytes = bytes as u64;
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += bytes;
        let number = self.next_number;
        self.next_number += 1;
        let fate = self.fate.next(&self.options);
        if self.is_full_for(bytes) {
            self.counters.dropped_queue += 1;
            return;
        }
        self.waiting_bytes += bytes;
        self.waiting.push_back(Waiting { packet, bytes, number, since: now, fate });
        if self.on_line.is_none() {
            self.begin_next();
        }
        self.advance(now);
        let (packets, bytes) = self.behind_the_line();
        self.counters.largest_queue_packets = self.counters.largest_queue_packets.max(packets);
        self.counters.largest_queue_bytes = self.counters.largest_queue_bytes.max(bytes);
    }

    /// The number of packets and bytes that wait, not counting the packet on the line.
    fn behind_the_line(&self) -> (u64, u64) {
        let on_line = self.waiting.front().map_or(0, |head| head.bytes);
        (self.waiting.len().saturating_sub(1) as u64, self.waiting_bytes - on_line)
    }

    fn is_full_for(&self, bytes: u64) -> bool {
        if self.waiting_bytes + self.travelling_bytes + bytes > MOST_BYTES_HELD {
            return true;
        }
        if self.waiting.is_empty() {
            return false; // the line is free
        }
        let (packets_behind, bytes_behind) = self.behind_the_line();
        self.options.queue_packets.is_some_and(|most| packets_behind >= most)
            || self
                .options
                .queue_bytes
                .is_some_and(|most| bytes_behind.saturating_add(bytes) > most)
    }

    /// Moves on to `now`: packets that have left the line are lost or travel, and waiting packets
    /// follow.
    fn advance(&mut self, now: u64) {
        while let Some(OnLine { until, .. }) = self.on_line
            && until <= now
        {
            self.on_line = None;
            self.free_at = until;
            if let Some(sent) = self.waiting.pop_front() {
                self.waiting_bytes -= sent.bytes;
                self.leave(until, sent);
            }
            self.begin_next();
        }
    }

    fn begin_next(&mut self) {
        let Some(head) = self.waiting.front() else { return };
        if head.since > self.free_at {
            self.remainder = 0; // the line was idle
        }
        let from = self.free_at.max(head.since);
        let (nanos, remainder) =
            line_time(self.options.rate_bits_per_second, head.bytes, self.remainder);
        self.remainder = remainder;
        self.on_line = Some(OnLine { from, until: from.saturating_add(nanos) });
    }

    fn leave(&mut self, at: u64, sent: Waiting<P>) {
        if sent.fate.lost {
            self.counters.dropped_loss += 1;
            self.counters.dropped_loss_bytes += sent.bytes;
            return;
        }
        let jitter = (sent.fate.jitter * self.options.jitter.as_nanos() as f64) as i64; // validated: at most a minute, fits
        let arrival = at.saturating_add(nanos_of(self.options.delay)).saturating_add_signed(jitter);
        let arrival = if sent.fate.held_back {
            arrival.saturating_add(nanos_of(self.options.reorder_by))
        } else {
            self.latest_arrival = self.latest_arrival.max(arrival);
            self.latest_arrival
        };
        self.travelling_bytes += sent.bytes;
        self.travelling.push(Reverse(Travelling {
            arrival,
            number: sent.number,
            bytes: sent.bytes,
            packet: sent.packet,
        }));
    }

    /// The next packet that has arrived by `now`, with its arrival time.
    pub(crate) fn arrived(&mut self, now: u64) -> Option<(u64, P)> {
        self.advance(now);
        if self.travelling.peek()?.0.arrival > now {
            return None;
        }
        let Reverse(arrived) = self.travelling.pop()?;
        self.travelling_bytes -= arrived.bytes;
        if self.highest_delivered.is_some_and(|highest| arrived.number < highest) {
            self.counters.reordered += 1;
        } else {
            self.highest_delivered = Some(arrived.number);
        }
        self.counters.packets += 1;
        self.counters.bytes += arrived.bytes;
        let lateness = std::time::Duration::from_nanos(now - arrived.arrival);
        self.counters.largest_lateness = self.counters.largest_lateness.max(lateness);
        Some((arrived.arrival, arrived.packet))
    }

    /// The earliest time at which a packet can arrive; `None` if no packet is on its way.
    pub(crate) fn next_arrival(&self) -> Option<u64> {
        let least_delay = nanos_of(self.options.delay.saturating_sub(self.options.jitter));
        let leaving = self.on_line.as_ref().map(|line| line.until.saturating_add(least_delay));
        let travelling = self.travelling.peek().map(|next| next.0.arrival);
        [leaving, travelling].into_iter().flatten().min()
    }
}

/// The time that a packet of `bytes` bytes occupies the line, and the remainder of the division for
/// the next packet.
fn line_time(rate_bits_per_second: Option<u64>, bytes: u64, remainder: u128) -> (u64, u128) {
    let Some(rate) = rate_bits_per_second else { return (0, 0) };
    let bits = u128::from(bytes.max(LEAST_FRAME_BYTES).saturating_add(LINE_BYTES)) * 8;
    let scaled = bits * NANOS_PER_SECOND + remainder;
    let rate = u128::from(rate);
    (u64::try_from(scaled / rate).unwrap_or(u64::MAX), scaled % rate)
}

fn nanos_of(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "scheduler/tests.rs"]
mod tests;
