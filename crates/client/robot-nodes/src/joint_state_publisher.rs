//! The node that publishes joint states without a robot
//! (`joint_state_publisher/joint_state_publisher.py`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use feros::msgs::sensor_msgs::msg::JointState;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{
    Context, Error, Node, NodeOptions, NodeTimer, Parameter, ParameterValue, Parameters,
    Subscription,
};
use feros_component::Component;
use feros_sync::Mutex;

use crate::description::Robot;
use crate::joint_values::{Dependent, JointValues, Settings};
use crate::robot_state_publisher::{DESCRIPTION, latched, origin, read};

/// The rates that the node allows, in Hz.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=10_000.0;

#[derive(Parameters)]
struct Declared {
    /// The robot, as the text of a URDF file; by default it is taken from the topic
    #[parameter(default = "", read_only)]
    robot_description: Parameter<String>,
    /// Topics with joint states, whose values are taken
    #[parameter(default = Vec::<String>::new(), read_only)]
    source_list: Parameter<Vec<String>>,
    /// Move all joints by this much, in radians or metres, before each message; 0 moves nothing
    #[parameter(default = 0.0, read_only)]
    delta: Parameter<f64>,
    /// Let joints follow the joints in their <mimic> elements
    #[parameter(default = true, read_only)]
    use_mimic_tags: Parameter<bool>,
    /// Also keep the limits of <safety_controller> elements
    #[parameter(default = true, read_only)]
    use_smallest_joint_limits: Parameter<bool>,
    /// Publish positions although no source has any
    #[parameter(default = true, read_only)]
    publish_default_positions: Parameter<bool>,
    /// Publish velocities although no source has any
    #[parameter(default = false, read_only)]
    publish_default_velocities: Parameter<bool>,
    /// Publish efforts although no source has any
    #[parameter(default = false, read_only)]
    publish_default_efforts: Parameter<bool>,
}

/// Publishes the positions of all movable joints of a robot on `joint_states`: defaults, and values
/// from the topics in `source_list`.
pub struct JointStatePublisher {
    node: Node,
    _subscriptions: (Vec<Subscription<JointState>>, Subscription<Text>),
    _timer: NodeTimer,
}

/// The joints, which the node has as soon as it has a description.
#[derive(Default)]
struct Joints {
    values: JointValues,
    /// The text of the description.
    text: String,
}

impl Joints {
    fn configure(&mut self, text: String, settings: &Settings) -> Result<(), String> {
        // Another node may publish the same text again, which is no reason to begin anew.
        if text != self.text {
            let robot: Robot = text.parse().map_err(|error| format!("{error}"))?;
            self.values = JointValues::new(&robot, settings).map_err(|error| error.to_string())?;
            self.text = text;
        }
        Ok(())
    }
}

impl JointStatePublisher {
    /// Makes the node. It takes the description from `file`, or from its parameter; a description
    /// on the topic replaces both.
    pub(crate) fn with_file(
        context: &Context,
        options: NodeOptions,
        file: Option<&Path>,
    ) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("joint_state_publisher"))?;
        let declared = Declared::declare(&node)?;
        let period = period(&node)?;
        let settings = settings(&node, &declared)?;
        let joints = Arc::new(Mutex::new(Joints::default()));
        let text = match file {
            Some(file) => read(file)?,
            None => declared.robot_description.get(),
        };
        if text.is_empty() {
            feros::info!(
                node,
                "waits for the description of a robot on the topic robot_description"
            );
        } else {
            joints.lock().configure(text, &settings).map_err(|error| {
                Error::other(format!("{} cannot be used: {error}", origin(file)))
            })?;
        }
        let sources = sources(&node, &declared.source_list.get(), &joints)?;
        let description = follow_description(&node, &joints, settings)?;
        let timer = publish(&node, period, declared.delta.get(), joints)?;
        Ok(Self { node, _subscriptions: (sources, description), _timer: timer })
    }
}

