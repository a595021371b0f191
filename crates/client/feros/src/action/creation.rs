//! Makes servers and clients of actions.

use feros_message::Action;

use super::client::{ActionClient, ActionClientOptions, GenericActionClient};
use super::names::ActionIdentity;
use super::serialized::Serialized;
use super::server::{ActionCallbacks, ActionServer, ActionServerOptions, GenericActionServer};
use crate::create_error::CreateError;
use crate::node::Node;

/// # Actions
impl Node {
    /// Makes a server of an action. `callbacks` is a closure that takes accepted goals, or another
    /// type that implements [`ActionCallbacks`].
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses an endpoint.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal, Fibonacci_Result};
    /// use feros::{CancelResponse, GoalId, GoalResponse, ServerGoalHandle};
    /// let decide = |_: &GoalId, goal: &Fibonacci_Goal| {
    ///     if goal.order > 46 { GoalResponse::Reject } else { GoalResponse::AcceptAndExecute }
    /// };
    /// let cancel = |_: &ServerGoalHandle<Fibonacci>| CancelResponse::Accept;
    /// let accepted = |goal: ServerGoalHandle<Fibonacci>| {
    ///     std::thread::spawn(move || goal.succeed(Fibonacci_Result::default()));
    /// };
    /// let server = node.create_action_server::<Fibonacci, _>("fib", (decide, cancel, accepted))?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_action_server<A: Action, Form: 'static>(
        &self,
        name: &str,
        callbacks: impl ActionCallbacks<A, Form>,
    ) -> Result<ActionServer<A>, CreateError> {
        ActionServer::of_type(self, name, ActionServerOptions::default(), callbacks)
    }

    /// Creates an action server with options, as [`Node::create_action_server`] does without
    /// options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses an endpoint.
    pub fn create_action_server_with<A: Action, Form: 'static>(
        &self,
        name: &str,
        options: ActionServerOptions,
        callbacks: impl ActionCallbacks<A, Form>,
    ) -> Result<ActionServer<A>, CreateError> {
        ActionServer::of_type(self, name, options, callbacks)
    }

    /// Makes a server of an action whose type is known only at run time. Goals, feedback and
    /// results are serialized messages; see [`Serialized`](crate::action::Serialized).
    ///
    /// `empty_result` is a serialized `A_GetResult_Response` with default values. Clients get it
    /// for goals that end without a result, and for goals that the server does not know.
    ///
    /// # Errors
    /// When the name is not allowed, `empty_result` is not a serialized message, or the engine
    /// refuses an endpoint.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// # let (identity, empty_result): (feros::action::ActionIdentity, Vec<u8>) = unimplemented!();
    /// use feros::action::Serialized;
    /// use feros::{ActionServerOptions, ServerGoalHandle};
    /// let reach = |goal: ServerGoalHandle<Serialized>| {
    ///     println!("a goal of {} bytes", goal.goal().len());
    ///     goal.abort(vec![0, 1, 0, 0, 0]).unwrap();
    /// };
    /// let options = ActionServerOptions::default();
    /// let server = node.create_generic_action_server("any", &identity, empty_result, options, reach)?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_generic_action_server<Form: 'static>(
        &self,
        name: &str,
        identity: &ActionIdentity,
        empty_result: Vec<u8>,
        options: ActionServerOptions,
        callbacks: impl ActionCallbacks<Serialized, Form>,
    ) -> Result<GenericActionServer, CreateError> {
        ActionServer::new(self, name, identity, empty_result, options, callbacks)
    }

    /// Makes a client of an action.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses an endpoint.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
    /// use std::time::Duration;
    /// let client = node.create_action_client::<Fibonacci>("fib")?;
    /// client.wait_for_server(Duration::from_secs(5))?;
    /// let soon = Duration::from_secs(1);
    /// let goal = client.send_goal_and_wait(Fibonacci_Goal { order: 5 }, soon)?;
    /// let outcome = goal.get_result()?.wait(Duration::from_secs(60))?;
    /// println!("{}: {:?}", outcome.status, outcome.result.sequence);
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_action_client<A: Action>(
        &self,
        name: &str,
    ) -> Result<ActionClient<A>, CreateError> {
        self.create_action_client_with(name, ActionClientOptions::default())
    }

    /// Creates an action client with options, as [`Node::create_action_client`] does without
    /// options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses an endpoint.
    pub fn create_action_client_with<A: Action>(
        &self,
        name: &str,
        options: ActionClientOptions,
    ) -> Result<ActionClient<A>, CreateError> {
        ActionClient::new(self, name, &ActionIdentity::of::<A>(), options)
    }

    /// Makes a client of an action whose type is known only at run time. Goals, feedback and
    /// results are serialized messages; see [`Serialized`](crate::action::Serialized).
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses an endpoint.
    pub fn create_generic_action_client(
        &self,
        name: &str,
        identity: &ActionIdentity,
        options: ActionClientOptions,
    ) -> Result<GenericActionClient, CreateError> {
        ActionClient::new(self, name, identity, options)
    }
}
