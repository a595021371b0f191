//! Collects what one thread logs, for tests that count log lines.

use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Level, Metadata};

/// The warnings and errors that this thread logs while `run` runs.
pub fn log_lines(run: impl FnOnce()) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let keep =
        move |_: &str, line: String| kept.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    tracing::subscriber::with_default(Listener(keep), run);
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *lines)
}

/// From now on, calls `keep` with the target and the text of each warning and error that the
/// process logs. Only the first call in a process has an effect.
pub fn listen_to_log(keep: impl Fn(&str, String) + Send + Sync + 'static) {
    let _ = tracing::subscriber::set_global_default(Listener(keep)); // there may be one already
}

struct Listener<F>(F);

impl<F: Fn(&str, String) + Send + Sync + 'static> Subscriber for Listener<F> {
    // Other threads may have other subscribers, so no answer may be cached.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0(event.metadata().target(), text.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
