//! The transforms of one frame in its parent over the last seconds: a ring buffer of samples in the
//! order of their stamps.

use std::collections::VecDeque;
use std::time::Duration;

use feros_executor::Time;

use crate::frame_id::FrameId;
use crate::transform::Transform;

/// The transform of a frame into its parent at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) stamp: Time,
    pub(crate) parent: FrameId,
    pub(crate) transform: Transform,
}

/// The samples of a frame, the oldest first.
///
/// The ring buffer keeps its memory: at a steady rate, new samples take the memory of dropped ones.
#[derive(Debug, Default)]
pub(crate) struct History {
    samples: VecDeque<Sample>,
}

/// The effect of a sample on a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// The sample was added.
    New,
    /// The sample replaced a sample with the same stamp.
    Repeated,
    /// The history was full, so the oldest sample was dropped, although it was not too old to be
    /// kept.
    Displaced,
}

/// The position of a time among the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Exactly at this sample.
    At(u32),
    /// Between this sample and the next sample.
    After(u32),
}

/// Why a history that has samples has no transform for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The history has only one sample, at another time.
    OnlyAt(Time),
    /// The time is after the newest sample.
    Future {
        /// The stamp of the newest sample.
        latest: Time,
    },
    /// The time is before the oldest sample.
    Past {
        /// The stamp of the oldest sample.
        earliest: Time,
        /// The stamp of the newest sample.
        latest: Time,
    },
}

impl History {
    /// Returns the stamp of the newest sample if a new sample with this stamp would be older than
    /// it by more than `cache`.
    pub(crate) fn too_old(&self, stamp: Time, cache: Duration) -> Option<Time> {
        let latest = self.latest()?.stamp;
        (stamp < latest - cache).then_some(latest)
    }

    /// Adds a sample that is not too old, and drops the samples that are older than the newest
    /// sample by more than `cache`.
    pub(crate) fn insert(&mut self, sample: Sample, cache: Duration, capacity: usize) -> Added {
        let Some(latest) = self.latest() else {
            self.samples.push_back(sample);
            return Added::New;
        };
        // Old samples are dropped first, so that a full ring buffer does not grow.
        let newest = latest.stamp.max(sample.stamp);
        while self.samples.front().is_some_and(|oldest| oldest.stamp < newest - cache) {
            self.samples.pop_front();
        }
        let place = self.place_of(sample.stamp);
        if let Some(same) = place.checked_sub(1).and_then(|before| self.samples.get_mut(before))
            && same.stamp == sample.stamp
        {
            *same = sample;
            return Added::Repeated;
        }
        let is_full = self.samples.len() >= capacity.max(1);
        if is_full && place == 0 {
            return Added::Displaced; // the new sample is itself the oldest
        }
        if is_full {
            self.samples.pop_front();
        }
        self.samples.insert(place - usize::from(is_full), sample);
        if is_full { Added::Displaced } else { Added::New }
    }

    /// Returns the number of samples that are not after a time.
    fn place_of(&self, time: Time) -> usize {
        match self.latest() {
            // Usually, the newest sample comes last.
            Some(latest) if latest.stamp <= time => self.samples.len(),
            _ => self.samples.partition_point(|sample| sample.stamp <= time),
        }
    }

    /// Returns the position of a time, or `None` if there are no samples. [`Time::ZERO`] stands for
    /// the time of the newest sample.
    pub(crate) fn find(&self, time: Time) -> Result<Option<Position>, Missing> {
        let (Some(oldest), Some(newest)) = (self.samples.front(), self.samples.back()) else {
            return Ok(None);
        };
        let last = self.samples.len() - 1;
        if time == Time::ZERO || time == newest.stamp {
            return Ok(Some(Position::At(index(last))));
        }
        if last == 0 {
            return Err(Missing::OnlyAt(newest.stamp));
        }
        if time > newest.stamp {
            return Err(Missing::Future { latest: newest.stamp });
        }
        let place = self.place_of(time);
        let Some(before) = place.checked_sub(1) else {
            return Err(Missing::Past { earliest: oldest.stamp, latest: newest.stamp });
        };
        let is_at = self.samples.get(before).is_some_and(|sample| sample.stamp == time);
        Ok(Some(if is_at { Position::At(index(before)) } else { Position::After(index(before)) }))
    }

    /// Returns the sample at a position that [`History::find`] returned.
    pub(crate) fn sample(&self, position: Position) -> Option<&Sample> {
        let (Position::At(index) | Position::After(index)) = position;
        self.samples.get(index as usize)
    }

