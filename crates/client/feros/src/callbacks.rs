//! Callbacks of users: the groups in which they run, the state that they share, and the entities of
//! a node by which an executor runs them.

pub(crate) mod group;
pub(crate) mod node_members;
pub(crate) mod state;
