//! Tests that a process can end while one of its threads closes a session. The library's
//! destructors at exit must not conflict with the thread.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::sync::mpsc::sync_channel;

use feros_engine::{Engine as _, SessionOptions};
use feros_fastdds::FastDdsEngine;
use feros_test_support::{TestProcess, own_domain};

const VARIABLE: &str = "FEROS_TEST_FASTDDS_EXIT";

#[test]
fn a_process_may_end_while_a_thread_ends_a_session() {
    for _ in 0..5 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(VARIABLE, "1");
        TestProcess::start(command, "exit_process").end();
    }
}

/// Ends the process as soon as the thread closes the session. In a normal test run, this test does
/// nothing.
#[test]
fn exit_process() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let options = SessionOptions::localhost(own_domain());
    let session = FastDdsEngine.open(&options).unwrap();
    let (is_ending, ends) = sync_channel(1);
    let end = move || {
        is_ending.send(()).unwrap();
        drop(session);
    };
    std::thread::Builder::new().name("end_session".into()).spawn(end).unwrap();
    ends.recv().unwrap();
    std::process::exit(0);
}
