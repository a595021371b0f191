//! The broadcasters and the listener of transforms, with the topics and policies of `tf2_ros`.

mod broadcaster;
mod listener;
mod topics;

pub use broadcaster::{StaticTransformBroadcaster, TransformBroadcaster};
pub use listener::{ListenerOptions, TransformListener};
pub use topics::{STATIC_TOPIC, TOPIC, broadcaster_qos, dynamic_listener_qos, static_qos};
