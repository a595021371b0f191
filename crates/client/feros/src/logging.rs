//! Logging for all code that uses `tracing`: messages go to the terminal in the format of
//! `rcutils`, and to `/rosout`.
//!
//! A message belongs to a *logger*, which is usually named after a node. [`info!`](crate::info) and
//! its sibling macros take the node as an argument. A message of a plain `tracing::info!` belongs
//! to the node whose callback is running, or to a logger named after the Rust module if no callback
//! is running. Logging is process-wide because `tracing` is.

mod conditional;
mod format;
mod logger;
pub(crate) mod rosout;

#[doc(hidden)]
pub use conditional::{First, Throttle};
pub use logger::Logger;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

use feros_engine::engine::LOG_TARGET;
use feros_sync::RwLock;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context as LayerContext, Layer, SubscriberExt};

use crate::arguments::{Arguments, LogLevel};

/// The name of the field that holds the logger of an event.
#[doc(hidden)]
pub const LOGGER_FIELD: &str = "ros_logger";
/// The name of the field that turns an error into a fatal message, a level that `tracing` does not
/// have.
#[doc(hidden)]
pub const FATAL_FIELD: &str = "ros_fatal";
/// The names of the fields that hold the source location of an event from code in another language.
const FILE_FIELD: &str = "ros_file";
const FUNCTION_FIELD: &str = "ros_function";
const LINE_FIELD: &str = "ros_line";

/// One log message on its way to the terminal and to `/rosout`.
#[derive(Debug, Clone)]
pub(crate) struct LogRecord {
    pub(crate) stamp: SystemTime,
    pub(crate) level: LogLevel,
    pub(crate) logger: String,
    pub(crate) message: String,
    pub(crate) file: Cow<'static, str>,
    pub(crate) function: Cow<'static, str>,
    pub(crate) line: u32,
}

/// A destination for the messages of one logger, in addition to the terminal.
pub(crate) trait LogSink: Send + Sync {
    fn write(&self, record: &LogRecord);
}

/// The log levels and sinks of this process.
#[derive(Default)]
struct Hub {
    default_level: Option<LogLevel>,
    levels: HashMap<String, LogLevel>,
    silent_terminal: bool,
    /// The sinks, by logger. If a logger has several sinks, the first that is alive gets the
    /// messages.
    sinks: HashMap<String, Vec<Weak<dyn LogSink>>>,
}

static HUB: OnceLock<RwLock<Hub>> = OnceLock::new();

fn hub() -> &'static RwLock<Hub> {
    HUB.get_or_init(RwLock::default)
}

fn with_hub<R>(change: impl FnOnce(&mut Hub) -> R) -> R {
    change(&mut hub().write())
}

thread_local! {
    /// The logger of the node whose callback runs on this thread.
    static CURRENT_LOGGER: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
    /// Whether this thread is passing a message to a sink. Messages that the sink itself logs are
    /// dropped, so that logging does not recurse.
    static HANDING_ON: Cell<bool> = const { Cell::new(false) };
}

/// Makes `logger` the logger of plain `tracing` messages on this thread until the guard is dropped.
pub(crate) fn enter_logger(logger: &Arc<str>) -> LoggerScope {
    LoggerScope(CURRENT_LOGGER.with(|current| current.replace(Some(logger.clone()))))
}

pub(crate) struct LoggerScope(Option<Arc<str>>);

impl Drop for LoggerScope {
    fn drop(&mut self) {
        CURRENT_LOGGER.with(|current| *current.borrow_mut() = self.0.take());
    }
}

/// Sends the messages of one logger to a sink as well, as long as the sink lives. If several nodes
/// have the same full name, and so the same logger, only the first node's sink gets the messages.
pub(crate) fn register_sink(logger: &str, sink: Weak<dyn LogSink>) {
    with_hub(|hub| {
        hub.sinks.retain(|_, sinks| {
            sinks.retain(|sink| sink.strong_count() > 0);
            !sinks.is_empty()
        });
        hub.sinks.entry(logger.to_owned()).or_default().push(sink);
    });
}

/// Removes one registration of this sink.
fn unregister_sink(logger: &str, sink: &Weak<dyn LogSink>) {
    with_hub(|hub| {
        let Some(sinks) = hub.sinks.get_mut(logger) else { return };
        if let Some(place) = sinks.iter().position(|known| Weak::ptr_eq(known, sink)) {
            sinks.remove(place);
        }
        if sinks.is_empty() {
            hub.sinks.remove(logger);
        }
    });
}

