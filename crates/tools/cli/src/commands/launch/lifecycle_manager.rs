//! Changes and watches managed nodes over the services and topics of `lifecycle_msgs`.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use feros::lifecycle::Transition;
use feros::msgs::lifecycle_msgs::msg::{Transition as TransitionMessage, TransitionEvent};
use feros::msgs::lifecycle_msgs::srv::{ChangeState, ChangeState_Request};
use feros::{CallbackGroupKind, Client, Executor, Outcome, SubscriptionOptions};
use feros_launch::{LifecycleManager, StateChange};

use super::ros_node::{POLL_PERIOD, RosNode};

/// The changes of a node that wait while an earlier one is reported, as many as a node keeps.
const QUEUE_DEPTH: usize = 10;

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
        let client = self.client(node, is_cancelled)?;
        for transition in [Transition::CONFIGURE, Transition::ACTIVATE] {
            if !change(&client, transition.into(), is_cancelled)? {
                let label = transition.label();
                return Err(format!(
                    "it did not {label}: see its log, and its state with `feros lifecycle get \
                     {node}`"
                ));
            }
        }
        Ok(())
    }

    fn change(
        &self,
        node: &str,
        transition: u8,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let client = self.client(node, is_cancelled)?;
        let message = TransitionMessage { id: transition, ..TransitionMessage::default() };
        if change(&client, message, is_cancelled)? {
            return Ok(());
        }
        Err(format!(
            "it refused or failed: see its log, and what it can do with `feros lifecycle list {node}`"
        ))
    }

    fn watch(
        &self,
        node: &str,
        report: &dyn Fn(StateChange),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let own = self.node.get()?;
        // Each watch has an executor of its own, but all share the node.
        let group = own.create_separate_callback_group(CallbackGroupKind::MutuallyExclusive);
        let options = SubscriptionOptions::from(QUEUE_DEPTH).callback_group(&group);
        let (sender, changes) = sync_channel(1);
        let topic = format!("{node}/transition_event");
        let note = move |event: TransitionEvent| {
            // There is room, since the executor runs one callback before the change is reported.
            let _ = sender.try_send(StateChange {
                transition: event.transition.label,
                start: event.start_state.label,
                goal: event.goal_state.label,
                problem: None,
            });
        };
        let subscription = own.create_subscription(&topic, options, note);
        let _subscription = subscription.map_err(|error| error.to_string())?;
        let executor = Executor::new();
        executor.add_callback_group(&group).map_err(|error| error.to_string())?;
        while !is_cancelled() {
            executor.spin_once(Some(POLL_PERIOD)).map_err(|error| error.to_string())?;
            changes.try_iter().for_each(report);
        }
        Ok(())
    }
}

impl ServiceLifecycleManager {
    /// A client that changes the state of a node, which exists then.
    fn client(
        &self,
        node: &str,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Client<ChangeState>, String> {
        let client = self.node.get()?.create_client::<ChangeState>(&format!("{node}/change_state"));
        let client = client.map_err(|error| error.to_string())?;
        let what = format!("the managed node {node}");
        self.node.wait(&what, is_cancelled, |period| client.wait_for_service(period))?;
        Ok(client)
    }
}

/// Makes a node do a transition, however long it takes, and returns whether it succeeded.
fn change(
    client: &Client<ChangeState>,
    transition: TransitionMessage,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<bool, String> {
    let request = ChangeState_Request { transition };
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
