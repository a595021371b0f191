//! The ROS 2 client library: contexts, nodes, publishers, subscriptions, services, clients,
//! actions, timers, clocks and the graph.
//!
//! Feros speaks the protocols of stock ROS 2 and sends each message over the shortest transport. It
//! needs no ROS installation; to stock nodes and tools, its nodes look like any other.
//!
//! ```no_run
//! use feros::{Context, msgs::std_msgs::msg::String as Text};
//! use std::time::Duration;
//!
//! fn main() -> Result<(), feros::Error> {
//!     let context = Context::from_env()?;
//!     let node = context.create_node("talker")?;
//!     let publisher = node.create_publisher::<Text>("chatter", 10)?;
//!     let mut count = 0;
//!     let _timer = node.create_wall_timer(Duration::from_millis(500), move || {
//!         count += 1;
//!         if let Err(error) = publisher.publish(Text { data: format!("Hello {count}") }) {
//!             tracing::error!("{error}");
//!         }
//!     })?;
//!     feros::spin(&node)
//! }
//! ```
//!
//! | rclcpp | Feros |
//! |---|---|
//! | `rclcpp::init(argc, argv)` | [`Context::from_env`] |
//! | `std::make_shared<rclcpp::Node>("n")` | [`Context::create_node`] |
//! | `create_publisher<T>("t", 10)` | [`Node::create_publisher`] |
//! | `create_subscription<T>("t", 10, callback)` | [`Node::create_subscription`]: the closure takes `T`, `Arc<T>`, [`View<T>`](View) or [`SerializedMessage`] |
//! | `create_service<S>("s", callback)` | [`Node::create_service`] |
//! | `create_client<S>("s")`, `async_send_request` | [`Node::create_client`], [`Client::call`]: await it, or block with `wait` |
//! | `rclcpp_action::create_server<A>(node, "a", goal, cancel, accepted)` | [`Node::create_action_server`]: three closures, or one that takes accepted goals |
//! | `rclcpp_action::create_client<A>(node, "a")`, `async_send_goal` | [`Node::create_action_client`], [`ActionClient::send_goal`]: await it, or block with `wait` |
//! | `rclcpp_lifecycle::LifecycleNode` | [`Context::create_lifecycle_node`] and [`lifecycle`] |
//! | `create_wall_timer(500ms, callback)` | [`Node::create_wall_timer`] |
//! | `RCLCPP_INFO(get_logger(), …)` | [`info!`](crate::info), or `tracing::info!` inside a callback |
//! | `rclcpp::spin(node)` | [`spin`], [`Executor`] |
//! | `rclcpp::ok()`, `rclcpp::shutdown()` | [`Context::is_ok`], [`Context::shutdown`] |
//!
//! Endpoints and timers live as long as their handles, so keep the handles. Everything may be used
//! from any thread.
//!
//! # Invariants
//!
//! - No callback of the user runs while a lock is held.
//! - Every accepted goal of an action ends, and its client learns of the end, whatever happens to
//!   the code that works on the goal.
#![forbid(unsafe_code)]

// The modules, each of which imports only from modules above it:
// - `create_error`, `publish_error`, `wait_error`: the errors of what most modules do
// - `arguments`, `signals`: the ROS part of the command line, and signals
// - `messages`: forms of messages, content within a process, serialization, identities of types
// - `callbacks`: callback groups, state that callbacks share, a node's entities on an executor
// - `graph`: changes of the graph, mismatches of endpoints
// - `clock`: clocks
// - `logging`: log messages, on the terminal and on `/rosout`
// - `context`, `node`, `timer`: the context, the node, and timers
// - `topics`: publishers and subscriptions; `subscription/callback` has the message forms that a
//   closure may take
// - `services`: servers and clients of services, events of calls
// - `action`: actions, which use services and topics: `state` has the state machine of a goal,
//   `server` and `client` the two sides
// - `executor`: executors
// - `node_services`: the services that a node offers about its loggers and types
// - `lifecycle_states`: the state machine of managed nodes
// - `error`: all errors as one
// - `lazy_client`: clients that are made at the first call
// - `parameter`: the parameters of nodes and their services; values are in the crate
//   `feros_parameter`
// - `creation`: the functions that make a node and its endpoints
// - `lifecycle`: managed nodes: `communication` has the services and the topic
// - `diagnostics`: reports about devices and topics
// - `waiting`: spinning, sleeping, rates, and waiting for a message