/// Sets the least severe level that is shown, for one logger and the loggers below it (`robot`
/// covers `robot.arm`), or for all loggers without their own level.
pub fn set_level(logger: Option<&str>, level: LogLevel) {
    with_hub(|hub| match logger {
        Some(logger) => drop(hub.levels.insert(logger.to_owned(), level)),
        None => hub.default_level = Some(level),
    });
    // `tracing` caches for each call site whether it is enabled.
    tracing::callsite::rebuild_interest_cache();
}

/// Undoes [`set_level`]: the logger gets the level of the logger above it again. With `None`, the
/// default level becomes [`LogLevel::Info`] again.
pub fn unset_level(logger: Option<&str>) {
    with_hub(|hub| match logger {
        Some(logger) => drop(hub.levels.remove(logger)),
        None => hub.default_level = None,
    });
    tracing::callsite::rebuild_interest_cache();
}

/// Returns the level that was set for this logger, not for a logger above it. With `None`, returns
/// the default level.
pub fn level(logger: Option<&str>) -> Option<LogLevel> {
    let hub = hub().read();
    match logger {
        Some(logger) => hub.levels.get(logger).copied(),
        None => Some(hub.default_level()),
    }
}

/// The number of loggers that have their own level.
pub(crate) fn levels() -> usize {
    hub().read().levels.len()
}

/// Returns the least severe level that a logger shows, whether set for itself, for a logger above
/// it or for all loggers.
pub fn effective_level(logger: &str) -> LogLevel {
    hub().read().level_of(logger)
}

impl Hub {
    fn default_level(&self) -> LogLevel {
        self.default_level.unwrap_or(LogLevel::Info)
    }

    fn level_of(&self, logger: &str) -> LogLevel {
        let mut name = logger;
        loop {
            if let Some(level) = self.levels.get(name) {
                return *level;
            }
            match name.rsplit_once('.') {
                Some((parent, _)) => name = parent,
                None => return self.default_level(),
            }
        }
    }

    fn least_level(&self) -> LogLevel {
        let default = self.default_level();
        self.levels.values().copied().min().map_or(default, |least| least.min(default))
    }
}

/// A `tracing` layer that writes log messages to standard error and to `/rosout`.
///
/// [`init`] installs this layer. To combine it with other layers, add it to your own subscriber.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt;
/// let subscriber = tracing_subscriber::registry().with(feros::logging::RosLayer::default());
/// # drop(subscriber);
/// ```
#[derive(Debug, Default)]
pub struct RosLayer(());

/// Installs [`RosLayer`] as the process's `tracing` subscriber if the process has no subscriber,
/// and applies `--log-level` and the other log arguments.
///
/// Returns whether the layer was installed; `false` means that the process already has a
/// subscriber.
pub fn init(arguments: &Arguments) -> bool {
    with_hub(|hub| {
        for argument in &arguments.log_levels {
            match &argument.logger {
                Some(logger) => drop(hub.levels.insert(logger.clone(), argument.level)),
                None => hub.default_level = Some(argument.level),
            }
        }
        if let Some(to_terminal) = arguments.log_to_terminal {
            hub.silent_terminal = !to_terminal;
        }
    });
    let subscriber = tracing_subscriber::registry().with(RosLayer::default());
    let installed = tracing::subscriber::set_global_default(subscriber).is_ok();
    tracing::callsite::rebuild_interest_cache();
    installed
}

impl<S: tracing::Subscriber> Layer<S> for RosLayer {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: LayerContext<'_, S>) -> bool {
        let least = hub().read().least_level();
        metadata.is_event() && level_of(metadata.level()) >= least
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: LayerContext<'_, S>) {
        if HANDING_ON.replace(true) {
            return;
        }
        hand_on(event);
        HANDING_ON.set(false);
    }
}

