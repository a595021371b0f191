//! The Feros engine on Fast DDS, for robots that use Fast DDS. It exchanges messages with stock
//! nodes on the same host through the shared memory of Fast DDS.
//!
//! The Fast DDS library is loaded when a program chooses the engine (see [`feros_fastdds_sys`]).
//! XML profiles work as in stock ROS 2, with the variables `FASTDDS_DEFAULT_PROFILES_FILE` (in Fast
//! DDS 2, `FASTRTPS_DEFAULT_PROFILES_FILE`), `RMW_FASTRTPS_USE_QOS_FROM_XML` and
//! `RMW_FASTRTPS_PUBLICATION_MODE`.
//!
//! ```no_run
//! use feros_engine::{Engine, SessionOptions};
//! let session = feros_fastdds::FastDdsEngine.open(&SessionOptions::default())?;
//! println!("{} {}", session.engine_name(), session.engine_version());
//! # Ok::<(), feros_engine::OpenError>(())
//! ```
//!
//! A message is sent in the following way. The caller serializes it into a buffer of the shim, from
//! which Fast DDS sends it. On the receiving side, Fast DDS writes it into such a buffer, which
//! `take` lends to the caller. Fast DDS 2 uses its own buffers on both sides, so the shim copies
//! the message.
//!
//! # Invariants
//!
//! A callback of Fast DDS runs under locks of Fast DDS, so it must not take a lock of Feros that
//! another thread holds while it calls Fast DDS.

mod discovery;
mod endpoint;
mod library;
mod listener;
mod liveness;
mod log;
mod participant;
mod qos;
mod sample;
mod settings;

use std::sync::Arc;

use feros_dds::graph::Graph;
use feros_dds::session::DdsSession;
use feros_engine::{Engine, OpenError, Session, SessionOptions};

use participant::{ENGINE_NAME, Participant};

/// The engine on Fast DDS.
#[derive(Debug, Clone, Copy, Default)]
pub struct FastDdsEngine;

impl Engine for FastDdsEngine {
    fn name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let graph = Arc::new(Graph::new(options.discovery_form));
        let participant = Arc::new(Participant::open(options, graph.clone())?);
        Ok(Arc::new(DdsSession::new(options, participant, graph)?))
    }
}
