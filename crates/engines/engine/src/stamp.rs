//! Source timestamps with a resolution of one nanosecond.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source timestamp: nanoseconds since the Unix epoch, on the publisher's clock.
///
/// The stamp and the publisher's gid together identify a message, so engines must transfer the
/// stamp exactly. RTPS counts in units of 2^-32 s (0.23 ns). Engines round up when they write a
/// stamp, and to the nearest nanosecond when they read it. Stamps from [`Stamp::MIN`] to
/// [`Stamp::MAX`] can be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stamp(pub i64);

impl Stamp {
    /// The earliest stamp that can be published. On the wire, a stamp at or before the epoch means
    /// "unknown".
    pub const MIN: Self = Self(1);
    /// The latest stamp that can be published, in the year 2106. RTPS counts seconds with 32 bits
    /// and reserves the last value.
    pub const MAX: Self = Self(u32::MAX as i64 * 1_000_000_000 - 1);

    /// Returns the current time of the system clock, limited to the range from [`Stamp::MIN`] to
    /// [`Stamp::MAX`]. Since the system clock may be set back, a later call may return an earlier
    /// time.
    pub fn now() -> Self {
        Self::from_system_time(SystemTime::now()).unwrap_or(Self::MIN)
    }

    /// Converts a point in time to a stamp. Returns `None` if the stamp cannot be published.
    pub fn from_system_time(time: SystemTime) -> Option<Self> {
        let since_epoch = time.duration_since(UNIX_EPOCH).ok()?;
        let stamp = Self(i64::try_from(since_epoch.as_nanos()).ok()?);
        stamp.is_publishable().then_some(stamp)
    }

    /// Converts the stamp to a point in time. Returns `None` if the stamp is not after the epoch.
    pub fn to_system_time(self) -> Option<SystemTime> {
        let nanos = u64::try_from(self.0).ok().filter(|nanos| *nanos > 0)?;
        UNIX_EPOCH.checked_add(Duration::from_nanos(nanos))
    }

    /// Whether a message can be published with this stamp.
    pub fn is_publishable(self) -> bool {
        (Self::MIN..=Self::MAX).contains(&self)
    }
}

/// Formats the stamp as its number of nanoseconds.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_keep_their_nanoseconds() {
        for stamp in
            [Stamp::MIN, Stamp(1_999_999_999), Stamp(1_700_000_000_123_456_789), Stamp::MAX]
        {
            assert_eq!(stamp.to_system_time().and_then(Stamp::from_system_time), Some(stamp));
        }
        for stamp in [Stamp(0), Stamp(-1), Stamp(i64::MIN)] {
            assert!(!stamp.is_publishable() && stamp.to_system_time().is_none());
        }
        assert!(
            !Stamp(Stamp::MAX.0 + 1).is_publishable()
                && Stamp::now() > Stamp(1_600_000_000_000_000_000)
        );
    }
}
