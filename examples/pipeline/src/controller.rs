//! The controller: publishes the speed and the turn rate that follow the newest path, at a steady
//! rate.

use feros_sync::Mutex;
use std::sync::Arc;
use std::time::Duration;

use feros::msgs::geometry_msgs::msg::Twist;
use feros::msgs::nav_msgs::msg::Path;
use feros::{Context, Error, Node, NodeOptions, NodeTimer, Parameter, Time};
use feros_component::{Component, register};

use crate::input_report::ReportedInput;

/// Takes `path`; publishes `cmd_vel`. If no new path arrives for a while, it stops the robot.
pub struct Controller {
    node: Node,
    _paths: ReportedInput<Path>,
    _steps: NodeTimer,
}

impl Component for Controller {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("controller"))?;
        let law = Law::declare(&node)?;
        let rate_hz =
            node.build_parameter("rate_hz", 20.0).range(1.0..=1000.0).read_only().declare()?.get();
        let patience_s = node
            .build_parameter("patience_s", 0.5)
            .description("Stops when the newest path is older")
            .range(0.0..=60.0)
            .declare()?;
        let commands = node.create_publisher::<Twist>("cmd_vel", 10)?;
        let newest = Arc::new(Mutex::new(None::<(Time, Path)>));
        let (slot, clock) = (newest.clone(), node.clock().clone());
        let paths = node.create_subscription("path", 10, move |path: Path| {
            *slot.lock() = Some((clock.now(), path));
        })?;
        let clock = node.clock().clone();
        let steps = node.create_timer(Duration::from_secs_f64(1.0 / rate_hz), move || {
            let patience = Duration::from_secs_f64(patience_s.get());
            let command = match &*newest.lock() {
                Some((since, path)) if clock.now().saturating_since(*since) <= patience => {
                    law.command(path)
                }
                _ => Twist::default(),
            };
            if let Err(error) = commands.publish(command) {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { _paths: ReportedInput::new(&node, paths)?, _steps: steps, node })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The control law: the longer the path, the faster the robot drives; the farther its end is to the
/// side, the faster the robot turns.
struct Law {
    speed_gain: Parameter<f64>,
    turn_gain: Parameter<f64>,
    max_speed: Parameter<f64>,
    max_turn: Parameter<f64>,
}

impl Law {
    fn declare(node: &Node) -> Result<Self, Error> {
        let parameter =
            |name, default| node.build_parameter(name, default).range(0.0..=10.0).declare();
        Ok(Self {
            speed_gain: parameter("speed_gain", 0.5)?,
            turn_gain: parameter("turn_gain", 1.0)?,
            max_speed: parameter("max_speed", 1.0)?,
            max_turn: parameter("max_turn", 1.0)?,
        })
    }

    fn command(&self, path: &Path) -> Twist {
        let mut command = Twist::default();
        let Some(end) = path.poses.last().map(|end| &end.pose) else { return command };
        let length = end.position.x.hypot(end.position.y);
        // The path is straight, so the last pose faces the direction to which the robot has to
        // turn, even if the robot already faces it.
        let bearing = 2.0 * end.orientation.z.atan2(end.orientation.w);
        if length.is_finite() && bearing.is_finite() {
            command.linear.x = (self.speed_gain.get() * length).min(self.max_speed.get());
            let limit = self.max_turn.get();
            command.angular.z = (self.turn_gain.get() * bearing).clamp(-limit, limit);
        }
        command
    }
}

register!(Controller, "pipeline::Controller");
