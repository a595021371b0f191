//! The services `~/get_logger_levels` and `~/set_logger_levels`, with which other nodes read and
//! set the levels of the process's loggers. A node has these services if
//! [`NodeOptions::enable_logger_service`](crate::NodeOptions::enable_logger_service) is set.

use feros_msgs::rcl_interfaces::msg::{LoggerLevel, SetLoggerLevelsResult};
use feros_msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevels_Request, GetLoggerLevels_Response, SetLoggerLevels,
    SetLoggerLevels_Request, SetLoggerLevels_Response,
};

use crate::arguments::LogLevel;
use crate::create_error::CreateError;
use crate::logging;
use crate::node::Node;
use crate::services::service::{Service, ServiceOptions};

/// The limit on loggers with their own level. Once the limit is reached, requests from the network
/// cannot give levels to other loggers, so that they cannot make the process grow without bound.
const MAX_LOGGERS: usize = 1024;
/// The limit on the name of a logger whose level other nodes set, in bytes.
const MAX_NAME_BYTES: usize = 1024;
/// The number that messages use for a logger without its own level.
const UNSET: u32 = 0;

/// Keeps the services for the levels of loggers running until it is dropped.
pub(crate) struct LoggerServices {
    _get: Service<GetLoggerLevels>,
    _set: Service<SetLoggerLevels>,
}

pub(crate) fn start(node: &Node, local_requests_only: bool) -> Result<LoggerServices, CreateError> {
    let options = || ServiceOptions {
        replies_on_demand: true,
        local_requests_only,
        ..ServiceOptions::default()
    };
    let get = |request: GetLoggerLevels_Request| GetLoggerLevels_Response {
        levels: request.names.into_iter().map(level_of).collect(),
    };
    let set = |request: SetLoggerLevels_Request| SetLoggerLevels_Response {
        results: request.levels.into_iter().map(|wanted| result(set_level(&wanted))).collect(),
    };
    Ok(LoggerServices {
        _get: Service::new(node, "~/get_logger_levels", options(), get)?,
        _set: Service::new(node, "~/set_logger_levels", options(), set)?,
    })
}

/// Converts the name in a request. The empty name stands for the default level, which applies to
/// loggers without their own level.
fn logger(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

fn level_of(name: String) -> LoggerLevel {
    let level = logging::level(logger(&name)).map_or(UNSET, |level| level as u32);
    LoggerLevel { name, level }
}

fn set_level(wanted: &LoggerLevel) -> Result<(), String> {
    let logger = logger(&wanted.name);
    if wanted.level == UNSET {
        logging::unset_level(logger);
        return Ok(());
    }
    let all = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error, LogLevel::Fatal];
    let Some(level) = all.into_iter().find(|level| *level as u32 == wanted.level) else {
        return Err(format!(
            "{} is not a logger level: use 10 (debug), 20 (info), 30 (warn), 40 (error), 50 \
             (fatal), or 0 for the level of the logger above",
            wanted.level
        ));
    };
    if wanted.name.len() > MAX_NAME_BYTES {
        return Err(format!(
            "the name of the logger has {} bytes, more than the limit of {MAX_NAME_BYTES}",
            wanted.name.len()
        ));
    }
    if logger.is_some() && logging::level(logger).is_none() && logging::levels() >= MAX_LOGGERS {
        return Err(format!(
            "{MAX_LOGGERS} loggers already have their own level: unset others first, with the \
             level 0"
        ));
    }
    logging::set_level(logger, level);
    Ok(())
}

fn result(set: Result<(), String>) -> SetLoggerLevelsResult {
    SetLoggerLevelsResult { successful: set.is_ok(), reason: set.err().unwrap_or_default() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_make_the_table_of_levels_grow_for_ever() {
        let wanted = |name: String, level| LoggerLevel { name, level };
        let fill: Vec<_> =
            (0..2 * MAX_LOGGERS).map(|n| set_level(&wanted(format!("stranger.{n}"), 10))).collect();
        let refused = fill.iter().find_map(|set| set.as_ref().err()).unwrap();
        assert!(refused.contains("unset others first"), "{refused}");
        // Other tests in this process also set levels, which count towards the limit.
        assert!(fill.iter().filter(|set| set.is_ok()).count() <= MAX_LOGGERS);
        // The level of a known logger can still be changed. Unsetting a level makes room for
        // another logger.
        assert_eq!(set_level(&wanted("stranger.0".into(), 40)), Ok(()));
        assert_eq!(level_of("stranger.0".into()).level, 40);
        (0..2 * MAX_LOGGERS).for_each(|n| {
            set_level(&wanted(format!("stranger.{n}"), UNSET)).unwrap();
        });
        assert_eq!(level_of("stranger.0".into()).level, UNSET);
        assert!(set_level(&wanted("x".repeat(MAX_NAME_BYTES + 1), 10)).is_err());
        assert!(
            set_level(&wanted("stranger".into(), 25))
                .unwrap_err()
                .contains("25 is not a logger level")
        );
    }
}
