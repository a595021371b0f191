//! What a server of an action decides: whether a goal is accepted, whether it may be canceled, and
//! what is done for it.

use feros_message::GoalId;

use super::form::ActionServerForm;
use super::handle::ServerGoalHandle;

/// What becomes of a goal that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoalResponse {
    /// The client is told that it is not accepted.
    Reject,
    /// It is accepted and counts as executing at once.
    AcceptAndExecute,
    /// It is accepted, and counts as executing when [`ServerGoalHandle::execute`] says so: for
    /// goals that wait for others.
    AcceptAndDefer,
}

/// What becomes of the wish to cancel a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelResponse {
    /// The goal goes on.
    Reject,
    /// The goal is canceling from now on; whoever works for it ends that and says
    /// [`ServerGoalHandle::canceled`].
    Accept,
}

/// The decisions of a server of an action, made on the executor of its node, one at a time.
///
/// Implemented for closures that take accepted goals, and for a tuple of three closures, which
/// stand for the three functions. Something with a state of its own implements it itself:
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
    /// Whether a goal is accepted. Without a word of the server's own, each is, to be executed at
    /// once. A panic rejects it.
    fn handle_goal(&mut self, _goal_id: &GoalId, _goal: &A::Goal) -> GoalResponse {
        GoalResponse::AcceptAndExecute
    }

    /// Whether a goal may be canceled. Without a word of the server's own, none may. A panic
    /// rejects it.
    fn handle_cancel(&mut self, _goal: &ServerGoalHandle<A>) -> CancelResponse {
        CancelResponse::Reject
    }

    /// Takes an accepted goal, and returns soon: long work has a thread of its own, or is done bit
    /// by bit by a timer. As long as this runs, neither goals nor wishes to cancel are looked at. A
    /// panic aborts the goal.
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
