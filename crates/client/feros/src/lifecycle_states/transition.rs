//! The transitions between the states of managed nodes, with the ids and labels of
//! `rcl_lifecycle`.

use std::fmt;

use feros_msgs::lifecycle_msgs::msg::{Transition as TransitionMessage, TransitionDescription};

use crate::lifecycle_states::callback_return::CallbackReturn;
use crate::lifecycle_states::state::State::{
    self, Activating, Active, CleaningUp, Configuring, Deactivating, ErrorProcessing, Finalized,
    Inactive, ShuttingDown, Unconfigured,
};

/// A transition from one state to another.
///
/// Transitions that begin in a primary state are requested; the other transitions follow from the
/// result of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transition {
    id: u8,
    label: &'static str,
    start: State,
    goal: State,
}

const SUCCESS: &str = "transition_success";
const FAILURE: &str = "transition_failure";
const ERROR: &str = "transition_error";

const fn edge(id: u8, label: &'static str, start: State, goal: State) -> Transition {
    Transition { id, label, start, goal }
}

impl Transition {
    /// From unconfigured to inactive, with the callback `on_configure`.
    pub const CONFIGURE: Self = edge(1, "configure", Unconfigured, Configuring);
    /// From inactive to unconfigured, with the callback `on_cleanup`.
    pub const CLEANUP: Self = edge(2, "cleanup", Inactive, CleaningUp);
    /// From inactive to active, with the callback `on_activate`.
    pub const ACTIVATE: Self = edge(3, "activate", Inactive, Activating);
    /// From active to inactive, with the callback `on_deactivate`.
    pub const DEACTIVATE: Self = edge(4, "deactivate", Active, Deactivating);
    /// From unconfigured to finalized, with the callback `on_shutdown`.
    pub const UNCONFIGURED_SHUTDOWN: Self = edge(5, "shutdown", Unconfigured, ShuttingDown);
    /// From inactive to finalized, with the callback `on_shutdown`.
    pub const INACTIVE_SHUTDOWN: Self = edge(6, "shutdown", Inactive, ShuttingDown);
    /// From active to finalized, with the callback `on_shutdown`.
    pub const ACTIVE_SHUTDOWN: Self = edge(7, "shutdown", Active, ShuttingDown);

    /// All transitions, in the order in which `rcl_lifecycle` lists them.
    pub const ALL: [Self; 25] = [
        Self::CONFIGURE,
        edge(10, SUCCESS, Configuring, Inactive),
        edge(11, FAILURE, Configuring, Unconfigured),
        edge(12, ERROR, Configuring, ErrorProcessing),
        Self::CLEANUP,
        edge(20, SUCCESS, CleaningUp, Unconfigured),
        edge(21, FAILURE, CleaningUp, Inactive),
        edge(22, ERROR, CleaningUp, ErrorProcessing),
        Self::ACTIVATE,
        edge(30, SUCCESS, Activating, Active),
        edge(31, FAILURE, Activating, Inactive),
        edge(32, ERROR, Activating, ErrorProcessing),
        Self::DEACTIVATE,
        edge(40, SUCCESS, Deactivating, Inactive),
        edge(41, FAILURE, Deactivating, Active),
        edge(42, ERROR, Deactivating, ErrorProcessing),
        Self::UNCONFIGURED_SHUTDOWN,
        Self::INACTIVE_SHUTDOWN,
        Self::ACTIVE_SHUTDOWN,
        edge(50, SUCCESS, ShuttingDown, Finalized),
        edge(51, FAILURE, ShuttingDown, Finalized),
        edge(52, ERROR, ShuttingDown, ErrorProcessing),
        edge(60, SUCCESS, ErrorProcessing, Unconfigured),
        edge(61, FAILURE, ErrorProcessing, Finalized),
        edge(62, ERROR, ErrorProcessing, Finalized),
    ];

    /// The number of the transition in `lifecycle_msgs/msg/Transition`.
    pub const fn id(self) -> u8 {
        self.id
    }

