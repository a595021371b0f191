//! Two engines as one: a context whose nodes are on both, for example for a robot on DDS that an
//! operator reaches by Zenoh.
//!
//! Every endpoint is an endpoint on each of the two engines. The announcement of the one on the
//! second engine names its twin on the first ([`feros_rmw::twin`]), so other endpoints on both
//! engines know the two as one, by the gid on the first.
//!
//! - *A message goes where it is needed*: always to the first engine, and to the second if that has
//!   a subscription that the first lacks, or if a policy needs the writing. Both engines count it,
//!   written or not, so its number is the same on both, and a subscription on both recognizes
//!   messages that it has received already.
//! - *Endpoints on both engines match by the first.* A match that only the second has found counts
//!   after [`PairEngine::settling`], and only if the first does not know the endpoint: a
//!   subscription that the first refuses for its policies is not served by the second.
//! - *A client asks the first engine that has a server*, and a response goes to the engine that its
//!   request came from.
//! - *If one engine loses an endpoint, the other continues.* Messages that the first engine had not
//!   delivered when it lost a subscription, which it notices after its own timeout, are lost and
//!   counted; from then on the second serves it.
//! - *Beyond engines*, as by shared memory, endpoints reach each other if they know each other by
//!   one gid: twins, and endpoints on the first engine.
//!
//! | module | holds |
//! |---|---|
//! | `session`, `publisher`, `subscription`, `service`, `client` | the traits of [`feros_rmw`] |
//! | `announced` | the announcement of an endpoint |
//! | `joining`, `graph`, `status` | matches, graph and events, joined from both engines |
//! | `heard` | the received messages of a twin |
//! | `shared` | the state that endpoints share |
//! | `later` | notifications after a time |
//!
//! # Invariants
//!
//! The crate knows no engine and no message type. Both engines count a publisher's messages alike.
//! No message is passed from engine to engine.
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

use feros_rmw::{Engine, OpenError, Session, SessionOptions};
use feros_sync::Mutex;

use session::PairSession;
use shared::Shared;

/// How long the first engine is given to find an endpoint on both that the second has found.
const SETTLING: Duration = Duration::from_secs(1);

/// Two engines as one; the first one takes precedence.
pub struct PairEngine {
    engines: [Arc<dyn Engine>; 2],
    name: &'static str,
    settling: Duration,
}

impl PairEngine {
    /// A pair of these two; both can be the same engine if each opens its sessions in another
    /// domain.
    #[must_use]
    pub fn new(engines: [Arc<dyn Engine>; 2]) -> Self {
        let name = interned(&format!("{},{}", engines[0].name(), engines[1].name()));
        Self { engines, name, settling: SETTLING }
    }

    /// Sets how long the first engine is given to find an endpoint on both that the second has
    /// found; the default is a second.
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

/// The names are leaked: there are only as many as pairs of engines.
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
