//! `feros multicast`, on the loopback interface.

use crate::process::{Running, feros};

/// Starts a command that waits for a datagram at this port; `meanwhile`, something happens to it.
/// Then it gets a datagram.
pub(crate) fn assert_that_a_datagram_is_received(port: &str, meanwhile: impl FnOnce(&Running)) {
    let loopback = ["--interface", "127.0.0.1", "--port", port];
    let line = [&["multicast", "receive", "--timeout", "50"][..], &loopback].concat();
    let mut receiver = Running::start(&line);
    assert_eq!(receiver.line().as_deref(), Some("Waiting for UDP multicast datagram..."));
    meanwhile(&receiver);
    let line = [&["multicast", "send", "--ttl", "0"][..], &loopback].concat();
    assert_eq!(feros(&line).success(), "Sending one UDP multicast datagram...\n");
    let received = receiver.finish().success();
    assert!(
        received.starts_with("Received from 127.0.0.1:")
            && received.ends_with(": 'Hello World!'\n"),
        "{received}"
    );
}

#[test]
fn a_sent_datagram_is_received() {
    assert_that_a_datagram_is_received("49199", |_| ());
}

#[test]
fn silence_is_told_with_what_may_be_the_matter() {
    let line = ["multicast", "receive", "--interface", "127.0.0.1", "--port", "49198"];
    let error = feros(&[&line[..], &["--timeout", "0.1"]].concat()).failure(1);
    assert!(error.contains("no datagram arrived in group 225.0.0.1/49198"), "{error}");
}
