//! Tests the two forms in which nodes are announced: the form of ROS 2 Humble, and the form since
//! Iron.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex, PoisonError};

use feros_conformance::{TestNode, discovery_forms};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{DiscoveryForm, Engine as _, Session, SessionOptions};
use feros_test_support::{eventually, listen_to_log, own_domain};

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

#[test]
fn a_participant_with_another_form_is_named_once_with_the_cure() {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let lines = || LINES.lock().unwrap_or_else(PoisonError::into_inner);
    listen_to_log(|_, line| {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    });
    let watcher = TestNode::new(open(DiscoveryForm::SinceIron));
    let humble = TestNode::new(open(DiscoveryForm::Humble));
    let gid = humble.session.gid().to_string();
    let about_it = || {
        let named = format!("participant {gid} announces itself in the form of ROS 2 Humble");
        lines().iter().filter(|line| line.contains(&named)).cloned().collect::<Vec<_>>()
    };
    eventually(|| match &about_it()[..] {
        [] => Err("the warning"),
        _ => Ok(()),
    });
    // Further announcements of the same participant add no line.
    let other = TestNode::new(humble.session.clone());
    watcher.wait_for_graph("the second node", |graph| {
        graph.nodes.iter().any(|node| node.name == other.name).then_some(())
    });
    let told = about_it();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("set FEROS_ROS_DISTRO=humble for this process"), "{told:?}");
}
