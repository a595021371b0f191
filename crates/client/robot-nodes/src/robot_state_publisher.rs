//! The node that publishes the poses of a robot's links
//! (`robot_state_publisher/src/robot_state_publisher.cpp`).

use std::path::Path;
use std::sync::Arc;

use feros::msgs::sensor_msgs::msg::JointState;
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::parameter::ParameterCallbackGuard;
use feros::{
    Context, Error, Node, NodeOptions, Parameter, ParameterValue, Parameters, Publisher,
    QosOverrides, QosProfile, Subscription, SubscriptionOptions,
};
use feros_component::Component;
use feros_sync::Mutex;
use feros_tf2::{STATIC_TOPIC, TransformBroadcaster, static_qos};

use crate::description::{self, Robot};
use crate::meshes;
use crate::poses::{Poses, Rules, fixed_transforms};

/// The parameter and the topic of the description.
pub(crate) const DESCRIPTION: &str = "robot_description";
const PREFIX: &str = "frame_prefix";

#[derive(Parameters)]
struct Settings {
    /// The robot, as the text of a URDF file
    #[parameter(default = "")]
    robot_description: Parameter<String>,
    /// How often, in Hz, the transforms of a joint are published at most; 0 sets no limit
    #[parameter(default = 20.0, range = 0.0..=1000.0)]
    publish_frequency: Parameter<f64>,
    /// Text before the names of all frames, such as left_arm/
    #[parameter(default = "")]
    frame_prefix: Parameter<String>,
    /// Publish the transforms for every message, whatever its stamp is
    #[parameter(default = false)]
    ignore_timestamp: Parameter<bool>,
    /// Take the description from the topic instead of publishing it there
    #[parameter(default = false, read_only)]
    use_robot_description_topic: Parameter<bool>,
}

/// Publishes the description of a robot on `robot_description`, the transforms of its fixed joints
/// on `/tf_static`, and those of its movable joints on `/tf`, with the positions of `joint_states`.
pub struct RobotStatePublisher {
    node: Node,
    _joint_states: Subscription<JointState>,
    _description: Option<Subscription<Text>>,
    _parameters: [ParameterCallbackGuard; 2],
}

impl RobotStatePublisher {
    /// Makes the node of a program, and warns about meshes that are not installed.
    ///
    /// Only the description that the user has given with the program may name files to look for.
    /// If descriptions from the network did, anybody could ask which files this host has: on
    /// `robot_description` and, in a container, with the request that loads the node.
    pub(crate) fn of_program(context: &Context, file: Option<&Path>) -> Result<Self, Error> {
        let made = Self::with_file(context, NodeOptions::default(), file)?;
        let description = made.node.get_parameter(DESCRIPTION)?;
        if let Some(text) = description.as_str().filter(|text| !text.is_empty()) {
            warn_of_missing_meshes(&made.node, &text.parse().map_err(Error::other)?);
        }
        Ok(made)
    }

    /// Makes the node. If the parameter `robot_description` is empty, the description is read from
    /// `file`.
    fn with_file(
        context: &Context,
        options: NodeOptions,
        file: Option<&Path>,
    ) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("robot_state_publisher"))?;
        let settings = Settings::declare(&node)?;
        let from_topic = settings.use_robot_description_topic.get();
        let origin = origin(file.filter(|_| settings.robot_description.get().is_empty()));
        let text = description_of(&settings, file)?;
        let outlet = Arc::new(Outlet::new(&node, &settings)?);
        if !(text.is_empty() && from_topic) {
            outlet
                .show(Some(text))
                .map_err(|error| Error::other(format!("{origin} cannot be used: {error}")))?;
        }
        let description =
            from_topic.then(|| follow_description(&node, outlet.clone())).transpose()?;
        let check = node.add_on_set_parameters_callback(check);
        let (inside, text) = (outlet.clone(), settings.robot_description.clone());
        let change = node.add_post_set_parameters_callback(move |changed| {
            let is_changed = |wanted| changed.iter().any(|(name, _)| name == wanted);
            if !is_changed(DESCRIPTION) && !is_changed(PREFIX) {
                return;
            }
            if let Err(error) = inside.show(is_changed(DESCRIPTION).then(|| text.get())) {
                tracing::error!("the new robot is not published: {error}");
            }
        });
        let joint_states = subscribe(&node, settings, outlet)?;
        let parameters = [check, change];
        Ok(Self {
            node,
            _joint_states: joint_states,
            _description: description,
            _parameters: parameters,
        })
    }
}

