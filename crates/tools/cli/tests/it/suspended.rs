//! Commands that a shell suspends by Ctrl-Z and continues. Waits at a socket with a time limit then
//! end early (signal(7), "Interruption of system calls by stop signals"), and must begin again.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use feros_test_support::until;
use rustix::process::Signal;

use crate::multicast::assert_that_a_datagram_is_received;
use crate::process::Running;

/// The answer of a ROS 1 master to `getParam`: the parameter is 7.
const ANSWER: &str = "<?xml version='1.0'?><methodResponse><params><param><value><array><data>\
                      <value><int>1</int></value><value><string>it is set</string></value>\
                      <value><int>7</int></value>\
                      </data></array></value></param></params></methodResponse>";

/// Suspends a command while it waits, and lets it continue.
fn suspend(command: &Running) {
    let is_in = |state: char| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", command.pid())).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with(state)
    };
    until("the command waits", || is_in('S'));
    command.signal(Signal::STOP);
    until("the command is suspended", || is_in('T'));
    command.signal(Signal::CONT);
}

#[test]
fn an_answer_of_a_ros1_master_is_waited_for() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let uri = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let command = Running::start(&["ros1", "param", "/answer", "--master", &uri]);
    let (mut connection, _) = listener.accept().unwrap();
    let (mut request, mut block) = (Vec::new(), [0; 4096]);
    while !request.ends_with(b"</methodCall>") && !request.ends_with(b"</methodCall>\n") {
        let count = connection.read(&mut block).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&request));
        request.extend_from_slice(&block[..count]);
    }
    suspend(&command);
    let length = ANSWER.len();
    write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{ANSWER}").unwrap();
    assert_eq!(command.finish().success(), "/answer: 7\n");
}

#[test]
fn a_datagram_is_waited_for() {
    assert_that_a_datagram_is_received("49197", suspend);
}
