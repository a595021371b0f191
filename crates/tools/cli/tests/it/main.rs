//! The command as a user runs it: processes that communicate over the loopback interface.
#![allow(clippy::unwrap_used, missing_docs)]

mod action;
mod bag;
mod completion;
mod component;
mod described;
mod doctor;
mod endings;
mod graph;
mod hostile_bags;
mod launch;
mod launch_python;
mod lifecycle;
mod multicast;
mod offline;
mod param;
mod pkg;
mod process;
mod service;
mod stock;
mod text_of_others;
mod tf;
mod top;
mod topic;
mod trace;
mod view;
