//! The sessions and messages of the tests, and helpers that wait for notifications.

use feros_sync::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros_engine::{Notify, Session, TypeHash};

/// A test that takes longer counts as hanging. All tests of the suite need less than a hundredth of
/// this time.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(60);

/// The type of the messages that [`numbered`] creates. It is a real type, because some engines
/// check the content of messages.
pub(crate) const NUMBER: &str = "std_msgs/msg/UInt32";
pub(crate) const HASH: TypeHash = TypeHash([0x5a; 32]);

/// Opens the sessions of a test.
pub trait Fixture {
    /// Opens two sessions that can reach each other. A fixture that tests a single session returns
    /// the same session twice.
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>);

    /// The tests of features that the protocol of the engine does not have, each with the reason.
    fn exceptions(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Reports that the running test is skipped because it is one of the exceptions.
    fn skip(&self, reason: &str) {
        eprintln!("skipped: {reason}");
    }

    /// The number of DDS networks to which a session is connected. If an endpoint has no ROS gid,
    /// such as a plain endpoint of a service's topic, a session sees it once on each of these
    /// networks.
    fn wires(&self) -> usize {
        1
    }
}

/// Runs a test, unless it is one of the fixture's exceptions.
pub fn run(name: &str, fixture: &dyn Fixture, test: fn(&dyn Fixture)) {
    match fixture.exceptions().iter().find(|(exception, _)| *exception == name) {
        Some((_, reason)) => fixture.skip(reason),
        None => test(fixture),
    }
}

/// Counts notifications, and lets a test wait for them.
#[derive(Default)]
pub struct NotificationCounter {
    count: Mutex<u64>,
    changed: Condvar,
}

impl NotificationCounter {
    /// Creates a counter.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the callback that increments the counter.
    pub fn notify(self: &Arc<Self>) -> Notify {
        let counter = self.clone();
        Arc::new(move || {
            // A failed test poisons the lock, but that must not make an engine's thread panic.
            *counter.count.lock() += 1;
            counter.changed.notify_all();
        })
    }

    /// Calls `look` immediately and then after each notification, until it returns a value.
    pub fn wait_for<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + WATCHDOG;
        loop {
            let seen = *self.count.lock();
            if let Some(found) = look() {
                return found;
            }
            let mut count = self.count.lock();
            while *count == seen {
                let left = deadline.saturating_duration_since(Instant::now());
                assert!(!left.is_zero(), "no notification came while waiting for {what}");
                count = self.changed.wait_timeout(count, left);
            }
        }
    }
}

/// Returns a name that no other test of this process uses.
pub(crate) fn unique(base: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{base}_p{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Creates a message that contains a number.
pub fn numbered(number: u32) -> Vec<u8> {
    [[0, 1, 0, 0], number.to_le_bytes()].concat()
}

/// Returns the number in a message.
pub fn number_in(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[4..8].try_into().unwrap())
}

/// Creates a `std_msgs/msg/String`.
pub fn text_message(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
    [&[0, 1, 0, 0], &length[..], text.as_bytes(), &[0]].concat()
}

/// Returns the text in a `std_msgs/msg/String`.
pub fn text_in(bytes: &[u8]) -> &str {
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    std::str::from_utf8(&bytes[8..8 + length - 1]).unwrap()
}

/// Creates a message of `size` bytes. Each byte depends on its position and on `seed`.
pub(crate) fn patterned(size: usize, seed: u8) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(
        (4..size).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8) ^ seed),
    );
    bytes
}

/// Compares messages. A received message may have up to three additional bytes, because messages
/// are padded on the wire.
pub(crate) fn assert_same(received: &[u8], sent: &[u8]) {
    let padding = received.len().checked_sub(sent.len()).expect("nothing is missing at the end");
    assert!(padding < 4, "{padding} bytes more than were sent");
    assert!(received[..sent.len()] == *sent, "the {} bytes differ", sent.len());
}
