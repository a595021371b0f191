//! Writes the log of Feros in a process of stock ROS 2 to standard error.
//!
//! The log does not go to rcutils, because rcutils would publish the log messages on `/rosout`, and
//! an engine may log while it holds locks.

use std::fmt;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

use crate::error::{Failure, guarded};
use crate::ffi::rmw_ret_t;
use crate::identity::NAME;

const DEBUG: i32 = 10;
const INFO: i32 = 20;
const WARN: i32 = 30;
const ERROR: i32 = 40;
const FATAL: i32 = 50;

/// The minimum severity. Less severe log messages are not printed.
static SEVERITY: AtomicI32 = AtomicI32::new(WARN);

/// Starts printing the log messages of Feros. Only the first call has an effect.
pub(crate) fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // If the process already has a tracing subscriber, that subscriber stays.
        let _ = tracing::subscriber::set_global_default(StandardError);
    });
}

/// Prints log messages to standard error.
struct StandardError;

fn severity(level: Level) -> i32 {
    match level {
        Level::ERROR => ERROR,
        Level::WARN => WARN,
        Level::INFO => INFO,
        _ => DEBUG,
    }
}

impl Subscriber for StandardError {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes() // the severity may change
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && severity(*metadata.level()) >= SEVERITY.load(Ordering::Relaxed)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        // The text contains names and reasons from other processes.
        let text = feros_wording::harmless_block(&text.0);
        eprintln!("[{}] [{NAME}]: {text}", event.metadata().level());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The text of a log message.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// Sets the minimum severity of the log messages that are printed.
#[unsafe(no_mangle)]
extern "C" fn rmw_set_log_severity(severity: u32) -> rmw_ret_t {
    guarded(|| {
        let known = i32::try_from(severity).ok();
        let known = known.filter(|known| matches!(*known, DEBUG | INFO | WARN | ERROR | FATAL));
        let known = known.ok_or_else(|| {
            Failure::invalid(format!("the severity {severity} is not 10, 20, 30, 40 or 50"))
        })?;
        SEVERITY.store(known, Ordering::Relaxed);
        Ok(())
    })
}
