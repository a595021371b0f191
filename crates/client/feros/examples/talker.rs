//! Publishes `Hello N` on `chatter` twice a second, like the talker in the stock ROS 2 demos.
use feros::{Context, Error, info, msgs::std_msgs::msg::String as Text};
use std::time::Duration;

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_node("talker")?;
    let publisher = node.create_publisher::<Text>("chatter", 10)?;
    let (speaker, mut count) = (node.clone(), 0);
    let _timer = node.create_wall_timer(Duration::from_millis(500), move || {
        count += 1;
        let text = Text { data: format!("Hello {count}") };
        info!(speaker, "Publishing: '{}'", text.data);
        publisher.publish(text).unwrap_or_else(|error| feros::error!(speaker, "{error}"));
    })?;
    feros::spin(&node)
}
