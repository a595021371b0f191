//! tf2: the positions of frames relative to other frames over time.
//!
//! A [`Buffer`] holds the transforms that broadcasters sent during the last seconds, and returns
//! the position of one frame in another at any time in between. `TransformListener` fills a buffer
//! from `/tf` and `/tf_static`; `TransformBroadcaster` and `StaticTransformBroadcaster` publish
//! transforms. [`Transformable`] transforms `geometry_msgs` and point clouds into another frame.
//!
//! ```
//! use feros_msgs::geometry_msgs::msg::{PointStamped, TransformStamped};
//! use feros_tf2::{Buffer, Time, Transform, glam::DVec3};
//!
//! let buffer = Buffer::new();
//! let mount = Transform::from_translation(DVec3::new(0.2, 0.0, 0.5));
//! buffer.set_transform(&mount.to_stamped("base_link", "camera", Time::ZERO), "robot", true)?;
//!
//! let mut seen = PointStamped::default();
//! seen.header.frame_id = "camera".into();
//! seen.point.x = 1.0;
//! let on_robot = buffer.transform(&seen, "base_link")?;
//! assert_eq!((on_robot.point.x, on_robot.point.z), (1.2, 0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Frames and their transforms form trees. `lookup_transform(target, source, time)` has the
//! argument names and the argument order of tf2: the result transforms values from `source` into
//! `target`. [`Time::ZERO`] asks for the newest time at which the whole chain is known.
//!
//! | you know from tf2 | here |
//! |---|---|
//! | `tf2_ros::Buffer` | [`Buffer`] |
//! | `lookupTransform`, `canTransform` | [`Buffer::lookup_transform`], [`Buffer::can_transform`] |
//! | the same with a timeout | [`Buffer::wait_for_transform`]: await it, or block a thread |
//! | `lookupTransform` with a fixed frame | [`Buffer::lookup_transform_full`] |
//! | `buffer.transform(in, "frame")` | [`Buffer::transform`] |
//! | `tf2::doTransform` | [`Transformable::transformed`] |
//! | `tf2::TransformException` | [`LookupError`], an enum |
//! | `tf2_ros::TransformListener` | `TransformListener` |
//! | `tf2_ros::MessageFilter` | `feros_message_filters::TransformFilter` |
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `buffer`, `tree`, `history`, `frame_id` | the buffer, its frames, and their transforms over time |
//! | `walk` | the chain from one frame to another |
//! | `future` | waiting for a transform |
//! | `transform`, `geometry`, `point_cloud` | transforms, and messages brought into other frames |
//! | `node` | the listener and the broadcasters, with the feature `node` |
//! | `render` | the frames, for people and tools |
//! | `insert_error`, `lookup_error` | the errors |
//!
//! # Invariants
//!
//! The buffer does not depend on a node. The memory that a publisher can make the buffer allocate
//! is bounded. At a steady rate, neither adding a transform nor a lookup allocates.
#![forbid(unsafe_code)]

mod buffer;
mod frame_id;
mod future;
mod geometry;
mod history;
mod insert_error;
mod lookup_error;
#[cfg(feature = "node")]
mod node;
mod point_cloud;
mod render;
mod transform;
mod tree;
mod walk;

pub use buffer::{Buffer, BufferCounts, BufferOptions, BufferWatcher, Readiness, Refusals};
pub use future::{TransformFuture, WaitError};
pub use geometry::{StampedTransformable, TransformError, Transformable};
pub use insert_error::InsertError;
pub use lookup_error::LookupError;
#[cfg(feature = "node")]
pub use node::{
    ListenerOptions, STATIC_TOPIC, StaticTransformBroadcaster, TOPIC, TransformBroadcaster,
    TransformListener, broadcaster_qos, dynamic_listener_qos, static_qos,
};
pub use point_cloud::{PointCloudError, transform_point_cloud};
pub use render::FrameInfo;
pub use transform::Transform;

pub use feros_executor::Time;
pub use glam;
