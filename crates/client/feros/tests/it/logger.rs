//! Logger levels that other nodes set, loggers below a node's logger, and conditional messages.

use std::time::Duration;

use feros::msgs::rcl_interfaces::msg::{Log, LoggerLevel};
use feros::msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevels_Request, SetLoggerLevels, SetLoggerLevels_Request,
};
use feros::{Clock, ClockType, Executor, LogLevel, Node, NodeOptions, QosProfile};

use crate::support::{WATCHDOG, context, listening, spin_until, spinning_node};

/// Listens on `/rosout` for the messages of a node's logger and of the loggers below that logger.
struct Heard {
    executor: Executor,
    receiver: std::sync::mpsc::Receiver<Log>,
    _subscription: feros::Subscription<Log>,
    prefix: String,
    _listener: Node,
}

impl Heard {
    fn of(node: &Node) -> Self {
        feros::logging::init(&feros::Arguments::default());
        let listener = context().create_node("log_listener").unwrap();
        let (subscription, receiver) =
            listening(&listener, "/rosout", QosProfile::rosout_default(), |log: Log| log);
        let executor = Executor::new();
        executor.add_node(&listener).unwrap();
        let prefix = node.logger_name().to_owned();
        Self { executor, receiver, _subscription: subscription, prefix, _listener: listener }
    }

    /// Returns the logger and the text of each message, up to the message `last`.
    fn until(&self, last: &str) -> Vec<(String, String)> {
        let mut heard: Vec<(String, String)> = Vec::new();
        spin_until(&self.executor, || {
            let logs = self.receiver.try_iter().filter(|log| log.name.starts_with(&self.prefix));
            heard.extend(logs.map(|log| (log.name[self.prefix.len()..].to_owned(), log.msg)));
            heard.last().is_some_and(|(_, text)| text == last)
        });
        heard
    }
}

fn said(logger: &str, text: &str) -> (String, String) {
    (logger.to_owned(), text.to_owned())
}

#[test]
fn loggers_below_a_node_s_are_heard_on_its_rosout() {
    let context = context();
    let node = context.create_node("log_parent").unwrap();
    let heard = Heard::of(&node);
    let planner = node.child_logger("planner");
    let search = planner.child("search");
    feros::info!(planner, "a path");
    feros::warn!(search, "slow");
    planner.set_level(LogLevel::Error);
    feros::warn!(planner, "not shown");
    feros::warn!(search, "nor this");
    assert_eq!(
        (search.effective_level(), planner.logger_name()),
        (LogLevel::Error, &*format!("{}.planner", node.logger_name()))
    );
    feros::info!(node, "the node itself");
    assert_eq!(
        heard.until("the node itself"),
        [said(".planner", "a path"), said(".planner.search", "slow"), said("", "the node itself")]
    );
    // A logger publishes as long as one of its clones exists.
    let clone = search.clone();
    drop(search);
    feros::error!(clone, "still there");
    let name = clone.logger_name().to_owned();
    drop(clone);
    feros::logging::tracing::error!(ros_logger = name, "of nobody");
    feros::info!(node, "end");
    assert_eq!(heard.until("end"), [said(".planner.search", "still there"), said("", "end")]);
}

#[test]
fn conditions_are_kept_by_place() {
    let context = context();
    let node = context.create_node("log_conditions").unwrap();
    let heard = Heard::of(&node);
    let clock = Clock::new(ClockType::Steady);
    for number in 0..4 {
        feros::info_once!(node, "once {number}");
        feros::warn_skip_first!(node, "skip first {number}");
        feros::error_throttle!(node, clock, Duration::from_secs(3600), "throttle {number}");
        feros::info_skip_first_throttle!(node, &clock, Duration::ZERO, "both {number}");
        feros::fatal_expression!(node, number % 2 == 1, "odd {number}");
        feros::debug_once!(node, "hidden {number}");
    }
    feros::info!(node, "end");
    let mut texts: Vec<String> = heard.until("end").into_iter().map(|(_, text)| text).collect();
    texts.pop();
    let of = |start: &str| -> Vec<String> {
        texts.iter().filter(|text| text.starts_with(start)).cloned().collect()
    };
    assert_eq!(of("once"), ["once 0"]);
    assert_eq!(of("skip first"), ["skip first 1", "skip first 2", "skip first 3"]);
    assert_eq!(of("throttle"), ["throttle 0"]);
    assert_eq!(of("both"), ["both 1", "both 2", "both 3"]);
    assert_eq!(of("odd"), ["odd 1", "odd 3"]);
    assert_eq!(of("hidden"), [""; 0]);
}

#[test]
fn other_nodes_ask_and_set_levels() {
    let (here, there) = (context(), context());
    let options = NodeOptions::new("log_levels").enable_logger_service(true);
    let node = here.create_node_with(options).unwrap();
    let plain = here.create_node("log_plain").unwrap();
    let caller = there.create_node("log_caller").unwrap();
    let _spinning = spinning_node(&node);
    let get = caller
        .create_client::<GetLoggerLevels>(&format!("{}/get_logger_levels", node.name()))
        .unwrap();
    let set = caller
        .create_client::<SetLoggerLevels>(&format!("{}/set_logger_levels", node.name()))
        .unwrap();
    get.wait_for_service(WATCHDOG).unwrap();
    set.wait_for_service(WATCHDOG).unwrap();
    let level = |name: &str, level| LoggerLevel { name: name.to_owned(), level };
    let logger = node.logger_name();
    let levels = |names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let answer = get.call_and_wait(&GetLoggerLevels_Request { names }, WATCHDOG).unwrap();
        answer.levels.into_iter().map(|level| (level.name, level.level)).collect::<Vec<_>>()
    };
    let expected = |levels: &[(&str, u32)]| {
        levels.iter().map(|&(name, level)| (name.to_owned(), level)).collect::<Vec<_>>()
    };
    assert_eq!(levels(&[logger, "", "nobody"]), expected(&[(logger, 0), ("", 20), ("nobody", 0)]));
    let wanted = vec![level(logger, 10), level(logger, 11), level("log_other", 40)];
    let answer = set.call_and_wait(&SetLoggerLevels_Request { levels: wanted }, WATCHDOG).unwrap();
    let results: Vec<bool> = answer.results.iter().map(|result| result.successful).collect();
    assert_eq!(results, [true, false, true]);
    assert!(answer.results[1].reason.contains("11 is not a logger level"), "{answer:?}");
    assert_eq!(feros::logging::effective_level(logger), LogLevel::Debug);
    assert_eq!(levels(&[logger, "log_other"]), expected(&[(logger, 10), ("log_other", 40)]));
    let unset = SetLoggerLevels_Request { levels: vec![level(logger, 0), level("log_other", 0)] };
    assert!(set.call_and_wait(&unset, WATCHDOG).unwrap().results.iter().all(|r| r.successful));
    assert_eq!(levels(&[logger]), expected(&[(logger, 0)]));
    assert_eq!(feros::logging::effective_level(logger), LogLevel::Info);
    // A node without this option does not have the service.
    let services = plain.service_names_and_types();
    assert!(!services.contains_key(&format!("{}/set_logger_levels", plain.name())), "{services:?}");
}
