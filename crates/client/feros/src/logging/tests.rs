//! Tests of levels, loggers and sinks, each with a `tracing` subscriber for the test's own thread.
#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};

#[derive(Default)]
struct Collected(Mutex<Vec<(LogLevel, String)>>);

impl LogSink for Collected {
    fn write(&self, record: &LogRecord) {
        self.0.lock().unwrap().push((record.level, record.message.clone()));
        tracing::error!(ros_logger = record.logger, "a sink that logs must not recurse");
    }
}

struct Speaker(&'static str);
impl Speaker {
    fn logger_name(&self) -> &str {
        self.0
    }
}

fn collect(logger: &str, speak: impl FnOnce()) -> Vec<(LogLevel, String)> {
    let collected = Arc::new(Collected::default());
    let sink: Arc<dyn LogSink> = collected.clone();
    register_sink(logger, Arc::downgrade(&sink));
    tracing::subscriber::with_default(
        tracing_subscriber::registry().with(RosLayer::default()),
        speak,
    );
    let records = collected.0.lock().unwrap();
    records.clone()
}

#[test]
fn messages_reach_the_sink_of_their_logger() {
    let records = collect("test_sink", || {
        let node = Speaker("test_sink");
        crate::info!(node, "one {}", 1);
        crate::fatal!(node, "two");
        crate::warn!(node, speed = 3, "three");
        crate::info!(Speaker("test_other"), "not here");
        tracing::info!("nor this");
        let scope = enter_logger(&Arc::from("test_sink"));
        tracing::info!("four");
        tracing::info!(target: feros_engine::engine::LOG_TARGET, "what an engine says is not published");
        drop(scope);
        tracing::info!("nor this any more");
    });
    let expected = [
        (LogLevel::Info, "one 1"),
        (LogLevel::Fatal, "two"),
        (LogLevel::Warn, "three speed=3"),
        (LogLevel::Info, "four"),
    ];
    assert_eq!(records, expected.map(|(level, text)| (level, text.to_owned())));
}

#[test]
fn text_of_peers_in_log_messages_is_escaped() {
    let hostile = "type \u{1b}[2J\u{202e}\r\n[INFO] all is well";
    let records = collect("test_peers", || {
        let _scope = enter_logger(&Arc::from("test_peers"));
        tracing::warn!("{hostile}");
        crate::warn!(Speaker("test_peers"), "\u{1b}[32mgreen");
    });
    let library = "type \\u{1b}[2J\\u{202e}\\u{d}\n  [INFO] all is well";
    let expected = [library, "\u{1b}[32mgreen"];
    assert_eq!(records, expected.map(|text| (LogLevel::Warn, text.to_owned())));
}

#[test]
fn levels_are_inherited_along_the_dots() {
    set_level(Some("test_levels"), LogLevel::Debug);
    set_level(Some("test_levels.quiet"), LogLevel::Error);
    assert_eq!(effective_level("test_levels.arm"), LogLevel::Debug);
    assert_eq!(effective_level("test_levels.quiet.deep"), LogLevel::Error);
    assert_eq!(effective_level("test_unset"), LogLevel::Info);
    let records = collect("test_levels", || crate::debug!(Speaker("test_levels"), "detail"));
    assert_eq!(records.len(), 1);
    let records =
        collect("test_levels.quiet", || crate::warn!(Speaker("test_levels.quiet"), "hidden"));
    assert_eq!(records.len(), 0);
}

#[test]
fn lines_look_like_those_of_rcutils() {
    let record = LogRecord {
        stamp: UNIX_EPOCH + Duration::new(12, 34),
        level: LogLevel::Warn,
        logger: "robot.arm".into(),
        message: "slow".into(),
        file: "".into(),
        function: "".into(),
        line: 0,
    };
    assert_eq!(format::line(&record, false), "[WARN] [12.000000034] [robot.arm]: slow\n");
    assert_eq!(
        format::line(&record, true),
        "\x1b[33m[WARN] [12.000000034] [robot.arm]: slow\x1b[0m\n"
    );
}