    /// Returns the transform at a position that [`History::find`] returned for a time. Samples with
    /// different parents are not interpolated; the older sample is valid until the time of the
    /// newer sample.
    pub(crate) fn transform(&self, position: Position, time: Time) -> Option<Transform> {
        let older = self.sample(position)?;
        let Position::After(index) = position else { return Some(older.transform) };
        let newer = self.samples.get(index as usize + 1)?;
        if newer.parent != older.parent {
            return Some(older.transform);
        }
        #[allow(clippy::cast_precision_loss)] // the error is far below a nanosecond
        let nanos = |from: Time, to: Time| to.as_nanos().saturating_sub(from.as_nanos()) as f64;
        let ratio = nanos(older.stamp, time) / nanos(older.stamp, newer.stamp);
        Some(older.transform.interpolate(newer.transform, ratio))
    }

    pub(crate) fn latest(&self) -> Option<&Sample> {
        self.samples.back()
    }

    pub(crate) fn oldest(&self) -> Option<&Sample> {
        self.samples.front()
    }

    pub(crate) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Drops all samples, but keeps their memory for new ones.
    pub(crate) fn clear(&mut self) {
        self.samples.clear();
    }
}

/// Converts an index; the capacity of a history is far below `u32::MAX`.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    const CACHE: Duration = Duration::from_nanos(100);

    fn sample(stamp: i64) -> Sample {
        #[allow(clippy::cast_precision_loss)]
        let transform = Transform::from_translation(DVec3::new(stamp as f64, 0.0, 0.0));
        Sample { stamp: Time::from_nanos(stamp), parent: FrameId::new(1), transform }
    }

    fn history(stamps: &[i64]) -> History {
        let mut history = History::default();
        for stamp in stamps {
            history.insert(sample(*stamp), CACHE, 10);
        }
        history
    }

    fn stamps(history: &History) -> Vec<i64> {
        history.samples.iter().map(|sample| sample.stamp.as_nanos()).collect()
    }

    #[test]
    fn samples_are_in_order_whatever_the_order_they_came_in() {
        assert_eq!(stamps(&history(&[50, 70, 60, 10, 65])), [10, 50, 60, 65, 70]);
    }

    #[test]
    fn old_samples_leave_and_older_ones_do_not_come() {
        let mut history = history(&[10, 50, 120]);
        assert_eq!(stamps(&history), [50, 120]);
        assert_eq!(history.too_old(Time::from_nanos(19), CACHE), Some(Time::from_nanos(120)));
        assert_eq!(history.too_old(Time::from_nanos(20), CACHE), None);
        assert_eq!(history.insert(sample(20), CACHE, 10), Added::New);
        assert_eq!(history.insert(sample(50), CACHE, 10), Added::Repeated);
        assert_eq!(stamps(&history), [20, 50, 120]);
    }

    #[test]
    fn a_full_history_loses_its_oldest_sample_and_says_so() {
        let mut history = history(&[1, 2, 3]);
        assert_eq!(history.insert(sample(4), CACHE, 3), Added::Displaced);
        assert_eq!(stamps(&history), [2, 3, 4]);
        let mut other = self::history(&[10, 20, 30]);
        assert_eq!(other.insert(sample(25), CACHE, 3), Added::Displaced);
        assert_eq!(stamps(&other), [20, 25, 30]);
        assert_eq!(other.insert(sample(5), CACHE, 3), Added::Displaced);
        assert_eq!(stamps(&other), [20, 25, 30], "an older one does not displace newer ones");
    }

    #[test]
    fn times_are_found_between_samples_and_refused_beyond() {
        let history = history(&[10, 20, 40]);
        let find = |nanos| history.find(Time::from_nanos(nanos));
        assert_eq!(find(0), Ok(Some(Position::At(2))));
        assert_eq!(find(10), Ok(Some(Position::At(0))));
        assert_eq!(find(20), Ok(Some(Position::At(1))));
        assert_eq!(find(30), Ok(Some(Position::After(1))));
        assert_eq!(find(41), Err(Missing::Future { latest: Time::from_nanos(40) }));
        let (earliest, latest) = (Time::from_nanos(10), Time::from_nanos(40));
        assert_eq!(find(9), Err(Missing::Past { earliest, latest }));
        let half = history.transform(Position::After(1), Time::from_nanos(30));
        assert_eq!(half.map(|half| half.translation.x), Some(30.0));
    }

    #[test]
    fn one_sample_holds_for_its_own_time_alone() {
        let history = history(&[10]);
        assert_eq!(history.find(Time::from_nanos(10)), Ok(Some(Position::At(0))));
        let missing = Err(Missing::OnlyAt(Time::from_nanos(10)));
        assert_eq!(history.find(Time::from_nanos(11)), missing);
        assert_eq!(History::default().find(Time::ZERO), Ok(None));
    }
}
