//! The Feros engine on Zenoh, on the wire of `rmw_zenoh_cpp` of ROS 2 Kilted.
//!
//! | module | holds |
//! |---|---|
//! | `wire` | tokens, attachments, announcements: texts and bytes, no network |
//! | `config` | Zenoh's configuration, its defaults and variables as in `rmw_zenoh` |
//! | `session`, `session_state`, `room` | a session, what its endpoints share |
//! | `member`, `announcing` | an endpoint in the graph, what it announces |
//! | `graph`, `matches` | who is there, from liveliness tokens; who matches an endpoint |
//! | `publisher`, `subscription`, `service`, `client` | the endpoints |
//! | `fence` | whether another session has handled all that was sent to it |
//! | `router` | a router, so that nobody has to install one |
//!
//! A session is one of Zenoh, and every node and endpoint of it is announced by a liveliness token
//! whose text says all about it. Its gid is the hash of that text. Messages travel under the key of
//! their topic and type, requests and responses as queries and replies.

mod announcing;
mod client;
mod config;
mod fence;
mod graph;
mod inbox;
mod matches;
mod member;
mod publisher;
mod router;
mod sample;
mod service;
mod session;
mod session_state;
mod subscription;
pub mod wire;

use std::sync::Arc;

use feros_rmw::{Engine, OpenError, Session, SessionOptions};

pub use router::{Router, RouterError};

/// Short name of the engine.
pub const ENGINE_NAME: &str = "zenoh";

/// The version of Zenoh, which Cargo.toml pins.
pub const ENGINE_VERSION: &str = "1.10.2";

/// The engine, configured by the variables of `rmw_zenoh`: `ZENOH_SESSION_CONFIG_URI`,
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

/// The engine with variables of its own in place of the environment's, for tests and for programs
/// that decide themselves.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredZenohEngine {
    /// What `ZENOH_CONFIG_OVERRIDE` would be: `key/path=value` pairs separated by `;`.
    pub config_override: String,
    /// What `ZENOH_ROUTER_CHECK_ATTEMPTS` would be: 0 waits for a router without end, less than
    /// none skips the check.
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
