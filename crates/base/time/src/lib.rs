//! A point in time on a clock. This is a separate crate because both the executor and the messages
//! use it, and they do not depend on each other.
//!
//! # Invariants
//!
//! The crate does not depend on any other crate of Feros: it is below both the executor and the
//! messages.
#![forbid(unsafe_code)]

use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in time on a clock, in nanoseconds since the epoch of that clock. Arithmetic saturates.
///
/// A message stamp can be converted to a `Time` and back: `Time::from(&header.stamp)`,
/// `clock.now().into()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    nanos: i64,
}

impl Time {
    /// The epoch of the clock. ROS time has this value while simulated time is on but no time has
    /// been received yet.
    pub const ZERO: Self = Self { nanos: 0 };

    /// The time that is `nanos` nanoseconds after the epoch. A negative value means a time before
    /// the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self { nanos }
    }

    /// The nanoseconds since the epoch.
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// The seconds since the epoch. The value is for people, or for arithmetic in which nanoseconds
    /// may be lost.
    #[expect(clippy::cast_precision_loss, reason = "that is what it says")]
    pub fn as_secs_f64(self) -> f64 {
        self.nanos as f64 * 1e-9
    }

    /// The time from `earlier` to this point, or zero if this point is not after `earlier`.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.nanos.saturating_sub(earlier.nanos)).unwrap_or(0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self { nanos: self.nanos.saturating_add(saturating_nanos(duration)) }
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self { nanos: self.nanos.saturating_sub(saturating_nanos(duration)) }
    }
}

/// The nanoseconds of a duration, limited to the largest value of a [`Time`] (292 years).
pub fn saturating_nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_at_its_ends() {
        let last = Time::from_nanos(i64::MAX);
        assert_eq!(last + Duration::MAX, last);
        assert_eq!(Time::from_nanos(i64::MIN) - Duration::MAX, Time::from_nanos(i64::MIN));
        assert_eq!(
            last.saturating_since(Time::from_nanos(i64::MIN)),
            Duration::from_nanos(i64::MAX as u64)
        );
        assert_eq!(Time::ZERO.saturating_since(last), Duration::ZERO);
    }
}
