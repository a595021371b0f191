//! A managed node: publishes the charge of the battery while it is active.

use std::time::Duration;

use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, LifecyclePublisher, State};
use feros::msgs::sensor_msgs::msg::BatteryState;
use feros::{Context, Error, LifecycleNode, NodeTimer};

#[derive(Default)]
struct Battery {
    timer: Option<NodeTimer>,
}

impl LifecycleCallbacks for Battery {
    fn on_configure(&mut self, node: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        let publisher: LifecyclePublisher<BatteryState> =
            node.create_lifecycle_publisher("battery_state", 10)?;
        let mut percentage = 1.0;
        self.timer = Some(node.create_wall_timer(Duration::from_millis(100), move || {
            percentage *= 0.999;
            if let Err(error) = publisher.publish(BatteryState { percentage, ..Default::default() }) {
                eprintln!("{error}");
            }
        })?);
        Ok(CallbackReturn::Success)
    }

    fn on_cleanup(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        self.timer = None;
        Ok(CallbackReturn::Success)
    }
}

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_lifecycle_node("battery", Battery::default())?;
    feros::spin(&node)
}
