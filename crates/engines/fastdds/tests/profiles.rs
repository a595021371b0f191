//! Tests that XML profiles and the publication mode of `rmw_fastrtps` have an effect. A process
//! reads both only once, so there is only one test, which has its own process.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use feros_conformance::{TestNode, matched};
use feros_engine::{Engine, QosProfile, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::own_domain;

/// This profile sets the participant's number. A second participant finds the number in use, which
/// shows that the file has been read. The profile also makes writers of the topic `rt/limited`
/// asynchronous.
const PROFILES: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com">
    <profiles>
        <participant profile_name="only_this" is_default_profile="true">
            <rtps>
                <participantID>77</participantID>
            </rtps>
        </participant>
        <data_writer profile_name="rt/limited">
            <qos><publishMode><kind>ASYNCHRONOUS</kind></publishMode></qos>
        </data_writer>
    </profiles>
</dds>
"#;

#[test]
fn profiles_are_those_of_the_file() {
    let folder = std::env::temp_dir().join(format!("feros_profiles_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("profiles.xml");
    std::fs::write(&file, PROFILES).unwrap();
    // SAFETY: this is the only test in this process, and the process has started no thread yet.
    unsafe {
        std::env::set_var("FASTDDS_DEFAULT_PROFILES_FILE", &file);
        std::env::set_var("RMW_FASTRTPS_USE_QOS_FROM_XML", "1");
        std::env::set_var("RMW_FASTRTPS_PUBLICATION_MODE", "ASYNCHRONOUS");
    }
    let options = SessionOptions::localhost(own_domain());
    let session = FastDdsEngine.open(&options).unwrap();
    let said = session.configuration();
    assert!(said.contains("profiles.xml") && said.contains("XML: true"), "{said}");
    let refused = FastDdsEngine.open(&options).map(drop).unwrap_err().to_string();
    assert!(refused.contains("creating the participant"), "{refused}");

    let node = TestNode::new(session);
    let publisher = node.publisher("/limited", QosProfile::default());
    let subscription = node.subscription("/limited", QosProfile::default());
    matched(&publisher, &subscription);
    publisher.publish(&[3; 300_000]);
    let sample = subscription.next();
    assert_eq!((sample.payload.len(), sample.payload[299_999]), (300_000, 3));
    publisher.publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
