//! The command as a user runs it: processes that talk over the loopback interface.
#![allow(clippy::unwrap_used, missing_docs)]

mod component;
mod described;
mod graph;
mod launch;
mod offline;
mod param;
mod process;
mod service;
mod stock;
mod topic;
mod trace;
