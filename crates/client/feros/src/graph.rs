//! The graph as a node sees it: waiting for its changes, and the mismatches that are logged.

pub(crate) mod changes;
pub(crate) mod mismatches;