fn hand_on(event: &tracing::Event<'_>) {
    let metadata = event.metadata();
    let mut fields = Fields::default();
    event.record(&mut fields);
    let current = || CURRENT_LOGGER.with(|current| current.borrow().as_deref().map(str::to_owned));
    // Messages of the library may contain untrusted text from other processes, so control
    // characters are escaped. The user's own messages are not changed, since they may contain
    // colours.
    if fields.logger.is_none() && is_of_the_library(metadata.target()) {
        fields.text = feros_wording::harmless_block(&fields.text).into_owned();
    }
    let logger = fields
        .logger
        .take()
        .or_else(current)
        .unwrap_or_else(|| metadata.target().replace("::", "."));
    let level = if fields.fatal { LogLevel::Fatal } else { level_of(metadata.level()) };
    let (shown, silent, sink) = {
        let hub = hub().read();
        // An engine may log while it holds its locks. A sink that publishes would then deadlock, so
        // messages of engines reach no sink.
        let sinks = hub.sinks.get(&logger).filter(|_| metadata.target() != LOG_TARGET);
        let sink = sinks.into_iter().flatten().find_map(Weak::upgrade);
        (level >= hub.level_of(&logger), hub.silent_terminal, sink)
    };
    if !shown {
        return;
    }
    let record = LogRecord {
        stamp: SystemTime::now(),
        level,
        logger,
        message: fields.text,
        file: fields.file.map_or(metadata.file().unwrap_or_default().into(), Cow::Owned),
        function: fields
            .function
            .map_or(metadata.module_path().unwrap_or_default().into(), Cow::Owned),
        line: fields.line.or(metadata.line()).unwrap_or_default(),
    };
    if !silent {
        format::write_to_terminal(&record);
    }
    if let Some(sink) = sink {
        sink.write(&record);
    }
}

fn is_of_the_library(target: &str) -> bool {
    let first = target.split("::").next().unwrap_or_default();
    target == LOG_TARGET || first == "feros" || first.starts_with("feros_")
}

fn level_of(level: &tracing::Level) -> LogLevel {
    match *level {
        tracing::Level::ERROR => LogLevel::Error,
        tracing::Level::WARN => LogLevel::Warn,
        tracing::Level::INFO => LogLevel::Info,
        tracing::Level::DEBUG | tracing::Level::TRACE => LogLevel::Debug,
    }
}

/// The text of an event: its message, followed by its other fields as `name=value`.
#[derive(Default)]
struct Fields {
    text: String,
    logger: Option<String>,
    fatal: bool,
    file: Option<String>,
    function: Option<String>,
    line: Option<u32>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            LOGGER_FIELD => self.logger = Some(value.to_owned()),
            FILE_FIELD => self.file = Some(value.to_owned()),
            FUNCTION_FIELD => self.function = Some(value.to_owned()),
            "message" => self.text.insert_str(0, value),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            LINE_FIELD => self.line = u32::try_from(value).ok(),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            FATAL_FIELD => self.fatal = value,
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        match field.name() {
            "message" => self.text.insert_str(0, &format!("{value:?}")),
            name => self.text.push_str(&format!(" {name}={value:?}")),
        }
    }
}

/// Logs at a level for the logger of a node; all the macros below except `fatal!` use it.
#[doc(hidden)]
#[macro_export]
macro_rules! log_as {
    ($level:ident, $node:expr, $($text:tt)+) => {
        $crate::logging::tracing::$level!(ros_logger = $node.logger_name(), $($text)+)
    };
}

#[doc(hidden)]
pub use tracing;

/// Logs at level debug for the logger of a node: `feros::debug!(node, "read {} points", n)`.
#[macro_export]
macro_rules! debug { ($node:expr, $($text:tt)+) => { $crate::log_as!(debug, $node, $($text)+) }; }

/// Logs at level info for the logger of a node: `feros::info!(node, "read {} points", n)`.
#[macro_export]
macro_rules! info { ($node:expr, $($text:tt)+) => { $crate::log_as!(info, $node, $($text)+) }; }

/// Logs at level warn for the logger of a node: `feros::warn!(node, "read {} points", n)`.
#[macro_export]
macro_rules! warn { ($node:expr, $($text:tt)+) => { $crate::log_as!(warn, $node, $($text)+) }; }

/// Logs at level error for the logger of a node: `feros::error!(node, "read {} points", n)`.
#[macro_export]
macro_rules! error { ($node:expr, $($text:tt)+) => { $crate::log_as!(error, $node, $($text)+) }; }

/// Logs at level fatal for the logger of a node: `feros::fatal!(node, "no motor answers")`.
#[macro_export]
macro_rules! fatal {
    ($node:expr, $($text:tt)+) => {
        $crate::logging::tracing::error!(ros_logger = $node.logger_name(), ros_fatal = true, $($text)+)
    };
}

#[cfg(test)]
mod tests;
