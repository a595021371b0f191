//! The callbacks of an action server, which decide whether a goal is accepted and whether it may be
//! canceled, and start the work on accepted goals.

use feros_message::GoalId;

use super::form::ActionServerForm;
use super::handle::ServerGoalHandle;

/// The decision on a goal that a client has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoalResponse {
    /// The server rejects the goal and informs the client.
    Reject,
    /// The server accepts the goal and sets its status to executing immediately.
    AcceptAndExecute,
    /// The server accepts the goal. Its status becomes executing only when the program calls
    /// [`ServerGoalHandle::execute`]. Use this for goals that wait for other goals.
    AcceptAndDefer,
}

/// The decision on a request to cancel a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelResponse {
    /// The request is rejected, and the goal continues.
    Reject,
    /// The status of the goal becomes canceling. The code that works on the goal must stop and call
    /// [`ServerGoalHandle::canceled`].
    Accept,
}

/// The callbacks of an action server. The executor of the server's node calls them, one at a time.
///
/// The trait is implemented for closures that take accepted goals, and for a tuple of three
/// closures, one for each function. A type that has its own state can implement it directly:
///
/// ```
/// use feros::{ActionCallbacks, CancelResponse, GoalId, GoalResponse, ServerGoalHandle};
/// use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
///
/// /// Works on one goal after another.
/// #[derive(Default)]
/// struct Queue(Vec<ServerGoalHandle<Fibonacci>>);
///
/// impl ActionCallbacks<Fibonacci> for Queue {
///     fn handle_goal(&mut self, _: &GoalId, goal: &Fibonacci_Goal) -> GoalResponse {
///         if goal.order > 46 { GoalResponse::Reject } else { GoalResponse::AcceptAndDefer }
///     }
///
///     fn handle_cancel(&mut self, _: &ServerGoalHandle<Fibonacci>) -> CancelResponse {
///         CancelResponse::Accept
///     }
///
///     fn handle_accepted(&mut self, goal: ServerGoalHandle<Fibonacci>) {
///         self.0.push(goal);
///     }
/// }
/// # let _: Box<dyn ActionCallbacks<Fibonacci>> = Box::new(Queue::default());
/// ```
pub trait ActionCallbacks<A: ActionServerForm, Form = ()>: Send + 'static {
    /// Decides whether a goal is accepted. By default every goal is accepted and starts executing
    /// immediately. A panic rejects the goal.
    fn handle_goal(&mut self, _goal_id: &GoalId, _goal: &A::Goal) -> GoalResponse {
        GoalResponse::AcceptAndExecute
    }

    /// Decides whether a request to cancel a goal is accepted. By default the request is rejected.
    /// A panic rejects the request.
    fn handle_cancel(&mut self, _goal: &ServerGoalHandle<A>) -> CancelResponse {
        CancelResponse::Reject
    }

    /// Starts the work on an accepted goal. Return soon, because the server handles neither goals
    /// nor requests to cancel until this function returns: do long work on a separate thread, or in
    /// parts with a timer. A panic aborts the goal.
    fn handle_accepted(&mut self, goal: ServerGoalHandle<A>);
}

/// Marker types that distinguish the implementations for closures and for tuples.
#[doc(hidden)]
pub(crate) mod form {
    pub enum Accepted {}
    pub enum All {}
}

impl<A, F> ActionCallbacks<A, form::Accepted> for F
where
    A: ActionServerForm,
    F: FnMut(ServerGoalHandle<A>) + Send + 'static,
{
    fn handle_accepted(&mut self, goal: ServerGoalHandle<A>) {
        self(goal);
    }
}

impl<A, G, C, E> ActionCallbacks<A, form::All> for (G, C, E)
where
    A: ActionServerForm,
    G: FnMut(&GoalId, &A::Goal) -> GoalResponse + Send + 'static,
    C: FnMut(&ServerGoalHandle<A>) -> CancelResponse + Send + 'static,
    E: FnMut(ServerGoalHandle<A>) + Send + 'static,
{
    fn handle_goal(&mut self, goal_id: &GoalId, goal: &A::Goal) -> GoalResponse {
        self.0(goal_id, goal)
    }

    fn handle_cancel(&mut self, goal: &ServerGoalHandle<A>) -> CancelResponse {
        self.1(goal)
    }

    fn handle_accepted(&mut self, goal: ServerGoalHandle<A>) {
        self.2(goal);
    }
}
