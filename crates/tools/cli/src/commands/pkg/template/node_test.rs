//! Starts the node `NODE_NAME`, and receives what it publishes.

use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

use feros::engine::SessionOptions;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, ContextOptions, Error, Executor};

/// A running node, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_node_says_hello() -> Result<(), Error> {
    // A domain of its own, so that tests that run at the same time do not hear each other.
    let domain = 1 + std::process::id() % 100;
    let mut command = Command::new(env!("CARGO_BIN_EXE_NODE_NAME"));
    command.env("ROS_DOMAIN_ID", domain.to_string());
    let _running = Running(command.spawn().expect("cargo has built the node"));

    let context = Context::new(ContextOptions::new(SessionOptions::localhost(domain)))?;
    let test = context.create_node("test")?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let _chatter = test.create_subscription("chatter", 10, move |text: Text| {
        let _ = sender.try_send(text.data);
    })?;
    let executor = Executor::new();
    executor.add_node(&test)?;
    for _ in 0..600 {
        executor.spin_some(Duration::from_millis(100))?;
        if let Ok(text) = receiver.recv_timeout(Duration::from_millis(100)) {
            assert_eq!(text, "hello");
            return Ok(());
        }
    }
    panic!("the node says nothing");
}
