//! Tests the rate control of best effort over simulated links: a full link carries whole samples;
//! on a link that loses packets for other reasons, rate control does not cause further losses; and
//! no report stops a writer.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;

use feros_cyclonedds_sys::{
    FEROS_RATE_KEEPS_UP, FEROS_RATE_LEAVE_OUT, feros_rate, feros_rate_ask, feros_rate_hear,
    feros_rate_sent, feros_report, feros_tally, feros_tally_fragment, feros_tally_whole,
};

const SECOND: i64 = 1_000_000_000;
const FRAGMENT: u32 = 1456;

#[derive(Default)]
struct Rate(feros_rate);

impl Rate {
    fn hear(&mut self, report: &feros_report, seq: u64, now: i64) {
        // SAFETY: both references are valid for the call.
        unsafe { feros_rate_hear(&raw mut self.0, report, seq, now) }
    }

    fn takes(&mut self, bytes: u32, now: i64) -> bool {
        // SAFETY: the reference is valid for the call.
        let answer = unsafe { feros_rate_ask(&raw mut self.0, bytes, now) };
        if answer == FEROS_RATE_LEAVE_OUT {
            return false;
        }
        // SAFETY: the reference is valid for the call.
        unsafe { feros_rate_sent(&raw mut self.0, bytes, now) }
        true
    }

    fn keeps_up(&mut self, now: i64) -> bool {
        // SAFETY: the reference is valid for the call.
        unsafe { feros_rate_ask(&raw mut self.0, FRAGMENT, now) == FEROS_RATE_KEEPS_UP }
    }
}

#[derive(Default)]
struct Reader {
    tally: feros_tally,
    whole: usize,
}

impl Reader {
    /// Receives a part of a sample, namely `arrived` of its `fragments`, one after the other
    /// beginning at `now`.
    fn receive(
        &mut self,
        now: i64,
        seq: u64,
        arrived: u32,
        fragments: u32,
    ) -> Option<feros_report> {
        let mut told = None;
        for _ in 0..arrived {
            let mut report = feros_report::default();
            // SAFETY: all references are valid for the call.
            let is_due = unsafe {
                let size = fragments * FRAGMENT;
                feros_tally_fragment(&raw mut self.tally, now, seq, size, FRAGMENT, &raw mut report)
            };
            told = is_due.then_some(report).or(told);
        }
        if arrived == fragments {
            // SAFETY: the reference is valid for the call.
            unsafe { feros_tally_whole(&raw mut self.tally, seq) };
            self.whole += 1;
        }
        told
    }
}

/// A link with a queue that drops excess packets, and the traffic over it.
struct Link {
    packets_per_second: fn(i64) -> f64,
    queue: f64,
    loss: f64,
    fragments: u32,
    hz: i64,
    seconds: i64,
}

/// A link with 46 Mbit/s, a queue of 300 packets, and samples of 60 KB.
const WIRELESS: Link = Link {
    packets_per_second: |_| 3700.0,
    queue: 300.0,
    loss: 0.0,
    fragments: 41,
    hz: 120,
    seconds: 20,
};

/// The number of samples that were published, and the number of samples that arrived complete.
struct Outcome {
    published: usize,
    whole: usize,
}

impl Link {
    fn run(&self, is_controlled: bool) -> Outcome {
        let (mut rate, mut reader) = (Rate::default(), Reader::default());
        let mut reports: VecDeque<(i64, feros_report)> = VecDeque::new();
        let mut random: u64 = 1;
        let mut chance = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 40) as f64 / (1 << 24) as f64
        };
        let (mut waiting, mut published) = (0.0_f64, 0);
        let begin = 1000 * SECOND;
        let between = SECOND / self.hz;
        for (seq, now) in
            (1..).zip((begin..begin + self.seconds * SECOND).step_by(between as usize))
        {
            let speed = (self.packets_per_second)((now - begin) / SECOND);
            waiting = (waiting - speed / self.hz as f64).max(0.0);
            published += 1;
            while let Some(&(at, report)) = reports.front()
                && at <= now
            {
                rate.hear(&report, seq - 1, now);
                reports.pop_front();
            }
            if is_controlled && !rate.takes(self.fragments * FRAGMENT, now) {
                continue;
            }
            let room = (self.queue - waiting).max(0.0) as u32;
            let taken = room.min(self.fragments);
            let arrived = (0..taken).filter(|_| chance() >= self.loss).count() as u32;
            let delay = ((waiting / speed + 0.002 + 0.0003 * chance()) * SECOND as f64) as i64;
            waiting += f64::from(taken);
            if let Some(report) = reader.receive(now + delay, seq, arrived, self.fragments) {
                reports.push_back((now + delay + SECOND / 500, report));
            }
        }
        Outcome { published, whole: reader.whole }
    }

    /// The number of published samples that the link can carry.
    fn carries(&self) -> f64 {
        let samples = |at| (self.packets_per_second)(at) / f64::from(self.fragments);
        (0..self.seconds).map(|at| samples(at).min(self.hz as f64)).sum()
    }
}

