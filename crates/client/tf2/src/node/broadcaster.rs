//! Publishes transforms.

use std::sync::Arc;

use feros::msgs::geometry_msgs::msg::TransformStamped;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::{CreateError, Node, PublishError, Publisher, PublisherOptions};
use feros_sync::Mutex;

use crate::node::topics::{STATIC_TOPIC, TOPIC, broadcaster_qos, static_qos};

/// Publishes transforms on `/tf`, like `tf2_ros::TransformBroadcaster`.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros_tf2::{Transform, TransformBroadcaster, glam::DVec3};
/// let broadcaster = TransformBroadcaster::new(&node)?;
/// let pose = Transform::from_translation(DVec3::new(1.0, 0.0, 0.0));
/// broadcaster.send_transform(pose.to_stamped("odom", "base_link", node.clock().now()))?;
/// # Ok::<(), feros::Error>(())
/// ```
pub struct TransformBroadcaster {
    publisher: Publisher<TFMessage>,
}

impl TransformBroadcaster {
    /// Creates a broadcaster of a node, with the policies of `tf2_ros`.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`].
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        Self::with(node, broadcaster_qos())
    }

    /// Creates a broadcaster of a node, with these options.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`].
    pub fn with(node: &Node, options: impl Into<PublisherOptions>) -> Result<Self, CreateError> {
        Ok(Self { publisher: node.create_publisher(TOPIC, options)? })
    }

    /// Publishes the transform of one frame.
    ///
    /// # Errors
    /// The errors of [`Publisher::publish`].
    pub fn send_transform(&self, transform: TransformStamped) -> Result<(), PublishError> {
        self.send_transforms(vec![transform])
    }

    /// Publishes the transforms of several frames, in one message.
    ///
    /// # Errors
    /// The errors of [`Publisher::publish`].
    pub fn send_transforms(&self, transforms: Vec<TransformStamped>) -> Result<(), PublishError> {
        self.publisher.publish(TFMessage { transforms })
    }

    /// Returns the publisher that the broadcaster uses.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.publisher
    }
}

/// Publishes transforms that hold at any time, on `/tf_static`, like
/// `tf2_ros::StaticTransformBroadcaster`. Keep the broadcaster, since late subscriptions receive
/// nothing from a publisher that no longer exists.
pub struct StaticTransformBroadcaster {
    publisher: Publisher<TFMessage>,
    said: Mutex<Said>,
}

/// The last transform of each frame so far. Each published message holds all of them.
#[derive(Default)]
struct Said {
    message: Arc<TFMessage>,
    /// The version, which increases with each change of the message.
    version: u64,
    /// Whether a thread is publishing; that thread continues until it has published the newest
    /// version. With two publishing threads, the older version could be published last.
    is_publishing: bool,
}

impl StaticTransformBroadcaster {
    /// Creates a broadcaster of a node, with the policies of `tf2_ros`.
    ///
    /// # Errors
    /// The errors of [`Node::create_publisher`].
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        let publisher = node.create_publisher(STATIC_TOPIC, static_qos(1))?;
        Ok(Self { publisher, said: Mutex::default() })
    }

    /// Publishes the transform of one frame, together with the earlier transforms.
    ///
    /// # Errors
    /// The errors of [`Publisher::publish`].
    pub fn send_transform(&self, transform: TransformStamped) -> Result<(), PublishError> {
        self.send_transforms(vec![transform])
    }

    /// Publishes the transforms of several frames, together with the earlier transforms. If another
    /// thread is already publishing, that thread publishes these transforms as well.
    ///
    /// # Errors
    /// The errors of [`Publisher::publish`]; the next message then includes the transforms.
    pub fn send_transforms(&self, transforms: Vec<TransformStamped>) -> Result<(), PublishError> {
        if !self.said.lock().add(transforms) {
            return Ok(());
        }
        let turn = Turn(&self.said);
        loop {
            let (message, version) = {
                let said = self.said.lock();
                (said.message.clone(), said.version)
            };
            self.publisher.publish(message)?;
            if self.said.lock().is_done(version) {
                std::mem::forget(turn); // the turn has already been given back
                return Ok(());
            }
        }
    }

    /// Returns the publisher that the broadcaster uses.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.publisher
    }
}

impl Said {
    /// Adds transforms; returns whether the caller has to publish.
    fn add(&mut self, transforms: Vec<TransformStamped>) -> bool {
        let all = &mut Arc::make_mut(&mut self.message).transforms;
        for transform in transforms {
            match all.iter_mut().find(|known| known.child_frame_id == transform.child_frame_id) {
                Some(known) => *known = transform,
                None => all.push(transform),
            }
        }
        self.version += 1;
        !std::mem::replace(&mut self.is_publishing, true)
    }

    /// Returns whether the published version is the newest version. If so, the turn to publish
    /// ends.
    fn is_done(&mut self, published: u64) -> bool {
        if self.version == published {
            self.is_publishing = false;
        }
        self.version == published
    }
}

/// The turn of one thread to publish, which ends even after an error or a panic.
struct Turn<'a>(&'a Mutex<Said>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().is_publishing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transforms(child: &str, x: f64) -> Vec<TransformStamped> {
        let child_frame_id = child.to_owned();
        let mut transform = TransformStamped { child_frame_id, ..TransformStamped::default() };
        transform.transform.translation.x = x;
        vec![transform]
    }

    #[test]
    fn each_message_holds_the_last_of_each_frame_and_one_thread_publishes() {
        let mut said = Said::default();
        assert!(said.add(transforms("laser", 1.0)));
        let first = (said.message.clone(), said.version);
        assert!(!said.add(transforms("camera", 2.0)), "somebody publishes already");
        assert!(!said.add(transforms("laser", 3.0)));
        assert!(!said.is_done(first.1), "a newer version is unpublished");
        assert_eq!(first.0.transforms.len(), 1);
        let x = |place: usize| said.message.transforms[place].transform.translation.x;
        assert_eq!((said.message.transforms.len(), x(0), x(1)), (2, 3.0, 2.0));
        assert!(said.is_done(3));
        assert!(said.add(transforms("imu", 0.0)), "the turn was given back");
    }
}
