//! Measures the cost of a bridge between two domains of Cyclone DDS, compared with direct
//! communication.
//!
//! ```console
//! cargo run --release -p feros-engine-bridge --example hop -- 201 202 > hops.csv
//! ```
#![allow(clippy::unwrap_used, reason = "a failed measurement may panic")]

mod measure;

use std::sync::Arc;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{Engine as _, Session, SessionOptions};

fn main() {
    measure::run("hop DOMAIN OTHER_DOMAIN", session);
}

fn session(domain: &str) -> Arc<dyn Session> {
    let domain_id = domain.parse().unwrap();
    let options = SessionOptions::localhost(domain_id);
    CycloneEngine.open(&options).unwrap()
}
