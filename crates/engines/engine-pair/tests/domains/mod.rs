//! Pairs that consist of the same engine in two domains, for tests that need no second engine.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;
use std::time::Duration;

use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryRange, Engine, OpenError, Session, SessionOptions};
use feros_engine_pair::PairEngine;

/// Cyclone DDS in a fixed domain, no matter which domain the session requests.
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

/// Opens a session in a single domain.
pub(crate) fn single(domain_id: u32) -> Arc<dyn Session> {
    InDomain::of(domain_id).open(&SessionOptions::default()).unwrap()
}

/// Opens a session in both domains that waits very long for the first domain. An endpoint in both
/// domains is then always found in the first domain, no matter how busy the machine is.
pub(crate) fn patient(domains: [u32; 2]) -> Arc<dyn Session> {
    let engine = PairEngine::new(domains.map(InDomain::of)).settling(Duration::from_secs(3600));
    engine.open(&SessionOptions::default()).unwrap()
}
