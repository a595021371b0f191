//! Tests the two forms in which nodes are announced: the form of ROS 2 Humble, and the form since
//! Iron.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex, PoisonError};

use feros_conformance::{TestNode, discovery_forms};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryForm, Engine as _, Session, SessionOptions};
use feros_test_support::{listen_to_log, own_domain};

fn open(discovery_form: DiscoveryForm) -> Arc<dyn Session> {
    let options = SessionOptions { discovery_form, ..SessionOptions::localhost(own_domain()) };
    ConfiguredCycloneEngine::default().open(&options).unwrap()
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

/// Each reads both forms. `forged` tests the warning about a stock participant with another form.
#[test]
fn sessions_of_feros_do_not_warn_of_each_other() {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    listen_to_log(|_, line| LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line));
    let usual = TestNode::new(open(DiscoveryForm::SinceIron));
    let humble = TestNode::new(open(DiscoveryForm::Humble));
    // With the second node of a session, its first announcement has been read to the end.
    for (near, far) in [(&usual, &humble), (&humble, &usual)] {
        for node in [&near.name, &TestNode::new(near.session.clone()).name] {
            far.wait_for_graph("the nodes of the other session", |graph| {
                graph.nodes.iter().any(|shown| shown.name == *node).then_some(())
            });
        }
    }
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(!lines.iter().any(|line| line.contains("in the form of")), "{lines:?}");
}
