//! The numbers of transforms that a buffer added and refused.

use std::fmt;

use crate::history::Added;
use crate::insert_error::InsertError;
use crate::tree::Inserted;

/// The counts of a buffer since it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BufferCounts {
    /// The number of transforms that were added.
    pub set: u64,
    /// The number of added transforms that replaced a transform of the same frame and time.
    pub repeated: u64,
    /// The number of transforms that were dropped early, because their frame had more transforms
    /// than [`BufferOptions::samples_per_frame`](crate::BufferOptions::samples_per_frame).
    pub displaced: u64,
    /// The number of frames whose transforms were forgotten because they were older than the cache
    /// length and would have closed a loop with a new transform.
    pub forgotten: u64,
    /// The number of times that the buffer was cleared.
    pub cleared: u64,
    /// The numbers of transforms that were refused.
    pub refused: Refusals,
}

/// The numbers of refused transforms, by reason; see [`InsertError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refusals {
    /// The frame and its parent were the same.
    pub self_transform: u64,
    /// The frame or its parent had no name.
    pub no_frame_id: u64,
    /// A number was NaN or infinite.
    pub not_finite: u64,
    /// The quaternion did not have length 1.
    pub denormalized_quaternion: u64,
    /// The transform was older than the transforms that the buffer keeps.
    pub old_data: u64,
    /// The transform would have closed a loop of frames.
    pub closes_loop: u64,
    /// There were too many frames, or a name was too long.
    pub beyond_limits: u64,
}

impl Refusals {
    /// The number of all refused transforms.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.self_transform
            + self.no_frame_id
            + self.not_finite
            + self.denormalized_quaternion
            + self.old_data
            + self.closes_loop
            + self.beyond_limits
    }

    /// Each number with its name and the words for a person.
    fn reasons(&self) -> [(&'static str, u64, &'static str); 7] {
        [
            ("self_transform", self.self_transform, "with the frame itself as parent"),
            ("no_frame_id", self.no_frame_id, "without the name of a frame"),
            ("not_finite", self.not_finite, "with numbers that are not finite"),
            (
                "denormalized_quaternion",
                self.denormalized_quaternion,
                "with a quaternion whose length is not 1",
            ),
            ("old_data", self.old_data, "older than those that are kept"),
            ("closes_loop", self.closes_loop, "that would close a loop"),
            ("beyond_limits", self.beyond_limits, "of too many frames or with too long names"),
        ]
    }

    /// The numbers by the names of the fields.
    pub fn by_reason(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.reasons().into_iter().map(|(name, count, _)| (name, count))
    }

    fn count(&mut self, error: &InsertError) {
        let counter = match error {
            InsertError::SelfTransform { .. } => &mut self.self_transform,
            InsertError::NoChildFrameId { .. } | InsertError::NoFrameId { .. } => {
                &mut self.no_frame_id
            }
            InsertError::NotFinite { .. } => &mut self.not_finite,
            InsertError::DenormalizedQuaternion { .. } => &mut self.denormalized_quaternion,
            InsertError::OldData { .. } => &mut self.old_data,
            InsertError::Loop { .. } => &mut self.closes_loop,
            InsertError::TooManyFrames { .. } | InsertError::LongFrameId { .. } => {
                &mut self.beyond_limits
            }
        };
        *counter += 1;
    }
}

/// `3 refused transforms: 1 without the name of a frame, 2 with numbers that are not finite`.
impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{total} refused transform{}", if total == 1 { "" } else { "s" })?;
        let reasons = self.reasons().into_iter().filter(|(_, count, _)| *count > 0);
        for (at, (_, count, words)) in reasons.enumerate() {
            write!(f, "{} {count} {words}", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl BufferCounts {
    pub(super) fn count(&mut self, outcome: &Result<Inserted, InsertError>) {
        let inserted = match outcome {
            Ok(inserted) => inserted,
            Err(error) => return self.refused.count(error),
        };
        self.set += 1;
        self.forgotten += inserted.forgotten as u64;
        match inserted.added {
            Added::New => {}
            Added::Repeated => self.repeated += 1,
            Added::Displaced => self.displaced += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_with_their_reasons() {
        assert_eq!(Refusals::default().to_string(), "0 refused transforms");
        let one = Refusals { closes_loop: 1, ..Refusals::default() };
        assert_eq!(one.to_string(), "1 refused transform: 1 that would close a loop");
        let all = Refusals {
            self_transform: 1,
            no_frame_id: 2,
            not_finite: 3,
            denormalized_quaternion: 4,
            old_data: 5,
            closes_loop: 6,
            beyond_limits: 7,
        };
        assert_eq!(all.total(), 28);
        let told = all.to_string();
        assert!(told.starts_with("28 refused transforms: 1 with the frame itself"), "{told}");
        assert!(told.contains(", 3 with numbers that are not finite, 4 with a"), "{told}");
        assert!(all.by_reason().map(|(_, count)| count).eq(1..=7));
    }
}