pub mod action;
pub mod arguments;
mod callbacks;
mod clock;
mod context;
mod create_error;
mod creation;
pub mod diagnostics;
mod error;
mod executor;
mod graph;
mod lazy_client;
pub mod lifecycle;
mod lifecycle_states;
pub mod logging;
mod messages;
mod node;
mod node_services;
pub mod parameter;
mod publish_error;
mod services;
pub mod signals;
mod timer;
mod topics;
mod wait_error;
mod waiting;

pub use action::{
    ActionCallbacks, ActionClient, ActionClientOptions, ActionServer, ActionServerOptions,
    CancelResponse, ClientGoalHandle, GenericActionClient, GenericActionServer, GoalId,
    GoalResponse, GoalStatus, ServerGoalHandle,
};
pub use arguments::{ArgumentError, Arguments, LogLevel};
pub use callbacks::group::{CallbackGroup, CallbackGroupKind, CallbackOptions};
pub use callbacks::state::CallbackState;
pub use clock::{Clock, ClockChange, ClockType, JumpGuard, JumpThreshold, TimeJump};
pub use context::{Context, ContextError, ContextOptions, ShutdownGuard};
pub use create_error::CreateError;
pub use error::Error;
pub use executor::{AddNodeError, Executor, ExecutorBuilder, IsolatedExecutors};
pub use feros_engine_list::{
    ENGINE_NAMES, ENGINE_VARIABLE, EngineError, chosen_engine, engine, engines,
};
pub use lifecycle::{LifecycleCallbacks, LifecycleClient, LifecycleNode};
pub use logging::Logger;
pub use messages::forms::{SerializedMessage, View};
pub use messages::identity::{ServiceIdentity, TypeIdentity};
pub use node::{Node, NodeOptions};
pub use parameter::{
    DeclareParameterError, GetParameterError, Parameter, ParameterClient, ParameterDescriptor,
    ParameterType, ParameterValue, Parameters, SetParameterError,
};
pub use publish_error::PublishError;
pub use services::client::{
    CallError, Client, ClientOptions, GenericClient, ResponseFuture, SerializedResponseFuture,
};
pub use services::introspection::{CallId, ServiceIntrospectionState};
pub use services::service::{
    GenericService, Responder, SerializedResponder, Service, ServiceCallback, ServiceOptions,
};
pub use timer::{NodeGuardCondition, NodeTimer, TimerOptions};
pub use topics::publisher::{
    GenericPublisher, Loan, Publishable, Publisher, PublisherOptions, SerializedLoan,
};
pub use topics::qos_overrides::QosOverrides;
pub use topics::subscription::{
    ContentFilterOptions, Dispatch, GenericSubscription, SerializedFilter, SerializedFilterError,
    SetContentFilterError, Subscription, SubscriptionCallback, SubscriptionOptions,
};
pub use waiting::rate::Rate;
pub use waiting::spin::spin;

pub use feros_executor::{
    GuardCondition, Obstacle, Outcome, RealtimeConfig, RealtimeError, Scheduling, Shared,
    SpinError, Stopper, Time, TimeChange, Timer,
};

/// The policies that decide in which order an [`Executor`] runs ready callbacks, for
/// [`ExecutorBuilder::policy`].
pub mod policy {
    pub use feros_executor::{
        Deadline, Fair, Policy, Priority, ReadyPositions, Ros, Sequence, Trigger, chain_priorities,
    };
}
pub use feros_engine::{
    self as engine, Durability, Gid, History, Liveliness, MatchedStatus, MessageInfo, PublishMode,
    PublisherEvent, QosPolicy, QosProfile, Reliability, ServiceMapping, SubscriptionEvent,
};
pub use feros_message as message;
pub use feros_message::include_interfaces;
pub use feros_msgs as msgs;
pub use feros_parameter_derive::Parameters;

pub use feros_transport::{
    CallCounts, MatchTransport, MaxSubscriptionsError, PublisherCounts, SharedMemoryOptions,
    SubscriptionCounts, TransportBetween, TransportCount, WhenExhausted, check_shared_memory,
    transports_of_service, transports_of_topic,
};
pub use node_services::type_description::{TypeDescriptionError, WrongTypeDescription};
pub use topics::statistics::TopicStatisticsOptions;
pub use wait_error::WaitError;
pub use waiting::message::MessageFuture;

pub use feros_shm::{self as shm, PoolUse, Reason, Transport, TransportSet};
pub use feros_trace as trace;
