//! The Feros engine on Cyclone DDS.
//!
//! The engine uses the wire protocol of stock ROS 2. Its services and clients work with those of
//! rmw_fastrtps and of rmw_cyclonedds. It needs no configuration from the user: [`config`] derives
//! a configuration from the options of the session and the interfaces of this host.
//! `CYCLONEDDS_URI` is appended to that configuration, and overrides it.
//!
//! ```no_run
//! use feros_engine::{Engine, SessionOptions};
//! let session = feros_cyclonedds::CycloneEngine.open(&SessionOptions::default())?;
//! println!("{} {}", session.engine_name(), session.engine_version());
//! # Ok::<(), feros_engine::OpenError>(())
//! ```
//!
//! A message is sent in the following way. `publish` lends memory from the engine's pool, the
//! caller serializes the message into this memory, and the engine sends it from there. On the
//! receiving side, the engine copies the message once, from the received datagrams into a
//! contiguous sample, which `take` lends to the caller.
//!
//! # Invariants
//!
//! A reply uses the service mapping of its request. Malformed samples are refused and counted.

mod c_string;
mod circumstances;
pub mod config;
mod dds;
mod discovery;
mod domain;
mod endpoint;
mod interface;
mod library;
mod listener;
mod matches;
mod multicast;
mod neighbours;
mod origin;
mod participant;
mod peers;
mod qos;
mod reception;
mod sample;
mod topic;

use std::ffi::OsString;
use std::sync::Arc;

use feros_engine::{Engine, OpenError, Session, SessionOptions};

use feros_dds::graph::Graph;
use feros_dds::session::DdsSession;

use domain::ENGINE_NAME;
use participant::Participant;

/// The engine on Cyclone DDS.
#[derive(Debug, Clone, Copy, Default)]
pub struct CycloneEngine;

impl Engine for CycloneEngine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let user_configuration = std::env::var_os("CYCLONEDDS_URI").map(OsString::into_string);
        let user_configuration =
            user_configuration.transpose().map_err(|_| OpenError::Configuration {
                engine: ENGINE_NAME,
                source_name: "CYCLONEDDS_URI".into(),
                detail: "it is not UTF-8".into(),
            })?;
        open(options, user_configuration)
    }
}

/// The engine with a given configuration, which is used instead of `CYCLONEDDS_URI`. It is appended
/// to the configuration that [`config`] derives, and overrides it.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredCycloneEngine {
    /// The configuration in the format of Cyclone DDS: XML, or a `file://` URI.
    pub configuration: String,
}

impl Engine for ConfiguredCycloneEngine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        open(options, Some(self.configuration.clone()))
    }
}

fn open(
    options: &SessionOptions,
    user_configuration: Option<String>,
) -> Result<Arc<dyn Session>, OpenError> {
    let participant = Participant::open(options, user_configuration.as_deref())?;
    let graph = Arc::new(Graph::new(options.discovery_form));
    Ok(Arc::new(DdsSession::new(options, Arc::new(participant), graph)?))
}
