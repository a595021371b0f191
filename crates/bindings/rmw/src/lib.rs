//! `librmw_feros.so`: an implementation of the middleware interface of stock ROS 2 (rmw) on the
//! transports of Feros. An rclcpp or rclpy program uses it with `RMW_IMPLEMENTATION=rmw_feros`, and
//! joins the same graph as Feros nodes and stock nodes on other rmw implementations.
//!
//! Each file contains the functions of one header or one object of rmw. The **host program** is the
//! program that loads the library. Its rmw objects point to end objects of this library
//! (`PublisherEnd`, `SubscriptionEnd` ...), which hold an untyped endpoint of `feros-transport` and
//! the compiled type support that encodes or decodes the messages (a "program" of
//! `feros-typesupport`).
//!
//! | files | hold |
//! |---|---|
//! | `ffi` | the structures of rmw and rcutils |
//! | `distribution` | what differs between distributions of ROS 2 |
//! | `contract` | the facts that a host program guarantees |
//! | `error`, `host`, `arguments`, `handle`, `allocation` | errors, checks, objects and memory, for all functions |
//! | `init`, `context`, `node`, `log` | the start and the end of contexts and nodes, and the log |
//! | `publisher`, `subscription`, `take`, `loan`, `lent_message`, `host_message`, `content_filter`, `serialize`, `programs` | messages |
//! | `client`, `service`, `call`, `unanswered` | calls |
//! | `wait_set`, `guard_condition`, `entity`, `inbox`, `doorbell` | waiting |
//! | `callback_thread`, `listener` | callbacks for host programs that do not wait |
//! | `events`, `status` | events of endpoints |
//! | `graph`, `endpoint_info`, `service_info`, `names`, `qos`, `info`, `identity` | queries and conversions |
//! | `features` | unsupported functions |
//!
//! # Invariants
//!
//! - No panic crosses the C interface (`error::guarded`), and no function of the host program is
//!   called with a lock held.
//! - The code is `unsafe` only where the C interface requires it: to read and write memory of the
//!   host program, as the clauses in `contract` allow.
//! - The library is not linked to any library of ROS 2.

mod allocation;
mod arguments;
mod call;
mod callback_thread;
mod client;
mod content_filter;
mod context;
mod contract;
mod distribution;
mod doorbell;
mod endpoint_info;
mod entity;
mod error;
mod events;
mod features;
mod ffi;
mod graph;
mod guard_condition;
mod handle;
mod host;
mod host_message;
mod identity;
mod inbox;
mod info;
mod init;
mod lent_message;
mod listener;
mod loan;
mod log;
mod names;
mod node;
mod programs;
mod publisher;
mod qos;
mod serialize;
mod service;
mod service_info;
mod status;
mod subscription;
mod take;
mod unanswered;
mod wait_set;
