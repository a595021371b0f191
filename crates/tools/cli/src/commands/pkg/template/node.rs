//! The node `NODE_NAME`.

use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Error};

fn main() -> Result<(), Error> {
    let context = Context::from_env()?; // --ros-args, ROS_DOMAIN_ID, Ctrl-C
    let node = context.create_node("NODE_NAME")?;
    let publisher = node.create_publisher::<Text>("chatter", 10)?;
    let _timer = node.create_wall_timer(Duration::from_secs(1), move || {
        if let Err(error) = publisher.publish(Text { data: "hello".into() }) {
            eprintln!("{error}");
        }
    })?;
    feros::spin(&node)
}
