//! Configures and activates managed nodes over the services of `lifecycle_msgs`.

use std::sync::Arc;

use feros::lifecycle::Transition;
use feros::msgs::lifecycle_msgs::srv::{ChangeState, ChangeState_Request};
use feros::{Client, Executor, Outcome};
use feros_launch::LifecycleManager;

use super::ros_node::{POLL_PERIOD, RosNode};

/// Manages nodes with the launch's node.
pub(super) struct ServiceLifecycleManager {
    node: Arc<RosNode>,
}

impl ServiceLifecycleManager {
    pub(super) fn new(node: &Arc<RosNode>) -> Self {
        Self { node: node.clone() }
    }
}

impl LifecycleManager for ServiceLifecycleManager {
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let client = self.node.get()?.create_client::<ChangeState>(&format!("{node}/change_state"));
        let client = client.map_err(|error| error.to_string())?;
        let what = format!("the managed node {node}");
        self.node.wait(&what, is_cancelled, |period| client.wait_for_service(period))?;
        for transition in [Transition::CONFIGURE, Transition::ACTIVATE] {
            if !change(&client, transition, is_cancelled)? {
                let label = transition.label();
                return Err(format!(
                    "it did not {label}: see its log, and its state with `feros lifecycle get \
                     {node}`"
                ));
            }
        }
        Ok(())
    }
}

/// Makes a node do a transition, however long it takes, and returns whether it succeeded.
fn change(
    client: &Client<ChangeState>,
    transition: Transition,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<bool, String> {
    let request = ChangeState_Request { transition: transition.into() };
    let mut response = client.call(&request).map_err(|error| error.to_string())?;
    let waiting = Executor::new();
    loop {
        match waiting.spin_until_complete(Some(POLL_PERIOD), &mut response) {
            Ok(Outcome::Completed(Ok(response))) => return Ok(response.success),
            Ok(Outcome::Completed(Err(error))) => return Err(error.to_string()),
            Err(error) => return Err(error.to_string()),
            Ok(_) if is_cancelled() => return Err("it was cancelled".to_owned()),
            Ok(_) => {}
        }
    }
}
