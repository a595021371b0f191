//! Prints the library's messages while a command runs, such as a warning about QoS that does not
//! match, to standard error in the command's own form. The messages may contain names and reasons
//! from the network, so nothing in a message can steer a terminal, and its lines after the first
//! are indented.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
use feros_engine::other_forms::OTHER_FORMS_TARGET;
use feros_wording::harmless_block;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// Makes warnings and errors of the library reach the terminal.
pub(crate) fn init() {
    let subscriber = tracing_subscriber::registry().with(Notices);
    // It fails only if there is a subscriber already, which then does this work.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Whether warnings about the forms of other participants are left out.
static WITHOUT_OTHER_FORMS: AtomicBool = AtomicBool::new(false);

/// From now on, leaves out the warnings about participants that announce themselves in another form
/// than this process. A verb calls this function if its result says the same of each of them.
pub(crate) fn leave_out_other_forms() {
    WITHOUT_OTHER_FORMS.store(true, Ordering::Relaxed);
}

/// Warns the user, and continues.
pub(crate) fn warn(text: impl std::fmt::Display) {
    let style = AnsiColor::Yellow.on_default().bold();
    print(format_args!("{style}warning:{style:#} {}", harmless_block(&text.to_string())));
}

/// Prints a note on the work of the command to standard error, because standard output is for its
/// results.
pub(crate) fn note(text: impl std::fmt::Display) {
    print(format_args!("{}", harmless_block(&text.to_string())));
}

/// Prints why the command ends.
pub(crate) fn error(text: impl std::fmt::Display) {
    let style = AnsiColor::Red.on_default().bold();
    print(format_args!("{style}error:{style:#} {}", harmless_block(&text.to_string())));
}

/// Prints a line. Errors are ignored, since a command must end in an orderly way even if its
/// terminal has been closed.
fn print(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

struct Notices;

impl<S: tracing::Subscriber> Layer<S> for Notices {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.is_event() && *metadata.level() <= tracing::Level::WARN
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let is_other_form = event.metadata().target() == OTHER_FORMS_TARGET;
        if is_other_form && WITHOUT_OTHER_FORMS.load(Ordering::Relaxed) {
            return;
        }
        let mut message = Message::default();
        event.record(&mut message);
        warn(message.0);
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0.push_str(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.push_str(&format!("{value:?}"));
        }
    }
}
