//! The component `robot_base::Wheels`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use feros::{Context, Error, Node, NodeOptions, NodeTimer, Service};
use feros_component::{Component, register};

feros::include_interfaces!();

use robot_msgs::msg::WheelSpeeds;
use robot_msgs::srv::{SetLimit, SetLimit_Request, SetLimit_Response};

/// Publishes the speeds of the wheels on `wheel_speeds`; `set_limit` limits them.
pub struct Wheels {
    node: Node,
    _timer: NodeTimer,
    _set_limit: Service<SetLimit>,
}

impl Component for Wheels {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("wheels"))?;
        let wanted = node.declare_parameter("speed", 2.0)?; // rad/s
        let limit = Arc::new(Mutex::new(f64::INFINITY));
        let set = Arc::clone(&limit);
        let set_limit = node.create_service::<SetLimit, _>("set_limit", move |request: SetLimit_Request| {
            let mut limit = set.lock().unwrap_or_else(PoisonError::into_inner);
            SetLimit_Response { before: std::mem::replace(&mut limit, request.limit) }
        })?;
        let publisher = node.create_publisher::<WheelSpeeds>("wheel_speeds", 10)?;
        let timer = node.create_wall_timer(Duration::from_millis(100), move || {
            let limit = *limit.lock().unwrap_or_else(PoisonError::into_inner);
            let speed = wanted.get().min(limit);
            let speeds = WheelSpeeds { left: speed, right: speed, ..WheelSpeeds::default() };
            if let Err(error) = publisher.publish(speeds) {
                eprintln!("{error}");
            }
        })?;
        Ok(Self { node, _timer: timer, _set_limit: set_limit })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

register!(Wheels, "robot_base::Wheels");
