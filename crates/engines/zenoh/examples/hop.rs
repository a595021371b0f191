//! Measures the cost of the bridge from Cyclone DDS to Zenoh, compared with direct communication on
//! each engine.
//!
//! ```console
//! cd crates/engines/zenoh && cargo run --release --example hop -- cyclonedds zenoh > hops.csv
//! ```
//!
//! On Zenoh, the processes discover each other by multicast on a port of their own. On Cyclone DDS,
//! they use a domain of their own.
#![allow(clippy::unwrap_used, reason = "a failed measurement may panic")]

#[path = "../../engine-bridge/examples/hop/measure.rs"]
mod measure;

use std::sync::Arc;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{Engine, Session, SessionOptions};
use feros_zenoh::ConfiguredZenohEngine;

const DOMAIN_ID: u32 = 203;
const SCOUTING: &str =
    "scouting/multicast/enabled=true;scouting/multicast/address=\"224.0.0.224:7520\"";

fn main() {
    measure::run("hop cyclonedds|zenoh cyclonedds|zenoh", session);
}

fn session(engine: &str) -> Arc<dyn Session> {
    let zenoh =
        ConfiguredZenohEngine { config_override: SCOUTING.to_owned(), router_check_attempts: -1 };
    let engines: [&dyn Engine; 2] = [&CycloneEngine, &zenoh];
    let chosen = engines.into_iter().find(|known| known.name() == engine).unwrap();
    let options = SessionOptions::localhost(DOMAIN_ID);
    chosen.open(&options).unwrap()
}
