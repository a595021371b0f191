//! Code that the tests share: it starts processes, provides the `/dev/shm` that they see, measures
//! their resources, and waits without time limits.

mod measure;
mod other_user;
mod pausing;
mod peer;
mod place;
mod scribble;

use serde_json::Value;

pub(crate) use feros_test_support::WATCHDOG;
use feros_test_support::eventually;
pub(crate) use measure::resources;
pub(crate) use other_user::{Copy, NOBODY};
pub(crate) use pausing::{signal, start_with_rare_announcements, start_with_short_lease};
pub(crate) use peer::{Gone, Peer, memory_of_name, program, segment};
pub(crate) use place::{DevShm, Place, is_root, skipped};
pub(crate) use scribble::scribble;

/// Repeats `found` until it returns a value.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    eventually(|| found().ok_or(what))
}

/// The number of repetitions: `FEROS_CRASH_ROUNDS`, or `few` if it is not set.
pub(crate) fn rounds(few: u32) -> u32 {
    count_of("FEROS_CRASH_ROUNDS", few)
}

/// The number in an environment variable, or `few` if it is not set.
pub(crate) fn count_of(variable: &str, few: u32) -> u32 {
    std::env::var(variable).map_or(few, |count| count.parse().unwrap())
}

/// Random numbers from a seed (`FEROS_CRASH_SEED`), so that a failure can be reproduced.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Self(std::env::var("FEROS_CRASH_SEED").map_or(0x5eed, |seed| seed.parse().unwrap()))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The number at the JSON pointer `pointer` of an answer.
#[track_caller]
pub(crate) fn number(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number {pointer} in {value}"))
}

/// The value of `what` in a listener's report on one talker; 0 before the talker's first message.
pub(crate) fn heard(report: &Value, talker: u32, what: &str) -> u64 {
    report.pointer(&format!("/streams/{talker}/{what}")).and_then(Value::as_u64).unwrap_or_default()
}

/// The largest gap between two messages, in milliseconds.
pub(crate) fn largest_gap_ms(report: &Value) -> u64 {
    number(report, "/largest_gap_us") / 1000
}
