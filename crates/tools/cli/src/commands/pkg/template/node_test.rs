//! Starts the node `NODE_NAME`, and receives what it publishes.

use std::error::Error;
use std::process::Child;
use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use feros_testing::Harness;

/// A running node, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_node_says_hello() -> Result<(), Box<dyn Error>> {
    // The node and the test have a domain of their own, and stay on this host.
    let harness = Harness::new()?;
    let _running = Running(harness.command(env!("CARGO_BIN_EXE_NODE_NAME")).spawn()?);
    let text: Text = harness.expect_message("chatter", Duration::from_secs(60))?;
    assert_eq!(text.data, "hello");
    Ok(())
}