impl Component for RobotStatePublisher {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        Self::with_file(context, options, None)
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The text of the description, which is also the value of the parameter then. It may be empty only
/// if it comes from the topic.
fn description_of(settings: &Settings, file: Option<&Path>) -> Result<String, Error> {
    let text = settings.robot_description.get();
    if !text.is_empty() || (file.is_none() && settings.use_robot_description_topic.get()) {
        return Ok(text);
    }
    let Some(file) = file else {
        return Err(Error::other(format!(
            "the parameter {DESCRIPTION} is empty: set it to the text of a URDF file, for example in a \
             launch file by Command(['xacro ', file])"
        )));
    };
    let text = read(file)?;
    settings.robot_description.set(text.clone())?;
    Ok(text)
}

/// What errors call a description that was read from this file, or from the parameter.
pub(crate) fn origin(file: Option<&Path>) -> String {
    match file {
        Some(file) => format!("the robot description {}", file.display()),
        None => format!("the parameter {DESCRIPTION}"),
    }
}

/// Reads the file of a description.
pub(crate) fn read(file: &Path) -> Result<String, Error> {
    feros_files::read_to_string(file, description::MAX_BYTES as u64).map_err(|error| {
        Error::other(format!("the robot description {} cannot be read: {error}", file.display()))
    })
}

/// Refuses descriptions that cannot be used. The range of the frequency has been checked before.
fn check(parameters: &[(String, ParameterValue)]) -> Result<(), String> {
    for (name, value) in parameters {
        if name == DESCRIPTION
            && let Some(text) = value.as_str()
        {
            text.parse::<Robot>().map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Publishes what changes only with the robot and the prefix.
struct Outlet {
    node: Node,
    /// `None` if another node publishes the description.
    description: Option<Publisher<Text>>,
    fixed: Publisher<TFMessage>,
    prefix: Parameter<String>,
    /// The description of the present robot; empty before the first.
    text: Mutex<String>,
    /// A new robot, which the callback for joint states takes.
    next: Mutex<Option<Poses>>,
}

impl Outlet {
    fn new(node: &Node, settings: &Settings) -> Result<Self, Error> {
        let publish = || node.create_publisher(DESCRIPTION, latched());
        let from_topic = settings.use_robot_description_topic.get();
        Ok(Self {
            description: (!from_topic).then(publish).transpose()?,
            fixed: node.create_publisher(STATIC_TOPIC, static_qos(1))?,
            prefix: settings.frame_prefix.clone(),
            text: Mutex::default(),
            next: Mutex::default(),
            node: node.clone(),
        })
    }

    /// Publishes the robot of a description, or the present robot with a new prefix. One message
    /// has all fixed joints, so late subscriptions get no joints of an earlier robot.
    fn show(&self, new: Option<String>) -> Result<(), Error> {
        let is_new = new.is_some();
        let text = new.unwrap_or_else(|| self.text.lock().clone());
        if text.is_empty() && !is_new {
            return Ok(());
        }
        let robot: Robot = text.parse().map_err(Error::other)?;
        let prefix = self.prefix.get();
        let fixed = fixed_transforms(&robot, &prefix, self.node.now());
        if is_new {
            if let Some(publisher) = &self.description {
                publisher.publish(Text { data: text.clone() })?;
            }
            let movable = robot.joints().iter().filter(|joint| joint.kind.is_movable());
            feros::info!(
                self.node,
                "the robot {:?} has the root link {:?}, {} movable and {} fixed joints",
                robot.name(),
                robot.root(),
                movable.count(),
                fixed.transforms.len()
            );
            if let Some(element) = robot.unprocessed() {
                feros::warn!(self.node, "the robot may be incomplete: {element}");
            }
        }
        self.fixed.publish(fixed)?;
        *self.next.lock() = Some(Poses::new(robot, &prefix));
        *self.text.lock() = text;
        Ok(())
    }
}

/// The limit on warnings about the meshes of a robot.
const MOST_WARNINGS: usize = 20;

/// Warns about meshes that are not installed.
fn warn_of_missing_meshes(node: &Node, robot: &Robot) {
    let missing = meshes::missing(robot.meshes(), &feros_files::searched_prefixes());
    for mesh in missing.iter().take(MOST_WARNINGS) {
        feros::warn!(node, "{mesh}");
    }
    if let Some(more) = missing.len().checked_sub(MOST_WARNINGS).filter(|more| *more > 0) {
        feros::warn!(node, "{more} more meshes of the robot are missing");
    }
}

/// The QoS of the topic of the description: late subscriptions get it too.
pub(crate) fn latched() -> QosProfile {
    QosProfile::keep_last(1).transient_local()
}

/// Takes the description from another node.
fn follow_description(node: &Node, outlet: Arc<Outlet>) -> Result<Subscription<Text>, Error> {
    let callback = move |text: Text| {
        if let Err(error) = outlet.show(Some(text.data)) {
            tracing::warn!("the robot description on the topic is not used: {error}");
        }
    };
    Ok(node.create_subscription(DESCRIPTION, latched(), callback)?)
}

fn subscribe(
    node: &Node,
    settings: Settings,
    outlet: Arc<Outlet>,
) -> Result<Subscription<JointState>, Error> {
    let broadcaster = TransformBroadcaster::new(node)?;
    let clock = node.clock().clone();
    let mut poses = None;
    let options =
        SubscriptionOptions::from(QosProfile::sensor_data()).qos_overrides(QosOverrides::default());
    let callback = move |state: Arc<JointState>| {
        if let Some(next) = outlet.next.lock().take() {
            poses = Some(next);
        }
        let Some(poses) = &mut poses else { return };
        let rules = Rules::new(settings.publish_frequency.get(), settings.ignore_timestamp.get());
        let update = poses.update(&state, clock.now(), rules);
        for note in update.notes {
            tracing::warn!("{note}");
        }
        if let Some(transforms) = update.transforms
            && let Err(error) = broadcaster.publisher().publish(&*transforms)
        {
            tracing::error!("the transforms are not published: {error}");
        }
    };
    Ok(node.create_subscription("joint_states", options, callback)?)
}
