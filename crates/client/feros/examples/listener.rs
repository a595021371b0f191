//! Logs the messages that it receives on `chatter`, like the listener in the stock ROS 2 demos.
use feros::{Context, Error, info, msgs::std_msgs::msg::String as Text};

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_node("listener")?;
    let speaker = node.clone();
    let _chatter = node.create_subscription("chatter", 10, move |text: Text| {
        info!(speaker, "I heard: '{}'", text.data);
    })?;
    feros::spin(&node)
}
