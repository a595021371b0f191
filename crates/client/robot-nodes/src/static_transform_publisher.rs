//! The node that publishes one transform that holds at any time
//! (`tf2_ros/src/static_transform_broadcaster_node.cpp`).

use std::hash::{BuildHasher as _, RandomState};

use feros::{Context, Error, Node, NodeOptions, Parameter, Parameters};
use feros_component::Component;
use feros_tf2::StaticTransformBroadcaster;

use crate::static_arguments::StaticTransform;

#[derive(Parameters)]
struct Settings {
    #[parameter(nested)]
    translation: Translation,
    #[parameter(nested)]
    rotation: Rotation,
    /// The parent frame
    #[parameter(default = "/frame", read_only)]
    frame_id: Parameter<String>,
    /// The child frame
    #[parameter(default = "/child", read_only)]
    child_frame_id: Parameter<String>,
}

/// The position of the child frame in the parent frame, in metres.
#[derive(Parameters)]
struct Translation {
    #[parameter(default = 0.0, read_only)]
    x: Parameter<f64>,
    #[parameter(default = 0.0, read_only)]
    y: Parameter<f64>,
    #[parameter(default = 0.0, read_only)]
    z: Parameter<f64>,
}

/// The orientation of the child frame in the parent frame, as a quaternion.
#[derive(Parameters)]
struct Rotation {
    #[parameter(default = 0.0, read_only)]
    x: Parameter<f64>,
    #[parameter(default = 0.0, read_only)]
    y: Parameter<f64>,
    #[parameter(default = 0.0, read_only)]
    z: Parameter<f64>,
    #[parameter(default = 1.0, read_only)]
    w: Parameter<f64>,
}

/// Publishes the transform that its parameters describe on `/tf_static`, for as long as this value
/// lives.
pub struct StaticTransformPublisher {
    node: Node,
    _broadcaster: StaticTransformBroadcaster,
}

impl StaticTransformPublisher {
    /// Makes the node for a transform, which replaces the values of its parameters.
    pub(crate) fn of(
        context: &Context,
        options: NodeOptions,
        transform: &StaticTransform,
    ) -> Result<Self, Error> {
        let StaticTransform { parent, child, transform } = transform;
        let numbers = [
            ("translation.x", transform.translation.x),
            ("translation.y", transform.translation.y),
            ("translation.z", transform.translation.z),
            ("rotation.x", transform.rotation.x),
            ("rotation.y", transform.rotation.y),
            ("rotation.z", transform.rotation.z),
            ("rotation.w", transform.rotation.w),
        ];
        let frames = [("frame_id", parent.as_str()), ("child_frame_id", child.as_str())];
        Self::new(context, options.parameter_overrides(numbers).parameter_overrides(frames))
    }
}

impl Component for StaticTransformPublisher {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        // Many of these nodes run at once, so each has a name of its own, as in stock
        // (`get_unique_node_name`).
        let number = RandomState::new().hash_one(std::process::id());
        let name = format!("static_transform_publisher_{number:016x}");
        let node = context.create_node_with(options.name(&name))?;
        let settings = Settings::declare(&node)?;
        let Settings { translation, rotation, .. } = &settings;
        let StaticTransform { parent, child, transform } = StaticTransform::new(
            &settings.frame_id.get(),
            &settings.child_frame_id.get(),
            [translation.x.get(), translation.y.get(), translation.z.get()],
            [rotation.x.get(), rotation.y.get(), rotation.z.get(), rotation.w.get()],
        )
        .map_err(Error::other)?;
        let broadcaster = StaticTransformBroadcaster::new(&node)?;
        broadcaster.send_transform(transform.to_stamped(&parent, &child, node.now()))?;
        feros::info!(
            node,
            "publishes the pose of {child:?} in {parent:?}: position {}, quaternion {}",
            transform.translation,
            transform.rotation
        );
        Ok(Self { node, _broadcaster: broadcaster })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}
