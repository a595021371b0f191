//! The untyped parts of publishers, subscriptions, servers and clients, over three transports:
//! objects within a process, shared memory within a host, and the engine for everything else.
//!
//! For each of them there is an endpoint of the engine, which finds matches, checks their QoS and
//! reports events. `routing` sorts a publisher's matches by transport, `sending` publishes one
//! message on each transport that needs it, `receiving` merges the messages of several transports
//! in each publisher's order. `intra_process` and `shared_memory` implement their transports; the
//! network is left to the engine. `calls` has the additional parts of servers and clients.
//!
//! The client library chooses the form of a message within a process ([`Object`], [`Outgoing`]).
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `publisher`, `subscription`, `service`, `client` | the untyped handles of the endpoints |
//! | `routing` | a publisher's matches by transport, and whether the engine has to send |
//! | `sending` | publishing one message |
//! | `receiving`, `local_link` | one order of received messages, and the interface of connections that bypass the engine |
//! | `intra_process` | queues, and the registry of this process |
//! | `shared_memory` | the handshake of a match, both of its sides, retries, and the upkeep thread |
//! | `calls` | requests and responses over the local transports |
//! | `events`, `counters`, `graph`, `bytes` | events by kind, counts by transport, transports between other processes, reused buffers |
//!
//! # Invariants
//!
//! The crate knows no node, no executor, no message type and no user callback. Only a publishing
//! thread waits for a full network link, or for a subscription that keeps all messages.
#![forbid(unsafe_code)]

mod bytes;
mod calls;
mod client;
mod counters;
mod events;
mod graph;
mod intra_process;
mod local_link;
mod publisher;
mod receiving;
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
pub use shared_memory::options::{SharedMemoryOptions, WhenExhausted};
pub use subscription::{Subscription, SubscriptionOptions};
