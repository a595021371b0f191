//! Tests the two forms in which nodes are announced: the form of ROS 2 Humble, and the form since
//! Iron.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::discovery_forms;
use feros_engine::{DiscoveryForm, Engine as _, Session, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::own_domain;

fn open(discovery_form: DiscoveryForm) -> Arc<dyn Session> {
    let options = SessionOptions { discovery_form, ..SessionOptions::localhost(own_domain()) };
    FastDdsEngine.open(&options).unwrap()
}

#[test]
fn sessions_of_both_forms_reach_each_other() {
    discovery_forms::sessions_of_both_forms_reach_each_other(&open);
}

#[test]
fn announcements_have_one_form_on_the_wire() {
    discovery_forms::announcements_have_one_form_on_the_wire(&open);
}

#[test]
fn announcements_made_by_hand_are_read() {
    discovery_forms::announcements_made_by_hand_are_read(&open);
}
