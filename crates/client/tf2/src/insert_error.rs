//! Why a buffer refuses a transform. The messages have the wording of tf2.

use feros_executor::Time;

use crate::lookup_error::seconds;

/// Why a transform was refused. The buffer counts refusals in [`Refusals`](crate::Refusals).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The frame and its parent have the same name.
    #[error(
        "TF_SELF_TRANSFORM: Ignoring transform from authority \"{authority}\" with frame_id and \
         child_frame_id \"{frame}\" because they are the same"
    )]
    SelfTransform {
        /// The name of both frames.
        frame: String,
        /// The publisher.
        authority: String,
    },
    /// The name of the child is missing.
    #[error(
        "TF_NO_CHILD_FRAME_ID: Ignoring transform in frame_id \"{parent}\" from authority \
         \"{authority}\" because child_frame_id not set"
    )]
    NoChildFrameId {
        /// The parent.
        parent: String,
        /// The publisher.
        authority: String,
    },
    /// The name of the parent is missing.
    #[error(
        "TF_NO_FRAME_ID: Ignoring transform with child_frame_id \"{child}\" from authority \
         \"{authority}\" because frame_id not set"
    )]
    NoFrameId {
        /// The child.
        child: String,
        /// The publisher.
        authority: String,
    },
    /// A number is NaN or infinite.
    #[error(
        "TF_NAN_INPUT: Ignoring transform for child_frame_id \"{child}\" from authority \
         \"{authority}\" because of a nan or infinite value in the transform {translation:?} \
         {rotation:?}"
    )]
    NotFinite {
        /// The child.
        child: String,
        /// The publisher.
        authority: String,
        /// The translation: x, y, z.
        translation: [f64; 3],
        /// The quaternion: x, y, z, w.
        rotation: [f64; 4],
    },
    /// The quaternion is not a rotation: the square of its length differs from 1 by 0.01 or more.
    #[error(
        "TF_DENORMALIZED_QUATERNION: Ignoring transform for child_frame_id \"{child}\" from \
         authority \"{authority}\" because of an invalid quaternion in the transform {rotation:?}: \
         its length is {length:.6}, but must be 1"
    )]
    DenormalizedQuaternion {
        /// The child.
        child: String,
        /// The publisher.
        authority: String,
        /// The quaternion: x, y, z, w.
        rotation: [f64; 4],
        /// The length of the quaternion.
        length: f64,
    },
    /// The transform is older than the transforms that the buffer keeps.
    #[error(
        "TF_OLD_DATA: Ignoring data from the past for frame \"{child}\" at time {} according to \
         authority \"{authority}\": the newest data is of time {}, and data is kept for \
         {cache_seconds} s. The clocks of two publishers may disagree, or time jumped back",
        seconds(*stamp),
        seconds(*latest)
    )]
    OldData {
        /// The child.
        child: String,
        /// The publisher.
        authority: String,
        /// The stamp of the transform.
        stamp: Time,
        /// The stamp of the newest sample of the frame.
        latest: Time,
        /// The time for which the buffer keeps transforms, in seconds.
        cache_seconds: f64,
    },
    /// The transform would close a loop of frames.
    #[error(
        "TF_LOOP: Ignoring transform from authority \"{authority}\" that puts \"{child}\" into \
         \"{parent}\", because the frames would form a loop: {}. The publisher of \"{before}\" \
         says the opposite",
        chain.join(" -> ")
    )]
    Loop {
        /// The child.
        child: String,
        /// The parent.
        parent: String,
        /// The publisher.
        authority: String,
        /// The frames from the child upwards, until the child appears again.
        chain: Vec<String>,
        /// The frame whose parent closes the loop.
        before: String,
    },
    /// There would be more frames than the buffer may hold.
    #[error(
        "TF_TOO_MANY_FRAMES: Ignoring transform from authority \"{authority}\" that puts \
         \"{child}\" into \"{parent}\": the buffer already knows {frames} frames, the limit of its \
         options. Look for a publisher that sends a new frame name each time, or raise `max_frames`"
    )]
    TooManyFrames {
        /// The child.
        child: String,
        /// The parent.
        parent: String,
        /// The publisher.
        authority: String,
        /// The number of frames that the options allow.
        frames: usize,
    },
    /// A name is longer than names may be.
    #[error(
        "TF_LONG_FRAME_ID: Ignoring transform from authority \"{authority}\" because a frame name \
         has {length} bytes, but may have at most {longest}: it begins with \"{beginning}\""
    )]
    LongFrameId {
        /// The publisher.
        authority: String,
        /// The length of the name in bytes.
        length: usize,
        /// The longest allowed length in bytes.
        longest: usize,
        /// The beginning of the name.
        beginning: String,
    },
}
