//! The messages received and published. They are kept in preallocated buffers, which are written at
//! most once a second while messages are on their way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::arguments::Arguments;
use crate::cold::make_cold;
use crate::line::{Line, fail, write};
use crate::time::now_nanos;
use crate::words::Role;

/// The limit on samples that wait to be written, no matter how many are expected.
const WAITING: u64 = 65_536;
const WRITE_NANOS: u64 = 1_000_000_000;
/// The time without any message after which missing messages count as lost.
const QUIET_NANOS: u64 = 3_000_000_000;

/// Triples of numbers, by column.
#[derive(Debug, Default)]
struct Columns {
    values: [Vec<u64>; 3],
    capacity: usize,
    written: u64,
}

impl Columns {
    fn new(arguments: &Arguments) -> Self {
        if !arguments.keeps_samples {
            return Self::default();
        }
        let capacity =
            arguments.messages().map_or(WAITING, |messages| (messages + 1).min(WAITING)) as usize;
        Self { values: [0; 3].map(|_| Vec::with_capacity(capacity)), capacity, written: 0 }
    }

    /// Adds a row; returns whether it is time to write.
    fn add(&mut self, row: [u64; 3], now: u64) -> bool {
        if self.capacity == 0 {
            return false;
        }
        if self.values[0].is_empty() {
            self.written = now; // a batch is written a second after its first row
        }
        for (column, value) in self.values.iter_mut().zip(row) {
            column.push(value);
        }
        self.values[0].len() >= self.capacity || now.saturating_sub(self.written) > WRITE_NANOS
    }

    fn write<'a>(&'a mut self, line: impl FnOnce([&'a [u64]; 3]) -> Line<'a>) {
        if self.values[0].is_empty() {
            return;
        }
        write(&line(self.values.each_ref().map(Vec::as_slice)));
    }

    fn clear(&mut self) {
        self.values.iter_mut().for_each(Vec::clear);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of one side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) first_nanos: u64,
    pub(crate) last_nanos: u64,
}

impl Counts {
    fn add(&mut self, at: u64, bytes: u64) {
        if self.messages == 0 {
            self.first_nanos = at;
        }
        self.messages += 1;
        self.bytes += bytes;
        self.last_nanos = at;
    }
}

impl Arguments {
    /// Creates the buffer for the messages that a subscription receives.
    pub fn samples(&self, subscription: usize) -> Samples {
        Samples::new(self, subscription)
    }

    /// Creates the buffer for the messages that are published.
    pub fn published(&self) -> Published {
        Published::new(self)
    }
}

/// The messages that one subscription received. Clones share the same buffer.
#[derive(Debug, Clone)]
pub struct Samples(Arc<Received>);

#[derive(Debug)]
struct Received {
    arguments: Arguments,
    subscription: usize,
    /// The highest number so far, plus one.
    next: AtomicU64,
    state: Mutex<(Counts, Columns)>,
}

impl Samples {
    fn new(arguments: &Arguments, subscription: usize) -> Self {
        let state = Mutex::new((Counts::default(), Columns::new(arguments)));
        Self(Arc::new(Received {
            arguments: arguments.clone(),
            subscription,
            next: AtomicU64::new(0),
            state,
        }))
    }

    /// Notes a payload; `now` was read first in the callback. Computes for `--work-micros`, like a
    /// user's callback. Returns whether it was the last message of the run. Ends the program if the
    /// message is not from this run, since no measurement could be trusted then.
    #[inline(never)] // scripts/count_message.py leaves it out
    pub fn note(&self, payload: &[u8], now: u64) -> bool {
        let Received { arguments, subscription, next, state } = &*self.0;
        let Some((at, number)) = arguments.read_stamp(payload) else {
            fail("a received payload does not have the size and the stamp that were sent");
        };
        if !arguments.is_filled(payload, number) {
            fail("the last byte of a received payload is not the one that its talker must write");
        }
        {
            let (counts, columns) = &mut *lock(state);
            counts.add(now, payload.len() as u64);
            if columns.add([number, now.saturating_sub(at), now], now) {
                Self::write(columns, *subscription);
            }
        }
        arguments.work();
        next.fetch_max(number + 1, Ordering::AcqRel);
        if arguments.role == Role::Listener {
            make_cold();
        }
        self.is_done()
    }

    /// Whether the last message has come. Always false in runs of `--seconds`, where the end of
    /// standard input ends the program.
    pub fn is_done(&self) -> bool {
        self.0.arguments.messages().is_some_and(|messages| messages > 0 && self.next() >= messages)
    }

    fn next(&self) -> u64 {
        self.0.next.load(Ordering::Acquire)
    }

    fn write(columns: &mut Columns, subscription: usize) {
        columns.write(|[numbers, nanos, at_nanos]| Line::Samples {
            subscription,
            numbers,
            nanos,
            at_nanos,
        });
        columns.clear();
    }

    pub(crate) fn finish(&self) -> Counts {
        let (counts, columns) = &mut *lock(&self.0.state);
        Self::write(columns, self.0.subscription);
        *counts
    }
}

/// The messages that were published. Clones share the same buffer.
#[derive(Debug, Clone)]
pub struct Published(Arc<Mutex<(Counts, Columns)>>);

impl Published {
    fn new(arguments: &Arguments) -> Self {
        Self(Arc::new(Mutex::new((Counts::default(), Columns::new(arguments)))))
    }

    /// Notes a call of publish that has just returned, by the time of its stamp.
    #[inline(never)] // scripts/count_message.py leaves this function out
    pub fn note(&self, number: u64, at: u64) {
        let now = now_nanos();
        let (counts, columns) = &mut *lock(&self.0);
        counts.add(at, 0);
        if columns.add([number, now.saturating_sub(at), at], now) {
            Self::write(columns);
        }
    }

    /// The number of messages so far.
    pub fn sent(&self) -> u64 {
        lock(&self.0).0.messages
    }

    fn write(columns: &mut Columns) {
        columns.write(|[numbers, call_nanos, at_nanos]| Line::Published {
            numbers,
            call_nanos,
            at_nanos,
        });
        columns.clear();
    }

    pub(crate) fn finish(&self) -> Counts {
        let (counts, columns) = &mut *lock(&self.0);
        Self::write(columns);
        *counts
    }
}

/// For pair and chain, after the last publish: waits until every subscription has the last of
/// `sent` messages, or no message has come for three seconds, or the program must stop.
pub fn wait_received(arguments: &Arguments, all: &[Samples], sent: u64) {
    let (mut before, mut since) = (0, now_nanos());
    loop {
        let sum = all.iter().map(Samples::next).sum::<u64>();
        let is_complete = all.iter().all(|samples| samples.next() >= sent);
        if is_complete || arguments.wait_stopped(Duration::from_millis(2)) {
            return;
        }
        let now = now_nanos();
        if sum != before {
            (before, since) = (sum, now);
        } else if now - since > QUIET_NANOS {
            return;
        }
    }
}