    /// The label of the transition in messages; several transitions may have the same label.
    pub const fn label(self) -> &'static str {
        self.label
    }

    /// The state in which the transition begins.
    pub const fn start(self) -> State {
        self.start
    }

    /// The state to which the transition leads.
    pub const fn goal(self) -> State {
        self.goal
    }

    /// Returns the transitions that begin in a state.
    pub fn from_state(state: State) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |transition| transition.start == state)
    }

    /// Returns the transition that follows from the result of the callback in a state.
    pub(crate) fn after_callback(state: State, result: CallbackReturn) -> Option<Self> {
        let label = match result {
            CallbackReturn::Success => SUCCESS,
            CallbackReturn::Failure => FAILURE,
            CallbackReturn::Error => ERROR,
        };
        Self::from_state(state).find(|transition| transition.label == label)
    }
}

impl From<Transition> for TransitionMessage {
    fn from(transition: Transition) -> Self {
        Self { id: transition.id, label: transition.label.to_owned() }
    }
}

impl From<Transition> for TransitionDescription {
    fn from(transition: Transition) -> Self {
        Self {
            transition: transition.into(),
            start_state: transition.start.into(),
            goal_state: transition.goal.into(),
        }
    }
}

/// Identifies a requested transition by its number or its label. A label means the transition with
/// that label from the node's present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionKey<'a> {
    /// The number.
    Id(u8),
    /// The label.
    Label(&'a str),
}

/// The limit on the characters of a label that a message shows.
const MAX_SHOWN: usize = 40;

impl TransitionKey<'_> {
    pub(crate) fn fits(self, transition: Transition) -> bool {
        match self {
            Self::Id(id) => transition.id == id,
            Self::Label(label) => transition.label == label,
        }
    }

    pub(crate) fn to_message(self) -> TransitionMessage {
        match self {
            Self::Id(id) => TransitionMessage { id, label: String::new() },
            Self::Label(label) => TransitionMessage { id: 0, label: label.to_owned() },
        }
    }
}

impl fmt::Display for TransitionKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            // The label may be untrusted text from the network.
            Self::Label(label) => match label.char_indices().nth(MAX_SHOWN) {
                Some((end, _)) => write!(f, "{:?}...", &label[..end]),
                None => write!(f, "{label:?}"),
            },
        }
    }
}

impl From<u8> for TransitionKey<'_> {
    fn from(id: u8) -> Self {
        Self::Id(id)
    }
}

impl<'a> From<&'a str> for TransitionKey<'a> {
    fn from(label: &'a str) -> Self {
        Self::Label(label)
    }
}

impl From<Transition> for TransitionKey<'_> {
    fn from(transition: Transition) -> Self {
        Self::Id(transition.id)
    }
}

/// Reads a request as `rclcpp_lifecycle` does
/// (`rclcpp_lifecycle/src/lifecycle_node_interface_impl.cpp`): the label counts if there is one,
/// otherwise the number.
impl<'a> From<&'a TransitionMessage> for TransitionKey<'a> {
    fn from(message: &'a TransitionMessage) -> Self {
        if message.label.is_empty() { Self::Id(message.id) } else { Self::Label(&message.label) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_counts_for_more_than_a_number() {
        let message = |id, label: &str| TransitionMessage { id, label: label.to_owned() };
        assert_eq!(TransitionKey::from(&message(3, "")), TransitionKey::Id(3));
        assert_eq!(TransitionKey::from(&message(3, "configure")), "configure".into());
        for transition in Transition::ALL {
            let sent = TransitionKey::from(transition).to_message();
            assert_eq!(TransitionKey::from(&sent), TransitionKey::Id(transition.id()));
        }
    }

    #[test]
    fn a_requested_transition_is_shown_in_short() {
        assert_eq!(TransitionKey::from("a\nb").to_string(), r#""a\nb""#);
        let long = "ä".repeat(1_000_000);
        assert_eq!(TransitionKey::from(&*long).to_string().chars().count(), MAX_SHOWN + 5);
    }
}
