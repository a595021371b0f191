//! Two engines as one: a context whose nodes are on both, such as those of a robot on DDS that an
//! operator reaches by Zenoh.
//!
//! Every endpoint is an endpoint on each of the two engines. The one on the second says in its
//! announcement which one on the first is its twin ([`feros_rmw::twin`]), so others that are on
//! both as well know the two as one, by the gid on the first. Nothing is passed on from engine to
//! engine, so nothing goes in circles.
//!
//! - *A message goes where somebody needs it*: always to the first engine, and to the second if a
//!   subscription is there that the first has not, or a policy is kept by writing. Both count it,
//!   written or not, so its number is the same on both, and tells a subscription on both what it
//!   has heard already.
//! - *Who is on both engines matches by the first.* That only the second has found it counts after
//!   [`PairEngine::settling`], and only if the first does not show it: a subscription that the
//!   first refuses for its policies is not served by the second.
//! - *A client asks the first engine that has a server*, and a response goes where its request came
//!   from.
//! - *One lost, the other goes on.* What the first engine had not delivered when it lost a
//!   subscription, which it knows after its own time, is lost and counted; from then on the second
//!   serves it.
//! - *Beyond engines*, as by shared memory, endpoints reach each other that know each other by one
//!   gid: twins, and who is on the first engine.
//!
//! | module | holds |
//! |---|---|
//! | `session`, `publisher`, `subscription`, `service`, `client` | the traits of [`feros_rmw`] |
//! | `announced` | what an endpoint says of itself |
//! | `joining`, `graph`, `status` | matches, graph and events of both, joined |
//! | `heard` | which messages of a twin were heard |
//! | `later` | who is told when time has passed |
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

/// So long who is on both engines is looked for on the first, once the second has found it.
const SETTLING: Duration = Duration::from_secs(1);

/// Two engines as one; the first one is asked first.
pub struct PairEngine {
    engines: [Arc<dyn Engine>; 2],
    name: &'static str,
    settling: Duration,
}

impl PairEngine {
    /// These two; the same engine twice is possible where each opens its sessions elsewhere.
    #[must_use]
    pub fn new(engines: [Arc<dyn Engine>; 2]) -> Self {
        let name = interned(&format!("{},{}", engines[0].name(), engines[1].name()));
        Self { engines, name, settling: SETTLING }
    }

    /// How long who is on both engines is looked for on the first, once the second has found it: a
    /// second if nothing is said.
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

/// Names are as few as pairs of engines, and live as long as the process.
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
