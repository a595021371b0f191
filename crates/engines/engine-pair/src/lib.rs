//! Joins two engines into one. The nodes of a context are then on both engines. For example, a
//! robot uses DDS, and an operator reaches it over Zenoh.
//!
//! Every endpoint of the context consists of two endpoints, which are called its twins: one on each
//! engine. The announcement of the twin on the second engine names the twin on the first engine
//! ([`feros_engine::twin`]). So other contexts on both engines recognize the two as one endpoint,
//! which is identified by the gid on the first engine.
//!
//! - *A message is sent only where it is needed.* It is always sent on the first engine. It is sent
//!   on the second engine only if there is a subscription that is not on the first engine, or if a
//!   policy requires it. Both engines count every message, whether they send it or not. So a
//!   message has the same number on both engines, and a subscription on both engines recognizes
//!   messages that it has already received.
//! - *Endpoints on both engines match on the first engine.* A match that only the second engine has
//!   found counts only after the time [`PairEngine::settling`] has passed, and only if the first
//!   engine does not know the endpoint. For example, if the policies of a subscription prevent a
//!   match on the first engine, the second engine does not serve the subscription either.
//! - *A client uses the first engine that has a server.* A response is sent over the same engine as
//!   its request.
//! - *If one engine loses an endpoint, the other engine continues.* The first engine notices the
//!   loss of a subscription only after its own timeout. Messages that have not been delivered by
//!   then are lost and counted. After that, the second engine delivers.
//! - *Transports without engines*, such as shared memory, require that both sides know an endpoint
//!   by the same gid. This is true for twins and for endpoints on the first engine.
//!
//! | module | content |
//! |---|---|
//! | `session`, `publisher`, `subscription`, `service`, `client` | the traits of [`feros_engine`] |
//! | `announced` | the announcement of an endpoint |
//! | `joining`, `graph`, `status` | matches, graph and events, joined from both engines |
//! | `heard` | the messages of a publisher that have been received |
//! | `shared` | the state that endpoints share |
//! | `later` | notifications at a given time |
//!
//! # Invariants
//!
//! The crate does not depend on any engine or message type. Both engines count the messages of a
//! publisher in the same way. No message is passed from one engine to the other engine.
#![forbid(unsafe_code)]

mod announced;
mod client;
mod graph;
mod heard;
mod joining;
mod later;
mod publisher;
mod service;
mod session;
mod shared;
mod status;
mod subscription;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use feros_engine::{Engine, OpenError, Session, SessionOptions};
use feros_sync::Mutex;

use session::PairSession;
use shared::Shared;

/// How long the first engine has to find an endpoint that the second engine has already found.
const SETTLING: Duration = Duration::from_secs(1);

/// Two engines that act as one. The first engine takes precedence.
pub struct PairEngine {
    engines: [Arc<dyn Engine>; 2],
    name: &'static str,
    settling: Duration,
}

impl PairEngine {
    /// Joins these two engines. They can be the same engine twice, if each of them opens its
    /// sessions in a different domain.
    #[must_use]
    pub fn new(engines: [Arc<dyn Engine>; 2]) -> Self {
        let name = interned(&format!("{},{}", engines[0].name(), engines[1].name()));
        Self { engines, name, settling: SETTLING }
    }

    /// Sets how long the first engine has to find an endpoint that the second engine has already
    /// found. The default is one second.
    #[must_use]
    pub fn settling(mut self, time: Duration) -> Self {
        self.settling = time;
        self
    }

    fn open_side(
        &self,
        side: usize,
        options: &SessionOptions,
    ) -> Result<Arc<dyn Session>, OpenError> {
        let engine = &self.engines[side];
        engine.open(options).map_err(|reason| OpenError::OneOfSeveral {
            engines: self.name,
            engine: engine.name(),
            reason: Box::new(reason),
        })
    }
}

impl Engine for PairEngine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let sides = [self.open_side(0, options)?, self.open_side(1, options)?];
        let shared = Shared::new(sides, self.settling);
        Ok(Arc::new(PairSession { name: self.name, shared }))
    }
}

/// Returns the name with a static lifetime. The memory is never freed, but there is only one name
/// for each pair of engines.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock();
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}
