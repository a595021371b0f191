//! Tests requests for missing fragments over a simulated line. A slow line is kept busy with
//! missing fragments, and the reader does not request a fragment again while it may still arrive.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use feros_cyclonedds_sys::{
    feros_requests, feros_requests_answer, feros_requests_asked, feros_requests_wait,
};

const MILLISECOND: i64 = 1_000_000;
/// The capacity of a retransmission queue, and the number of samples that one request may ask for.
const QUEUE: usize = 200;
const SAMPLES_PER_REQUEST: usize = 16;
const FRAGMENTS_PER_SAMPLE_ASKED: u32 = 256;

type Fragment = (u64, u32);

#[derive(Default)]
struct Reader {
    requests: feros_requests,
    missing: BTreeMap<u64, BTreeSet<u32>>,
    latest: Fragment,
    completed: u64,
    t_request: i64,
}

impl Reader {
    fn next_seq(&self) -> u64 {
        self.missing.keys().next().copied().unwrap_or(self.latest.0 + 1)
    }

    /// Receives a fragment. Returns whether it is new.
    fn receive(&mut self, (seq, fragment): Fragment, fragments: u32, now: i64) -> bool {
        // SAFETY: the reference is valid for the call.
        unsafe { feros_requests_answer(&raw mut self.requests, seq, fragment, fragment, now) };
        if seq > self.latest.0 {
            self.missing
                .extend((self.latest.0 + 1..=seq).map(|seq| (seq, (0..fragments).collect())));
        }
        self.latest = self.latest.max((seq, fragment));
        let Some(missing) = self.missing.get_mut(&seq) else { return false };
        let is_new = missing.remove(&fragment);
        if missing.is_empty() {
            self.missing.remove(&seq);
            self.completed += 1;
        }
        is_new
    }

    /// Returns the fragments to request, if it is time for a request.
    fn request(&mut self, now: i64) -> Option<Vec<Fragment>> {
        let next_seq = self.next_seq();
        // SAFETY: the reference is valid for the call.
        let wait =
            unsafe { feros_requests_wait(&raw const self.requests, next_seq, now, MILLISECOND) };
        if now - self.t_request < wait {
            return None;
        }
        let mut asked: Vec<Fragment> = Vec::new();
        for (&seq, missing) in self.missing.iter().take(SAMPLES_PER_REQUEST) {
            let known = if seq == self.latest.0 { self.latest.1 } else { u32::MAX };
            let Some(&base) = missing.iter().find(|&&fragment| fragment < known) else { continue };
            let end = known.min(base + FRAGMENTS_PER_SAMPLE_ASKED);
            let of_sample: Vec<u32> = missing.range(base..end).copied().collect();
            let count = of_sample.last().unwrap() + 1 - base;
            // SAFETY: the reference is valid for the call.
            unsafe {
                let begins = asked.is_empty();
                let requests = &raw mut self.requests;
                feros_requests_asked(requests, seq, base, count, begins, next_seq, now);
            }
            asked.extend(of_sample.into_iter().map(|fragment| (seq, fragment)));
        }
        if asked.is_empty() {
            return None;
        }
        self.t_request = now;
        Some(asked)
    }
}

/// A line from a writer to a reader that carries one packet in each time slot. The writer stops
/// publishing while `ahead` samples are incomplete.
struct Line {
    slot: i64,
    /// The number of time slots from one end to the other.
    delay: usize,
    loss: f64,
    fragments: u32,
    ahead: u64,
    slots: usize,
}

struct Outcome {
    /// The share of the slots that carried a packet, and the share of the packets that were
    /// repetitions.
    used: f64,
    repeated: f64,
    completed: u64,
}

impl Line {
    fn run(&self) -> Outcome {
        let mut reader = Reader::default();
        let (mut forward, mut backward) = (VecDeque::new(), VecDeque::new());
        let mut queue: VecDeque<Fragment> = VecDeque::new();
        let mut publishing: Fragment = (0, self.fragments);
        let (mut used, mut arrived, mut repeated) = (0, 0, 0);
        let mut random: u64 = 1;
        let mut is_lost = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((random >> 40) as f64 / (1 << 24) as f64) < self.loss
        };
        for slot in 0..self.slots {
            let now = 1000 * MILLISECOND + slot as i64 * self.slot;
            let of_request = backward.pop_front_at(slot);
            for fragment in of_request.into_iter().flatten() {
                if queue.len() < QUEUE && !queue.contains(&fragment) {
                    queue.push_back(fragment);
                }
            }
            if publishing.1 == self.fragments && publishing.0 + 1 < reader.next_seq() + self.ahead {
                publishing = (publishing.0 + 1, 0);
            }
            let is_new_in_turn = slot % 2 == 0 || queue.is_empty();
            let packet = if is_new_in_turn && publishing.1 < self.fragments {
                publishing.1 += 1;
                Some((publishing.0, publishing.1 - 1))
            } else {
                queue.pop_front()
            };
            used += usize::from(packet.is_some());
            if let Some(packet) = packet.filter(|_| !is_lost()) {
                forward.push_back((slot + self.delay, packet));
            }
            if let Some(packet) = forward.pop_front_at(slot) {
                arrived += 1;
                repeated += usize::from(!reader.receive(packet, self.fragments, now));
            }
            if let Some(request) = reader.request(now).filter(|_| !is_lost()) {
                backward.push_back((slot + 2, request));
            }
        }
        Outcome {
            used: used as f64 / self.slots as f64,
            repeated: f64::from(repeated as u32) / f64::from(arrived),
            completed: reader.completed,
        }
    }
}

trait Travelling<T> {
    /// Removes and returns the packet that arrives in this time slot.
    fn pop_front_at(&mut self, slot: usize) -> Option<T>;
}

impl<T> Travelling<T> for VecDeque<(usize, T)> {
    fn pop_front_at(&mut self, slot: usize) -> Option<T> {
        self.front().is_some_and(|(at, _)| *at <= slot).then(|| self.pop_front().unwrap().1)
    }
}

/// A line with 54 Mbit/s, samples of 512 KB, and a send buffer of 14 packets.
const SLOW: Line =
    Line { slot: 219_000, delay: 14, loss: 0.4, fragments: 391, ahead: 5, slots: 30_000 };

#[test]
fn a_slow_line_that_loses_packets_is_kept_busy() {
    for (loss, ahead, delay) in
        [(0.1, 5, 14), (0.3, 5, 14), (0.4, 5, 14), (0.4, 3, 14), (0.4, 5, 30)]
    {
        let line = Line { loss, ahead, delay, ..SLOW };
        let Outcome { used, repeated, completed } = line.run();
        assert!(used > 0.85, "{loss} lost, {delay} slots: the line is used for {used}");
        assert!(repeated < 0.1, "{loss} lost: {repeated} of what arrives was there already");
        let possible = line.slots as f64 * (1.0 - loss) / f64::from(line.fragments);
        assert!(completed as f64 > 0.75 * possible, "{loss} lost: {completed} of {possible}");
    }
}

#[test]
fn a_line_with_a_queue_carries_little_twice() {
    // The delays are the number of packets that are sent in 22 ms and in 75 ms.
    for delay in [100, 340] {
        let Outcome { repeated, .. } = Line { delay, loss: 0.1, ..SLOW }.run();
        assert!(repeated < 0.05, "{delay} slots: {repeated} of what arrives was there already");
    }
}
