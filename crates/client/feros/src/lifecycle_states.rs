//! The states of managed nodes and the transitions between them
//! (`design.ros2.org/articles/node_lifecycle.html`), independent of any node.

pub(crate) mod callback_return;
pub(crate) mod change_state_error;
pub(crate) mod state;
pub(crate) mod state_machine;
pub(crate) mod transition;
