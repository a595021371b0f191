//! Pairs of one engine in two domains, for tests that need no second engine.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;
use std::time::Duration;

use feros_engine_pair::PairEngine;
use feros_rmw::{DiscoveryRange, Engine, OpenError, Session, SessionOptions};
use feros_rmw_cyclonedds::ConfiguredCycloneEngine;

/// Cyclone DDS in a fixed domain, whichever domain the session asks for.
pub(crate) struct InDomain {
    pub(crate) domain_id: u32,
    /// Additional configuration of the engine.
    pub(crate) configuration: String,
}

impl InDomain {
    pub(crate) fn of(domain_id: u32) -> Arc<dyn Engine> {
        Arc::new(Self { domain_id, configuration: String::new() })
    }
}

impl Engine for InDomain {
    fn name(&self) -> &'static str {
        "cyclonedds"
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        let options = SessionOptions {
            domain_id: self.domain_id,
            discovery_range: DiscoveryRange::Localhost,
            ..options.clone()
        };
        ConfiguredCycloneEngine { configuration: self.configuration.clone() }.open(&options)
    }
}

/// A session in one of the domains.
pub(crate) fn single(domain_id: u32) -> Arc<dyn Session> {
    InDomain::of(domain_id).open(&SessionOptions::default()).unwrap()
}

/// A session in both domains that waits for the first without limit: an endpoint on both is always
/// found by the first, however busy the machine is.
pub(crate) fn patient(domains: [u32; 2]) -> Arc<dyn Session> {
    let engine = PairEngine::new(domains.map(InDomain::of)).settling(Duration::from_secs(3600));
    engine.open(&SessionOptions::default()).unwrap()
}

/// A session in both domains that does not wait for the first.
pub(crate) fn hasty(domains: [u32; 2]) -> Arc<dyn Session> {
    let engine = PairEngine::new(domains.map(InDomain::of)).settling(Duration::ZERO);
    engine.open(&SessionOptions::default()).unwrap()
}
