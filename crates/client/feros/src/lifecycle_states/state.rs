//! The states of managed nodes, with the ids and labels of `rcl_lifecycle`.

use std::fmt;

use feros_msgs::lifecycle_msgs::msg::State as StateMessage;

/// A state of a managed node.
///
/// A node stays in a primary state until a transition is requested. In the other states, one of its
/// callbacks runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// The state is unknown, for example because the node no longer exists.
    Unknown = 0,
    /// The node exists, but has not acquired the resources for its work.
    Unconfigured = 1,
    /// The node is ready to work.
    Inactive = 2,
    /// The node does its work.
    Active = 3,
    /// The node has ended its work for good.
    Finalized = 4,
    /// The node runs `on_configure`.
    Configuring = 10,
    /// The node runs `on_cleanup`.
    CleaningUp = 11,
    /// The node runs `on_shutdown`.
    ShuttingDown = 12,
    /// The node runs `on_activate`.
    Activating = 13,
    /// The node runs `on_deactivate`.
    Deactivating = 14,
    /// The node runs `on_error`.
    ErrorProcessing = 15,
}

impl State {
    /// All states, in the order in which `rcl_lifecycle` lists them.
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::Unconfigured,
        Self::Inactive,
        Self::Active,
        Self::Finalized,
        Self::Configuring,
        Self::CleaningUp,
        Self::ShuttingDown,
        Self::Activating,
        Self::Deactivating,
        Self::ErrorProcessing,
    ];

    /// The number of the state in `lifecycle_msgs/msg/State`.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The label of the state in messages.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Configuring => "configuring",
            Self::CleaningUp => "cleaningup",
            Self::ShuttingDown => "shuttingdown",
            Self::Activating => "activating",
            Self::Deactivating => "deactivating",
            Self::ErrorProcessing => "errorprocessing",
        }
    }

    /// Returns the state that has this number, if there is one.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.id() == id)
    }

    /// Whether this is a primary state, in which no callback of a transition runs.
    pub const fn is_primary(self) -> bool {
        self.id() < Self::Configuring.id()
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl From<State> for StateMessage {
    fn from(state: State) -> Self {
        Self { id: state.id(), label: state.label().to_owned() }
    }
}
