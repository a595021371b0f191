//! Collects the log of a test process.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::sync::Mutex;

use feros_test_support::{eventually, listen_to_log};

/// The log lines of all tests in this process. Each test searches for lines with its own names.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts to collect the log.
pub fn listen() {
    listen_to_log(|_, line| SAID.lock().unwrap().push(line));
}

/// Returns the log lines so far that contain this text.
pub fn all_said(part: &str) -> Vec<String> {
    SAID.lock().unwrap().iter().filter(|said| said.contains(part)).cloned().collect()
}

/// Waits for a log line that contains this text.
pub fn said(part: &str) -> String {
    eventually(|| all_said(part).into_iter().next().ok_or(format!("no line contains {part}")))
}