impl Component for JointStatePublisher {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        Self::with_file(context, options, None)
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The time between two messages. Stock takes integers and floating-point numbers.
fn period(node: &Node) -> Result<Duration, Error> {
    let rate = node
        .build_dynamic_parameter("rate", 10)
        .description("Messages per second")
        .read_only()
        .declare()?
        .get();
    let hertz = number(&rate).filter(|hertz| RATES.contains(hertz));
    let hertz = hertz.ok_or_else(|| {
        let (low, high) = (RATES.start(), RATES.end());
        Error::other(format!("the parameter rate is {rate}: expected Hz, from {low} to {high}"))
    })?;
    Ok(Duration::from_secs_f64(1.0 / hertz))
}

fn number(value: &ParameterValue) -> Option<f64> {
    let number = match value {
        ParameterValue::Integer(number) => *number as f64,
        ParameterValue::Double(number) => *number,
        _ => return None,
    };
    Some(number).filter(|number| number.is_finite())
}

/// Reads the parameters that decide the values. The names of `zeros` and `dependent_joints` contain
/// names of joints, so those that have values are declared.
fn settings(node: &Node, declared: &Declared) -> Result<Settings, Error> {
    let mut zeros = BTreeMap::new();
    let mut parts: BTreeMap<String, BTreeMap<String, ParameterValue>> = BTreeMap::new();
    for (name, value) in node.parameter_overrides() {
        let of = |prefix| name.strip_prefix(prefix);
        if let Some(joint) = of("zeros.") {
            let zero = number(value).ok_or_else(|| wrong(name, value, "a finite number"))?;
            zeros.insert(joint.to_owned(), zero);
        } else if let Some(rest) = of("dependent_joints.") {
            let (joint, part) = rest.rsplit_once('.').unwrap_or((rest, ""));
            parts.entry(joint.to_owned()).or_default().insert(part.to_owned(), value.clone());
        } else {
            continue;
        }
        node.build_dynamic_parameter(name, value.clone()).read_only().declare()?;
    }
    let dependent = parts.into_iter().map(|(joint, parts)| {
        let dependent = dependent(&joint, &parts)?;
        Ok((joint, dependent))
    });
    Ok(Settings {
        zeros,
        dependent: dependent.collect::<Result<_, Error>>()?,
        use_mimic_tags: declared.use_mimic_tags.get(),
        use_smallest_joint_limits: declared.use_smallest_joint_limits.get(),
        publish_default_positions: declared.publish_default_positions.get(),
        publish_default_velocities: declared.publish_default_velocities.get(),
        publish_default_efforts: declared.publish_default_efforts.get(),
    })
}

fn dependent(joint: &str, parts: &BTreeMap<String, ParameterValue>) -> Result<Dependent, Error> {
    let (mut parent, mut factor, mut offset) = (None, 1.0, 0.0);
    for (part, value) in parts {
        let name = format!("dependent_joints.{joint}.{part}");
        let number = || number(value).ok_or_else(|| wrong(&name, value, "a finite number"));
        match part.as_str() {
            "parent" => {
                let text = value.as_str().ok_or_else(|| wrong(&name, value, "the name of a joint"));
                parent = Some(text?.to_owned());
            }
            "factor" => factor = number()?,
            "offset" => offset = number()?,
            _ => {
                return Err(Error::other(format!(
                    "the parameter dependent_joints.{joint} has {part:?}: it has to have `parent`, and \
                     may have `factor` and `offset`"
                )));
            }
        }
    }
    let parent = parent.ok_or_else(|| {
        Error::other(format!(
            "the parameter dependent_joints.{joint}.parent is missing: it names the joint that {joint} \
             follows"
        ))
    })?;
    Ok(Dependent { parent, factor, offset })
}

fn wrong(name: &str, value: &ParameterValue, expected: &str) -> Error {
    Error::other(format!("the parameter {name} is {value}: expected {expected}"))
}

fn sources(
    node: &Node,
    topics: &[String],
    joints: &Arc<Mutex<Joints>>,
) -> Result<Vec<Subscription<JointState>>, Error> {
    let subscribe = |topic: &String| {
        let joints = joints.clone();
        let take = move |state: Arc<JointState>| joints.lock().values.take(&state);
        Ok(node.create_subscription(topic, 10, take)?)
    };
    topics.iter().map(subscribe).collect()
}

fn follow_description(
    node: &Node,
    joints: &Arc<Mutex<Joints>>,
    settings: Settings,
) -> Result<Subscription<Text>, Error> {
    let joints = joints.clone();
    let callback = move |text: Text| {
        let configured = joints.lock().configure(text.data, &settings);
        if let Err(error) = configured {
            tracing::warn!("the robot description on the topic is not used: {error}");
        }
    };
    Ok(node.create_subscription(DESCRIPTION, latched(), callback)?)
}

fn publish(
    node: &Node,
    period: Duration,
    delta: f64,
    joints: Arc<Mutex<Joints>>,
) -> Result<NodeTimer, Error> {
    let publisher = node.create_publisher::<JointState>("joint_states", 10)?;
    let clock = node.clock().clone();
    let mut message = JointState::default();
    let timer = node.create_timer(period, move || {
        let has_joints = {
            let mut joints = joints.lock();
            if delta > 0.0 {
                joints.values.step(delta);
            }
            joints.values.write(&mut message)
        };
        if !has_joints {
            return;
        }
        message.header.stamp = clock.now().into();
        if let Err(error) = publisher.publish(&message) {
            tracing::error!("the joint states are not published: {error}");
        }
    })?;
    Ok(timer)
}
