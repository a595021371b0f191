//! Values of options of `ros2 bag` that have no effect in Feros. Like `ros2`, Feros refuses any
//! other value.

use clap::ValueEnum;

/// The levels of `--log-level`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

/// The formats of `--serialization-format`: messages are recorded as they come.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SerializationFormat {
    Cdr,
}
