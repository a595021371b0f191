//! The conformance suite over the transports of Fast DDS, as between processes: sessions of one
//! process are not joined by its short cut.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use feros_conformance::{Fixture, conformance_tests};
use feros_rmw::{DiscoveryRange, Engine, Session, SessionOptions};
use feros_rmw_fastdds::FastDdsEngine;

/// The domain of these tests.
const DOMAIN_ID: u32 = 124;

const PROFILES: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com">
    <library_settings>
        <intraprocess_delivery>OFF</intraprocess_delivery>
    </library_settings>
</dds>
"#;

/// The settings of the library come from a file that it reads when it is first used.
fn profiles() {
    static FILE: OnceLock<()> = OnceLock::new();
    FILE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("feros_fastdds_{}.xml", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(PROFILES.as_bytes()).unwrap();
        // SAFETY: no other thread of this process runs but those that wait for this cell.
        unsafe { std::env::set_var("FASTDDS_DEFAULT_PROFILES_FILE", &path) };
        let options = SessionOptions { domain_id: DOMAIN_ID, ..localhost() };
        drop(FastDdsEngine.open(&options).unwrap());
        std::fs::remove_file(&path).unwrap();
    });
}

fn localhost() -> SessionOptions {
    SessionOptions { discovery_range: DiscoveryRange::Localhost, ..SessionOptions::default() }
}

fn open() -> Arc<dyn Session> {
    profiles();
    FastDdsEngine.open(&SessionOptions { domain_id: DOMAIN_ID, ..localhost() }).unwrap()
}

struct Network;
impl Fixture for Network {
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>) {
        (open(), open())
    }
}

conformance_tests!(network, Network);
