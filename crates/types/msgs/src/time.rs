//! Converts times and durations between messages and types for calculation.

use crate::builtin_interfaces::msg::{Duration, Time};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

macro_rules! seconds_and_nanoseconds {
    ($type:ty) => {
        impl $type {
            /// Converts a number of nanoseconds, which may be negative. `nanosec` is always below a
            /// second and counts forward, as ROS 2 requires. Values that do not fit into the 32-bit
            /// seconds of the message (68 years) become its smallest or largest value.
            #[must_use]
            pub fn from_nanos(nanos: i64) -> Self {
                match i32::try_from(nanos.div_euclid(NANOS_PER_SECOND)) {
                    // The remainder is between 0 and a second, so it fits.
                    Ok(sec) => Self { sec, nanosec: nanos.rem_euclid(NANOS_PER_SECOND) as u32 },
                    Err(_) if nanos < 0 => Self { sec: i32::MIN, nanosec: 0 },
                    Err(_) => Self { sec: i32::MAX, nanosec: NANOS_PER_SECOND as u32 - 1 },
                }
            }

            /// Returns the number of nanoseconds. All values are valid: `nanosec` is added
            /// unchanged even if it is a second or more.
            #[must_use]
            pub fn to_nanos(&self) -> i64 {
                i64::from(self.sec) * NANOS_PER_SECOND + i64::from(self.nanosec)
            }
        }
    };
}

seconds_and_nanoseconds!(Time);
seconds_and_nanoseconds!(Duration);

/// Limits the time to the range of the message, like [`Time::from_nanos`].
impl From<feros_time::Time> for Time {
    fn from(time: feros_time::Time) -> Self {
        Self::from_nanos(time.as_nanos())
    }
}

impl From<&Time> for feros_time::Time {
    fn from(time: &Time) -> Self {
        Self::from_nanos(time.to_nanos())
    }
}

impl From<Time> for feros_time::Time {
    fn from(time: Time) -> Self {
        Self::from(&time)
    }
}

impl TryFrom<Duration> for std::time::Duration {
    type Error = NegativeDuration;

    fn try_from(duration: Duration) -> Result<Self, NegativeDuration> {
        Self::try_from(&duration)
    }
}

/// Limits the duration to the range of the message, like [`Duration::from_nanos`].
impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        Self::from_nanos(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// The error for a negative ROS duration, which [`std::time::Duration`] cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the duration is negative ({nanos} ns) where only a length of time makes sense: check its sign"
)]
pub struct NegativeDuration {
    /// The duration in nanoseconds.
    pub nanos: i64,
}

impl TryFrom<&Duration> for std::time::Duration {
    type Error = NegativeDuration;

    fn try_from(duration: &Duration) -> Result<Self, NegativeDuration> {
        let nanos = duration.to_nanos();
        u64::try_from(nanos).map(Self::from_nanos).map_err(|_| NegativeDuration { nanos })
    }
}

/// Times before 1970 have negative seconds. Times beyond the range of the message are limited to
/// that range, as in [`Time::from_nanos`].
impl From<std::time::SystemTime> for Time {
    fn from(time: std::time::SystemTime) -> Self {
        let nanos = match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos)
            }
        };
        Self::from_nanos(nanos)
    }
}

impl From<&Time> for std::time::SystemTime {
    fn from(time: &Time) -> Self {
        let nanos = time.to_nanos();
        let distance = std::time::Duration::from_nanos(nanos.unsigned_abs());
        if nanos < 0 { Self::UNIX_EPOCH - distance } else { Self::UNIX_EPOCH + distance }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn negative_times_count_nanoseconds_forward() {
        assert_eq!(Time::from_nanos(-1), Time { sec: -1, nanosec: 999_999_999 });
        assert_eq!(
            Duration::from_nanos(-1_500_000_000),
            Duration { sec: -2, nanosec: 500_000_000 }
        );
        assert_eq!(Time { sec: -1, nanosec: 999_999_999 }.to_nanos(), -1);
    }

    #[test]
    fn extremes_are_cut_not_wrapped() {
        assert_eq!(Time::from_nanos(i64::MAX), Time { sec: i32::MAX, nanosec: 999_999_999 });
        assert_eq!(Time::from_nanos(i64::MIN), Time { sec: i32::MIN, nanosec: 0 });
        let greatest = Time { sec: i32::MAX, nanosec: u32::MAX };
        assert_eq!(greatest.to_nanos(), 2_147_483_647_000_000_000 + 4_294_967_295);
        assert_eq!(Duration::from(std::time::Duration::MAX).sec, i32::MAX);
    }

    #[test]
    fn every_whole_message_survives_the_round_trip() {
        for nanos in
            [0, 1, -1, 999_999_999, 1_000_000_000, -1_000_000_000, 1_700_000_000_123_456_789]
        {
            assert_eq!(Time::from_nanos(nanos).to_nanos(), nanos);
            let time = Time::from_nanos(nanos);
            assert_eq!(Time::from(SystemTime::from(&time)), time);
        }
    }

    #[test]
    fn a_negative_duration_is_no_std_duration() {
        let back = std::time::Duration::try_from(&Duration::from_nanos(5)).unwrap();
        assert_eq!(back, std::time::Duration::from_nanos(5));
        let error = std::time::Duration::try_from(&Duration::from_nanos(-5)).unwrap_err();
        assert_eq!(error.nanos, -5);
    }
}
