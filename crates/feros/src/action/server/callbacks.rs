//! The decisions of an action server: whether a goal is accepted, whether it may be canceled, and
//! what work is done for it.

use feros_message::GoalId;

use super::form::ActionServerForm;
use super::handle::ServerGoalHandle;

/// The decision on a goal that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoalResponse {
    /// The goal is rejected, and the client is informed.
    Reject,
    /// The goal is accepted and counts as executing at once.
    AcceptAndExecute,
    /// The goal is accepted, and counts as executing after a call of [`ServerGoalHandle::execute`]:
    /// for goals that wait for other goals.
    AcceptAndDefer,
}

/// The decision on a request to cancel a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelResponse {
    /// The goal goes on.
    Reject,
    /// The goal is canceling from now on; the code that works for it stops and calls
    /// [`ServerGoalHandle::canceled`].
    Accept,
}

/// The decisions of an action server, made on the executor of its node, one at a time.
///
/// Implemented for closures that take accepted goals, and for a tuple of three closures, one for
/// each function. A type with state of its own implements it directly:
///
/// ```
/// use feros::{ActionCallbacks, CancelResponse, GoalId, GoalResponse, ServerGoalHandle};
/// use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
///
/// /// Works for one goal after the other.
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
    /// Decides whether a goal is accepted. By default every goal is accepted and executing at once.
    /// A panic rejects the goal.
    fn handle_goal(&mut self, _goal_id: &GoalId, _goal: &A::Goal) -> GoalResponse {
        GoalResponse::AcceptAndExecute
    }

    /// Decides whether a goal may be canceled. By default no goal may be. A panic rejects the
    /// request.
    fn handle_cancel(&mut self, _goal: &ServerGoalHandle<A>) -> CancelResponse {
        CancelResponse::Reject
    }

    /// Takes an accepted goal, and returns soon: long work belongs on a thread of its own, or is
    /// done in parts by a timer. While this runs, the server handles neither goals nor requests to
    /// cancel. A panic aborts the goal.
    fn handle_accepted(&mut self, goal: ServerGoalHandle<A>);
}

/// Markers that keep the forms of callbacks apart.
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
