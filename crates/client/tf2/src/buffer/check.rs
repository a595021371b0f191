//! The checks before a transform is added: its numbers must be finite, its rotation must be valid,
//! and both frames must have names.

use feros_executor::Time;
use feros_msgs::geometry_msgs::msg::TransformStamped;

use crate::insert_error::InsertError;
use crate::transform::Transform;
use crate::tree::{LONGEST_NAME_BYTES, Statement};

/// The square of a quaternion's length may differ from 1 by less than this, as in tf2
/// (`tf2/src/buffer_core.cpp`).
const TOLERANCE: f64 = 10e-3;

/// Checks a message, and converts it into a transform.
pub(super) fn statement<'a>(
    message: &'a TransformStamped,
    authority: &'a str,
    is_static: bool,
) -> Result<Statement<'a>, InsertError> {
    let child = without_slash(&message.child_frame_id);
    let parent = without_slash(&message.header.frame_id);
    let (owned_child, said_by) = (|| child.to_owned(), || authority.to_owned());
    for name in [child, parent] {
        if name.len() > LONGEST_NAME_BYTES {
            return Err(InsertError::LongFrameId {
                authority: said_by(),
                length: name.len(),
                longest: LONGEST_NAME_BYTES,
                beginning: name.chars().take(32).collect(),
            });
        }
    }
    if child.is_empty() {
        let parent = parent.to_owned();
        return Err(InsertError::NoChildFrameId { parent, authority: said_by() });
    }
    if parent.is_empty() {
        return Err(InsertError::NoFrameId { child: owned_child(), authority: said_by() });
    }
    if child == parent {
        return Err(InsertError::SelfTransform { frame: owned_child(), authority: said_by() });
    }
    let mut transform = Transform::from(&message.transform);
    if !transform.translation.is_finite() || !transform.rotation.is_finite() {
        return Err(InsertError::NotFinite {
            child: owned_child(),
            authority: said_by(),
            translation: transform.translation.to_array(),
            rotation: transform.rotation.to_array(),
        });
    }
    let squared = transform.rotation.length_squared();
    // The comparison is false for a square that has overflowed, too.
    let is_rotation = (squared - 1.0).abs() < TOLERANCE;
    if !is_rotation {
        return Err(InsertError::DenormalizedQuaternion {
            child: owned_child(),
            authority: said_by(),
            rotation: transform.rotation.to_array(),
            length: squared.sqrt(),
        });
    }
    transform.rotation = transform.rotation.normalize();
    let stamp = Time::from_nanos(message.header.stamp.to_nanos());
    Ok(Statement { child, parent, stamp, transform, authority, is_static })
}

/// Removes the slash with which names began in ROS 1, as tf2 does (`tf2/src/buffer_core.cpp`).
fn without_slash(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}
