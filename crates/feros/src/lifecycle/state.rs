//! The states of managed nodes, with the ids and labels of `rcl_lifecycle`.

use std::fmt;

use feros_msgs::lifecycle_msgs::msg::State as StateMessage;

/// A state of a managed node.
///
/// A node rests in a primary state; in the others one of its callbacks runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Not a state of a node that runs.
    Unknown = 0,
    /// Made, with nothing that work needs.
    Unconfigured = 1,
    /// Ready to work.
    Inactive = 2,
    /// At work.
    Active = 3,
    /// At its end.
    Finalized = 4,
    /// In `on_configure`.
    Configuring = 10,
    /// In `on_cleanup`.
    CleaningUp = 11,
    /// In `on_shutdown`.
    ShuttingDown = 12,
    /// In `on_activate`.
    Activating = 13,
    /// In `on_deactivate`.
    Deactivating = 14,
    /// In `on_error`.
    ErrorProcessing = 15,
}

impl State {
    /// All states, in the order in which `rcl_lifecycle` tells them.
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

    /// Its number in `lifecycle_msgs/msg/State`.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Its label on the wire.
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

    /// The state of this number, if there is one.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.id() == id)
    }

    /// Whether a node rests in it: no callback of a transition runs.
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
