//! Counts of the transforms that a buffer took in and refused.

use crate::history::Added;
use crate::insert_error::InsertError;
use crate::tree::Inserted;

/// Counts of a buffer since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BufferCounts {
    /// Transforms that were taken in.
    pub set: u64,
    /// Taken transforms that replaced one of the same frame and time.
    pub repeated: u64,
    /// Transforms that left early, since their frame had more of them than
    /// [`BufferOptions::samples_per_frame`](crate::BufferOptions::samples_per_frame).
    pub displaced: u64,
    /// Frames whose transforms were forgotten, since they were too old to keep a loop closed.
    pub forgotten: u64,
    /// The number of times that the buffer was cleared.
    pub cleared: u64,
    /// Transforms that were refused.
    pub refused: Refusals,
}

/// Transforms that were refused, by reason: see [`InsertError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refusals {
    /// A transform of a frame into itself.
    pub self_transform: u64,
    /// A frame or its parent has no name.
    pub no_frame_id: u64,
    /// A number that is NaN or infinite.
    pub not_finite: u64,
    /// A quaternion that does not have length 1.
    pub denormalized_quaternion: u64,
    /// Older than the transforms that the buffer keeps.
    pub old_data: u64,
    /// It would close a loop of frames.
    pub closes_loop: u64,
    /// Too many frames, or too long a name.
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
