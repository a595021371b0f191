//! The Feros engine on Zenoh, in the wire format of `rmw_zenoh_cpp` of ROS 2 Kilted.
//!
//! | module | content |
//! |---|---|
//! | `wire` | tokens, attachments and announcements, as strings and bytes |
//! | `config` | Zenoh's configuration, with the defaults and variables of `rmw_zenoh` |
//! | `session`, `session_state` | a session, and the state that its endpoints share |
//! | `member`, `announcing` | an endpoint in the graph, and its announcement |
//! | `graph`, `matches` | the graph, which is made from liveliness tokens, and the matches of an endpoint |
//! | `publisher`, `subscription`, `service`, `client` | the endpoints |
//! | `inbox`, `sample` | received messages that the user has not taken yet, and their samples |
//! | `fence` | checks whether another session has handled all messages sent to it |
//! | `name` | the name and the version of the engine |
//! | `router` | a router, so that users do not have to install one |
//! | `access` | access rules for the router of a fleet |
//!
//! A session of the engine is a Zenoh session. Each of its nodes and endpoints is announced by a
//! liveliness token. The text of the token describes the endpoint, and the hash of that text is the
//! gid of the endpoint. Messages are sent with the key of their topic and type. Requests and
//! responses are queries and replies.
//!
//! # Invariants
//!
//! Stock nodes do not see the additions of Feros. A callback of Zenoh never waits.

mod access;
mod announcing;
mod client;
mod config;
mod fence;
mod graph;
mod inbox;
mod matches;
mod member;
mod name;
mod publisher;
mod router;
mod sample;
mod service;
mod session;
mod session_state;
mod subscription;
pub mod wire;

use std::sync::Arc;

use feros_engine::{Engine, OpenError, Session, SessionOptions};

pub use access::{OperatorError, access_of_fleet};
pub use name::{ENGINE_NAME, ENGINE_VERSION};
pub use router::{Router, RouterError};

/// The engine on Zenoh. The variables of `rmw_zenoh` configure it: `ZENOH_SESSION_CONFIG_URI`,
/// `ZENOH_CONFIG_OVERRIDE` and `ZENOH_ROUTER_CHECK_ATTEMPTS`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ZenohEngine;

impl Engine for ZenohEngine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        session::ZenohSession::open(options, &config::Variables::of_process())
    }
}

/// The engine with given values, which are used instead of the values of the environment variables.
/// It is for tests and for programs that choose the values themselves.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredZenohEngine {
    /// The value for `ZENOH_CONFIG_OVERRIDE`, which contains `key/path=value` pairs, separated by
    /// `;`.
    pub config_override: String,
    /// The value for `ZENOH_ROUTER_CHECK_ATTEMPTS`. With 0, a session waits for a router without a
    /// limit. With a negative value, it does not look for a router.
    pub router_check_attempts: i64,
}

impl Engine for ConfiguredZenohEngine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let variables = config::Variables {
            config_override: Some(self.config_override.clone()),
            router_check_attempts: Some(self.router_check_attempts.to_string()),
            ..config::Variables::default()
        };
        session::ZenohSession::open(options, &variables)
    }
}
