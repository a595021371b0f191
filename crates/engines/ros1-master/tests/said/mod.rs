//! Collects the log of a test process.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::fmt::{Debug, Write as _};
use std::sync::Mutex;

use feros_test_support::eventually;
use tracing::field::{Field, Visit};
use tracing::span;

/// The log lines of all tests in this process. Each test searches for lines with its own names.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listening;

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}

impl tracing::Subscriber for Listening {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        SAID.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Starts to collect the log.
pub fn listen() {
    let _ = tracing::subscriber::set_global_default(Listening); // only the first call succeeds
}

/// Returns the log lines so far that contain this text.
pub fn all_said(part: &str) -> Vec<String> {
    SAID.lock().unwrap().iter().filter(|said| said.contains(part)).cloned().collect()
}

/// Waits for a log line that contains this text.
pub fn said(part: &str) -> String {
    eventually(|| all_said(part).into_iter().next().ok_or(format!("no line contains {part}")))
}
