//! Passes the warnings of a session to the test, for several test files.

use std::fmt::Write as _;

/// Passes the text of each warning of this process to `keep`.
///
/// # Panics
///
/// Panics if this process already has a `tracing` subscriber.
pub(crate) fn listen(keep: impl Fn(String) + Send + Sync + 'static) {
    tracing::subscriber::set_global_default(Listener(keep)).expect("the only listener");
}

struct Listener<F>(F);

struct Text<'a>(&'a mut String);

impl tracing::field::Visit for Text<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").expect("a string takes any text");
        }
    }
}

impl<F: Fn(String) + Send + Sync + 'static> tracing::Subscriber for Listener<F> {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == feros_engine::engine::LOG_TARGET
            && *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = String::new();
        event.record(&mut Text(&mut text));
        self.0(text);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
