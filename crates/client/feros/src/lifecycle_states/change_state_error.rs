//! The reason why a managed node did not change its state as requested.

use crate::lifecycle_states::state::State;
use crate::lifecycle_states::transition::Transition;

/// The reason why a managed node did not change its state as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeStateError {
    /// No such transition begins in the node's present state.
    #[error(
        "node {node} has no transition {transition} in state {state}; it has {}",
        possible(*.state)
    )]
    NotPossible {
        /// The node.
        node: String,
        /// The requested transition: a number, or a label in quotes.
        transition: String,
        /// The state of the node.
        state: State,
    },
    /// The callback of another transition is running.
    #[error(
        "node {node} cannot begin transition {transition}: another transition is under way, and \
         the state is {state}. Request it again when that transition has ended"
    )]
    UnderWay {
        /// The node.
        node: String,
        /// The requested transition: a number, or a label in quotes.
        transition: String,
        /// The state of the node.
        state: State,
    },
    /// The callback of the transition failed; the node is back in the state before it, or
    /// finalized.
    #[error("node {node} is {state}: the callback of transition {transition} failed")]
    Failed {
        /// The node.
        node: String,
        /// The label of the transition.
        transition: &'static str,
        /// The state of the node.
        state: State,
    },
    /// The callback of the transition had an error, which was logged, and `on_error` was called.
    #[error(
        "node {node} is {state}: the callback of transition {transition} had an error, which is \
         in the node's log"
    )]
    Error {
        /// The node.
        node: String,
        /// The label of the transition.
        transition: &'static str,
        /// The state of the node.
        state: State,
    },
}

/// Lists the transitions that may be requested in a state, as text.
fn possible(state: State) -> String {
    let names: Vec<String> = Transition::from_state(state)
        .map(|transition| format!("{} [{}]", transition.label(), transition.id()))
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
