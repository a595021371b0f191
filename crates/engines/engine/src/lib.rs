//! The boundary between Feros and its engines.
//!
//! An *engine* sends serialized messages between participants, and discovers other participants.
//! This crate defines what Feros needs from an engine, in terms of bytes, ROS names, QoS and gids.
//! Engines do not know message types. All names in this interface are ROS names (`/chatter`,
//! `std_msgs/msg/String`), which the engine converts to their form on the wire.
//!
//! | module | content |
//! |---|---|
//! | [`engine`] | the traits: [`Engine`], [`Session`], [`Publisher`], [`Subscription`], [`Service`], [`Client`] |
//! | [`qos`] | [`QosProfile`] and its policies, profiles, compatibility and resolution |
//! | [`name`] | validation and expansion of topic, service, node and namespace names |
//! | [`NamePrefix`] | a namespace before the names of a robot |
//! | [`selection`] | a selection of names |
//! | [`graph`] | a snapshot of nodes and endpoints, local and remote |
//! | [`event`] | events of endpoints |
//! | [`sample`] | a received sample and the information about it |
//! | [`stamp`] | source timestamps of messages |
//! | [`announcement`] | announcements of endpoints in addition to those of DDS, and matches |
//! | [`buffer_backend`] | the kinds of memory from which an endpoint can take arrays |
//! | [`participant`] | what the announcements of a participant show |
//! | [`twin`] | endpoints that are on two engines at the same time |
//! | [`bridge_mark`] | endpoints that a bridge between engines created |
//! | [`gaps`] | gaps in the numbers of publishers, counted as losses |
//! | [`failure_counter`] | counts of repeated failures, of which only a few are logged |
//! | [`other_forms`] | warnings about participants that announce themselves in another form |
//! | [`said_once`] | messages that are logged only once |
//! | [`sending_thread`] | the thread that sends for an asynchronous publisher |
//! | [`dds`] | the wire format that DDS engines share |
//! | [`gid`] | the identity of an endpoint |
//!
//! Engines are values, so a program can choose an engine at run time. Every function of the traits
//! documents its preconditions and errors, and whether it blocks, allocates memory and is
//! thread-safe. The crate `feros-conformance` contains one test suite for all engines.
//!
//! # Invariants
//!
//! - The crate does not know message types.
//! - Names, QoS rules and queries of the graph are implemented here, so that they are the same for
//!   every engine.
//! - A notification may be called more often than necessary, but never less often. It owns no
//!   endpoint, because otherwise it could be the last owner of the endpoint, inside the engine.

pub mod announcement;
pub mod bridge_mark;
pub mod buffer_backend;
pub mod dds;
mod discovery_form;
pub mod engine;
mod environment_error;
pub mod event;
pub mod failure_counter;
pub mod gaps;
pub mod gid;
pub mod graph;
pub mod name;
mod name_prefix;
pub mod other_forms;
pub mod participant;
pub mod qos;
pub mod said_once;
pub mod sample;
pub mod selection;
pub mod sending_thread;
mod service_mapping;
pub mod stamp;
pub mod twin;
mod type_hash;

pub use announcement::{AnnounceError, AnnouncementError, Match};
pub use bridge_mark::BridgeMark;
pub use buffer_backend::BufferBackend;
pub use discovery_form::DiscoveryForm;
pub use engine::{
    Client, ClientOptions, CreateEndpointError, Created, DiscoveryRange, Ending, Engine,
    EventError, FillAborted, GraphChangeGuard, Kept, NodeId, Notify, OpenError, ParameterData,
    ParameterServer, PublishError, PublishMode, Publisher, PublisherOptions, ServerMatch, Service,
    ServiceMapping, ServiceOptions, Session, SessionOptions, Subscription, SubscriptionOptions,
    TakeError, TakeOverError, TakesParameters, Traffic, TypeHash, WaitForAckedError, copied,
};
pub use event::{MatchedStatus, PublisherEvent, SubscriptionEvent};
pub use failure_counter::{FailureCounter, FailureCounters, SoFar};
pub use gid::{Gid, SessionMember};
pub use graph::{EndpointInfo, EndpointKind, GraphSnapshot, NodeInfo};
pub use name::{NameError, NodeName};
pub use name_prefix::NamePrefix;
pub use other_forms::OtherForms;
pub use participant::ParticipantInfo;
pub use qos::{
    Durability, History, KEEP_ALL_LIMIT, Liveliness, QosDuration, QosPolicy, QosPolicyKind,
    QosProfile, Reliability,
};
pub use said_once::SaidOnce;
pub use sample::{MessageInfo, Payload, PayloadBytes, RequestId, Sample};
pub use selection::{PatternError, Selection};
pub use sending_thread::SendingThread;
pub use stamp::Stamp;
