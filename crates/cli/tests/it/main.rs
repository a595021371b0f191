//! The command as a user runs it: processes that talk over the loopback interface.
#![allow(clippy::unwrap_used, missing_docs)]

mod action;
mod component;
mod graph;
mod launch;
mod lifecycle;
mod offline;
mod param;
mod process;
mod service;
mod stock;
mod tf;
mod topic;
mod trace;