#[test]
fn a_full_link_carries_whole_samples() {
    let slow = Link { packets_per_second: |_| 806.0, queue: 65.0, fragments: 12, ..WIRELESS };
    let links = [
        WIRELESS,
        Link { hz: 100, ..WIRELESS },
        Link { hz: 360, ..WIRELESS },
        Link { hz: 150, ..slow },
        Link { packets_per_second: |_| 4300.0, queue: 1000.0, fragments: 360, hz: 30, ..WIRELESS },
    ];
    for link in links {
        let (controlled, free) = (link.run(true), link.run(false));
        let (hz, fragments, carries) = (link.hz, link.fragments, link.carries());
        let whole = controlled.whole as f64;
        assert!(whole > 0.9 * carries, "{hz} Hz, {fragments} fragments: {whole} of {carries}");
        assert!(free.whole as f64 * 5.0 < carries, "{hz} Hz: {} without a rate", free.whole);
    }
}

#[test]
fn where_nothing_is_lost_all_is_sent() {
    let link = Link { hz: 80, ..WIRELESS };
    let outcome = link.run(true);
    assert_eq!(outcome.whole, outcome.published);
}

#[test]
fn losses_that_are_no_full_link_cost_no_more_with_a_rate() {
    for (hz, fragments) in [(60, 41), (1500, 2)] {
        for loss in [0.001, 0.01, 0.05, 0.3] {
            let link = Link { loss, hz, fragments, seconds: 60, ..WIRELESS };
            let (controlled, free) = (link.run(true).whole, link.run(false).whole);
            let least = free as f64 * 0.93 - 5.0;
            assert!(controlled as f64 > least, "{loss} at {hz} Hz: {controlled} beside {free}");
        }
    }
}

#[test]
fn a_full_link_that_loses_too_carries_more_with_a_rate() {
    let link = Link { loss: 0.01, ..WIRELESS };
    let (controlled, free) = (link.run(true).whole, link.run(false).whole);
    assert!(controlled > 10 * free, "{controlled} beside {free}");
}

#[test]
fn a_link_that_carries_more_again_is_noticed() {
    let speed = |at| if at < 10 { 3700.0 } else { 7400.0 };
    let link = Link { packets_per_second: speed, hz: 240, seconds: 40, ..WIRELESS };
    let (whole, carries) = (link.run(true).whole as f64, link.carries());
    assert!(whole > 0.8 * carries, "{whole} of {carries}");
}

#[test]
fn a_link_that_carries_less_is_noticed() {
    let speed = |at| if at < 10 { 7400.0 } else { 1850.0 };
    let link = Link { packets_per_second: speed, hz: 120, ..WIRELESS };
    let (whole, carries) = (link.run(true).whole as f64, link.carries());
    assert!(whole > 0.8 * carries, "{whole} of {carries}");
}

/// Numbers that an attacker might send.
fn forged() -> impl Iterator<Item = feros_report> {
    let values = [0, 1, 7, 1000, 250_000, u32::MAX - 1, u32::MAX];
    let five = move |at: usize| {
        let value = |place: u32| values[at / values.len().pow(place) % values.len()];
        [value(0), value(1), value(2), value(3), value(4)]
    };
    (0..values.len().pow(5)).map(move |at| {
        let [micros, bytes, expected, whole, broken] = five(at);
        let first_seq = if at % 2 == 0 { u64::MAX } else { at as u64 };
        feros_report { first_seq, micros, bytes, expected, whole, broken }
    })
}

#[test]
fn no_report_stops_a_writer() {
    let mut rate = Rate::default();
    let (mut now, mut latest) = (1000 * SECOND, 1000 * SECOND);
    for (seq, report) in forged().enumerate() {
        now += SECOND / 9;
        rate.hear(&report, seq as u64, now);
        if rate.takes(60_000, now) {
            latest = now;
        }
        assert!(now - latest <= SECOND + SECOND / 4, "nothing is sent after {report:?}");
    }
    assert!(!rate.keeps_up(now), "no forged report was accepted");
    assert!(rate.keeps_up(now + 5 * SECOND), "a limit outlives its reports");
}

#[test]
fn a_limit_ends_with_the_reports() {
    let mut rate = Rate::default();
    let broken = feros_report {
        first_seq: 1,
        micros: 250_000,
        bytes: 1_000_000,
        expected: 1_500_000,
        whole: 0,
        broken: 25,
    };
    let now = 1000 * SECOND;
    rate.hear(&broken, 30, now);
    assert!(!rate.takes(60_000, now), "a trial begins with a pause");
    assert!((0..100).all(|_| rate.takes(60_000, now + 5 * SECOND)), "it goes on without reports");
}

#[test]
fn a_reader_that_gets_all_tells_nothing() {
    let mut reader = Reader::default();
    for seq in 1..1000 {
        let now = 1000 * SECOND + i64::try_from(seq).unwrap() * SECOND / 100;
        assert_eq!(reader.receive(now, seq, 41, 41), None);
    }
}
