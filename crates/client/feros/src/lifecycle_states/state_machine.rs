//! The state machine of one managed node, which determines the transitions that may begin and the
//! states to which they lead.
//!
//! It differs from the state machine of `rcl_lifecycle` in one point: while a callback runs, only
//! the node itself can set the callback's result. In `rcl_lifecycle`, another node can set the
//! result by requesting the transition that has the number of that result.

use crate::lifecycle_states::callback_return::CallbackReturn;
use crate::lifecycle_states::state::State;
use crate::lifecycle_states::transition::{Transition, TransitionKey};

/// The state of one managed node.
#[derive(Debug)]
pub(crate) struct StateMachine {
    state: State,
}

/// The reason why a transition does not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    NotPossible,
    UnderWay,
}

impl StateMachine {
    pub(crate) fn new() -> Self {
        Self { state: State::Unconfigured }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Begins the requested transition if it may begin now.
    pub(crate) fn begin(&mut self, wanted: TransitionKey<'_>) -> Result<Transition, Refusal> {
        if !self.state.is_primary() {
            return Err(Refusal::UnderWay);
        }
        let transition = Transition::from_state(self.state)
            .find(|transition| wanted.fits(*transition))
            .ok_or(Refusal::NotPossible)?;
        self.state = transition.goal();
        Ok(transition)
    }

    /// Takes the transition that follows from the result of the running callback; `None` if no
    /// callback is running.
    pub(crate) fn finish(&mut self, result: CallbackReturn) -> Option<Transition> {
        let transition = Transition::after_callback(self.state, result)?;
        self.state = transition.goal();
        Some(transition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The transitions of `rcl_lifecycle` in ROS 2 Kilted, from `transition_graph` of rclpy's state
    /// machine: number, label, start and goal.
    const RCL: [(u8, &str, u8, u8); 25] = [
        (1, "configure", 1, 10),
        (10, "transition_success", 10, 2),
        (11, "transition_failure", 10, 1),
        (12, "transition_error", 10, 15),
        (2, "cleanup", 2, 11),
        (20, "transition_success", 11, 1),
        (21, "transition_failure", 11, 2),
        (22, "transition_error", 11, 15),
        (3, "activate", 2, 13),
        (30, "transition_success", 13, 3),
        (31, "transition_failure", 13, 2),
        (32, "transition_error", 13, 15),
        (4, "deactivate", 3, 14),
        (40, "transition_success", 14, 2),
        (41, "transition_failure", 14, 3),
        (42, "transition_error", 14, 15),
        (5, "shutdown", 1, 12),
        (6, "shutdown", 2, 12),
        (7, "shutdown", 3, 12),
        (50, "transition_success", 12, 4),
        (51, "transition_failure", 12, 4),
        (52, "transition_error", 12, 15),
        (60, "transition_success", 15, 1),
        (61, "transition_failure", 15, 4),
        (62, "transition_error", 15, 4),
    ];

    const RCL_STATES: [(u8, &str); 11] = [
        (0, "unknown"),
        (1, "unconfigured"),
        (2, "inactive"),
        (3, "active"),
        (4, "finalized"),
        (10, "configuring"),
        (11, "cleaningup"),
        (12, "shuttingdown"),
        (13, "activating"),
        (14, "deactivating"),
        (15, "errorprocessing"),
    ];

    #[test]
    fn states_and_transitions_are_those_of_rcl() {
        assert_eq!(State::ALL.map(|state| (state.id(), state.label())), RCL_STATES);
        let ours = Transition::ALL.map(|t| (t.id(), t.label(), t.start().id(), t.goal().id()));
        assert_eq!(ours, RCL);
        for id in 0..=u8::MAX {
            let known = RCL_STATES.iter().any(|(known, _)| *known == id);
            assert_eq!(State::from_id(id).map(State::id), known.then_some(id));
        }
    }

    /// Requests every number and every label, including unknown ones, in every state.
    #[test]
    fn every_transition_in_every_state_goes_as_in_rcl() {
        let labels: Vec<&str> =
            RCL.iter().map(|(_, label, ..)| *label).chain(["", "nope"]).collect();
        for state in State::ALL {
            let of_rcl = |fits: &dyn Fn(u8, &str) -> bool| {
                let found = RCL
                    .iter()
                    .find(|(id, label, start, _)| *start == state.id() && fits(*id, label));
                found.map(|(.., goal)| *goal)
            };
            let check = |wanted: TransitionKey<'_>, expected: Option<u8>| {
                let mut machine = StateMachine { state };
                let begun = machine.begin(wanted);
                if state.is_primary() {
                    let goal = begun.map(|transition| transition.goal().id());
                    assert_eq!(goal, expected.ok_or(Refusal::NotPossible), "{state} {wanted}");
                    assert_eq!(machine.state().id(), expected.unwrap_or(state.id()));
                } else {
                    assert_eq!(begun, Err(Refusal::UnderWay), "{state} {wanted}");
                    assert_eq!(machine.state(), state);
                }
            };
            for id in 0..=u8::MAX {
                check(TransitionKey::Id(id), of_rcl(&|known, _| known == id));
            }
            for label in &labels {
                check(TransitionKey::Label(label), of_rcl(&|_, known| known == *label));
            }
        }
    }

    #[test]
    fn every_result_in_every_state_goes_as_in_rcl() {
        let results = [
            (CallbackReturn::Success, "transition_success"),
            (CallbackReturn::Failure, "transition_failure"),
            (CallbackReturn::Error, "transition_error"),
        ];
        for state in State::ALL {
            for (result, label) in results {
                let mut machine = StateMachine { state };
                let expected =
                    RCL.iter().find(|(_, l, start, _)| *start == state.id() && *l == label);
                let finished = machine.finish(result).map(|transition| transition.id());
                assert_eq!(finished, expected.map(|(id, ..)| *id), "{state} {label}");
                assert_eq!(machine.state().id(), expected.map_or(state.id(), |(.., goal)| *goal));
                assert_eq!(finished.is_some(), !state.is_primary());
            }
        }
    }
}
