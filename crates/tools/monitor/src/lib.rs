//! Watches a running system: how often and how late messages arrive, which transports they take,
//! what does not match, and what the processes of nodes cost.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `graph` | topics and nodes of a graph, with the transports of their matches |
//! | `distributions`, `distribution_advice` | the distributions of ROS 2 in a domain, and what to set for them |
//! | `meter`, `losses` | figures of a topic, and its losses |
//! | `lists` | lists in sentences |
//! | `processes`, `program_name`, `rmw_programs`, `domains` | processes of nodes, their names, their implementations and domains |
//!
//! # Invariants
//!
//! Watching disturbs the system as little as possible. Every participant knows the graph anyway. A
//! topic has a subscription only while a [`TopicMeter`] for it exists; that subscription is best
//! effort and decodes no messages. The costs of processes are read from `/proc`.
#![forbid(unsafe_code)]

mod distribution_advice;
mod distributions;
mod domains;
mod graph;
mod lists;
mod losses;
mod meter;
mod processes;
mod program_name;
mod rmw_programs;

pub use distribution_advice::DistributionAdvice;
pub use distributions::{Distribution, DistributionGroup, Distributions};
pub use domains::{DomainProgram, Program, domain_programs, ports_of_domain};
pub use graph::{MatchesByTransport, NodeSummary, TopicSummary, nodes, topics};
pub use lists::listed;
pub use losses::Losses;
pub use meter::{TopicFigures, TopicMeter, watching_qos};
pub use processes::{ProcessFigures, ProcessMeter, proportional_memory_bytes};
pub use rmw_programs::{RmwProgram, rmw_programs};
