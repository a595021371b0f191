//! Tests that a new session discovers other sessions from their answers to its announcement, so
//! that it does not have to wait for their next announcements.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::sync::Arc;

use feros_engine::{Engine as _, NodeName, PublisherOptions, Session, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::{TestProcess, Watchdog, obey, until};

const VARIABLE: &str = "FEROS_TEST_FASTDDS_STANDING";
const PROFILES_VARIABLE: &str = "FASTDDS_DEFAULT_PROFILES_FILE";
const TOPIC: &str = "/standing";

/// A participant announces itself when it starts and as an answer. Apart from this, it announces
/// itself only once an hour.
const SELDOM: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com"><profiles>
    <participant profile_name="seldom" is_default_profile="true"><rtps><builtin><discovery_config>
        <leaseDuration><sec>7200</sec></leaseDuration>
        <leaseAnnouncement><sec>3600</sec></leaseAnnouncement>
    </discovery_config></builtin></rtps></participant>
</profiles></dds>
"#;

fn session() -> Arc<dyn Session> {
    let options = SessionOptions::localhost(126);
    FastDdsEngine.open(&options).unwrap()
}

#[test]
fn each_session_finds_who_is_there() {
    let _watchdog = Watchdog::start();
    let mut profiles = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut profiles, SELDOM.as_bytes()).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(VARIABLE, "1").env(PROFILES_VARIABLE, profiles.path());
    let mut standing = TestProcess::start(command, "standing_process");
    standing.said("ready");
    for _ in 0..20 {
        let session = session();
        until("the endpoint", || {
            session.graph().endpoints.iter().any(|endpoint| endpoint.name == TOPIC)
        });
    }
    standing.end();
}

/// Keeps a session open until its input ends. In a normal test run, this test does nothing.
#[test]
fn standing_process() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let session = session();
    let node = session.create_node(&NodeName::new("/", "standing").unwrap()).unwrap();
    let options = PublisherOptions::new(node, TOPIC, "std_msgs/msg/UInt64");
    let _publisher = session.create_publisher(options).unwrap();
    obey(|_| ());
}
