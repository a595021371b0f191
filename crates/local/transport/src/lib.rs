//! The untyped parts of publishers, subscriptions, servers and clients. They use three transports:
//! objects within a process, shared memory within a host, and the engine for everything else.
//!
//! Each publisher, subscription, server and client has an endpoint in the engine. The engine finds
//! matches, checks their QoS and reports events. `routing` sorts the matches of a publisher by
//! transport, `sending` publishes a message over each transport that needs it, and `receiving`
//! merges the messages of several transports and keeps the order of each publisher. `intra_process`
//! and `shared_memory` implement the two local transports; the network transport is left to the
//! engine. `calls` contains the additional parts of servers and clients.
//!
//! The client library chooses the form that a message has within a process ([`Object`],
//! [`Outgoing`]).
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `publisher`, `subscription`, `service`, `client` | the untyped handles of the endpoints |
//! | `routing` | the matches of a publisher by transport, and whether the engine must send |
//! | `sending` | publishes one message |
//! | `receiving`, `local_connection` | put the received messages into one order, and define the interface of connections without the engine |
//! | `intra_process`, `registry` | the queues of this process, and how others find them |
//! | `shared_memory` | the handshake of a match, the two sides of the transport, retries, and the upkeep thread |
//! | `calls` | requests and responses over the local transports |
//! | `events`, `counters`, `graph`, `bytes` | events by kind, counts for each transport, transports between other processes, and reused buffers |
//!
//! # Invariants
//!
//! This crate does not know nodes, executors, message types or user callbacks. Only a publishing
//! thread waits for a full network link, or for a subscription that keeps all messages.
#![forbid(unsafe_code)]

mod bytes;
mod calls;
mod client;
mod counters;
mod events;
mod graph;
mod intra_process;
mod local_connection;
mod publisher;
mod receiving;
mod registry;
mod routing;
mod sending;
mod service;
mod shared_memory;
mod subscription;

pub use calls::counters::CallCounts;
pub use calls::recipients::Recipients;
pub use calls::waiting::ResponseWait;
pub use client::{Client, ClientOptions};
pub use counters::{PublisherCounts, SubscriptionCounts, TransportCount};
pub use events::{PublisherEventKind, SubscriptionEventKind};
pub use graph::{
    MatchTransport, TransportBetween, check_shared_memory, transports_of_service,
    transports_of_topic,
};
pub use intra_process::delivery::{Delivery, DirectDispatch, IntraProcessRoute, ObjectRoute};
pub use intra_process::queue::Object;
pub use publisher::{Publisher, PublisherOptions};
pub use receiving::{Received, Receiver};
pub use sending::{Loan, Outgoing, PublishError};
pub use service::{Request, Service, ServiceOptions};
pub use shared_memory::options::{MaxSubscriptionsError, SharedMemoryOptions, WhenExhausted};
pub use subscription::{Subscription, SubscriptionOptions};
