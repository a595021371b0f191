//! Watches a running system: how often and how late messages arrive, which transports they take,
//! what does not match, and what the processes of nodes cost.
//!
//! Watching disturbs as little as possible. The graph is known anyway; a topic has a subscription
//! only as long as there is a [`TopicMeter`] for it, best effort and without decoding messages; and
//! processes are read from `/proc`.
#![forbid(unsafe_code)]

mod domains;
mod graph;
mod losses;
mod meter;
mod processes;
mod program_name;
mod rmw_programs;

pub use domains::{DomainProgram, Program, domain_programs};
pub use graph::{MatchesByTransport, NodeSummary, TopicSummary, nodes, topics};
pub use losses::Losses;
pub use meter::{TopicFigures, TopicMeter, watching_qos};
pub use processes::{ProcessFigures, ProcessMeter, proportional_memory_bytes};
pub use rmw_programs::{RmwProgram, rmw_programs};
